import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, chown, type FileHandle, lstat, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { childEnvironment } from '../../../platform/host/program.ts';
import { HypervisorError } from '../contract.ts';
import type { CommandLine } from './arguments.ts';
import { asAccount } from './asAccount.ts';
import { exists, giveTo, type MachineFiles, type Owner } from './files.ts';
import { openLog } from './log.ts';
import { qemuProgram } from './options.ts';
import { plainText } from './plainText.ts';

const startTimeoutMs = 20_000;
/** When the host's memory ends, the kernel takes a guest before the product, its database or the host's services. */
const firstToGo = ['choom', '-n', '500', '--'];
/** What is read of what QEMU prints when it does not start. */
const printedBytes = 4096;
/** Linux counts process times in hundredths of a second on every architecture we run on. */
export const ticksPerSecond = 100;

/** The account of a machine's QEMU, and the group, if it needs one, whose device it opens (KVM). */
export interface RunAs {
  owner: Owner | null;
  group: number | null;
}

/**
 * Starts QEMU as the machine's account, in a session of its own, so that it outlives us, and returns once its
 * sockets are there; it waits for `cont`. It is not started through `run`, which waits for a program's end.
 */
export async function startProcess(
  files: MachineFiles,
  { argv, inherited }: CommandLine,
  { owner, group }: RunAs,
): Promise<void> {
  await rm(files.runDir, { recursive: true, force: true });
  await mkdir(files.runDir, { recursive: true, mode: 0o700 });
  const handles: FileHandle[] = [];
  try {
    const log = await openLog(files);
    handles.push(log);
    for (const file of inherited) handles.push(await open(file, 'r'));
    await giveTo(owner, files.runDir);
    const [program = '', ...rest] = [...firstToGo, ...asAccount(owner, [qemuProgram, ...argv], group)];
    const [, ...descriptors] = handles.map((each) => each.fd);
    const child = spawn(program, rest, {
      detached: true,
      stdio: ['ignore', log.fd, log.fd, ...descriptors],
      cwd: files.dir,
      env: childEnvironment(),
    });
    child.unref();
    await untilItListens(files, child, log);
    await closeRunDir(files, owner, child.pid); // `choom` and `setpriv` have become it
  } finally {
    await Promise.all(handles.map((each) => each.close()));
  }
}

async function untilItListens(files: MachineFiles, child: ChildProcess, log: FileHandle): Promise<void> {
  let ended: string | null = null;
  child.once('error', (error) => {
    ended = error.message;
  });
  child.once('exit', (code, signal) => {
    ended = `ended with ${code ?? signal}`;
  });
  const deadline = Date.now() + startTimeoutMs;
  while (!((await listens(files)) && (await processByItsWord(files)))) {
    if (ended === null && Date.now() < deadline) {
      await delay(5);
      continue;
    }
    child.kill('SIGKILL');
    const { bytesRead, buffer } = await log.read(Buffer.alloc(printedBytes), 0, printedBytes, 0);
    const printed = plainText(buffer.toString('utf8', 0, bytesRead), 600);
    throw new HypervisorError('start_failed', `QEMU ${ended ?? 'hangs'}: ${printed}`);
  }
}

/**
 * From here on QEMU can put nothing in place of its sockets: what we connect to as root, and customers' consoles with
 * us, is this machine and no other service of the host. And which process it is stands in our own words. Also of a start
 * that was cut off.
 */
export async function closeRunDir(
  files: MachineFiles,
  owner: Owner | null,
  pid: number | undefined,
): Promise<void> {
  if (owner) {
    await chown(files.runDir, 0, 0);
    await chmod(files.runDir, 0o700);
    for (const socket of socketsOf(files)) {
      if (!(await lstat(socket)).isSocket())
        throw new HypervisorError('start_failed', `${socket} is not a socket that QEMU made`);
    }
  }
  if (pid !== undefined) await writeNote(files, pid);
}

function socketsOf(files: MachineFiles): string[] {
  return [files.qmpSocket, files.agentSocket, files.serialSocket, files.vncSocket];
}

async function listens(files: MachineFiles): Promise<boolean> {
  for (const socket of socketsOf(files)) if (!(await exists(socket))) return false;
  return true;
}

/**
 * The pid of the machine's QEMU, or null. By our own note, and by what the process says only until there is one, or of
 * one that an earlier version has started: a QEMU that was taken over writes what it likes into its pid file, which it
 * holds open, and over its own arguments, and would run on as a machine that is off.
 */
export async function findProcess(files: MachineFiles): Promise<number | null> {
  const note = await readFile(files.process, 'utf8').catch(() => null);
  if (note === null) return processByItsWord(files);
  const pid = Number.parseInt(note, 10);
  return note === (await noteOn(pid)) ? pid : null;
}

/** Notes a process that an earlier version has started, as it was found first. */
export async function noteFound(files: MachineFiles, pid: number): Promise<void> {
  if (!(await exists(files.process))) await writeNote(files, pid);
}

async function writeNote(files: MachineFiles, pid: number): Promise<void> {
  const note = await noteOn(pid);
  await rm(files.process, { force: true }); // while the folder was QEMU's, it may have put a link there
  if (note !== null) await writeFile(files.process, note, { flag: 'wx', mode: 0o600 });
}

/** Pids are used again, one with this start in this boot of the host is not. Null when there is no such process. */
async function noteOn(pid: number): Promise<string | null> {
  const ticks = pid > 1 ? await startTimeOf(pid) : null;
  return ticks === null ? null : `${pid} ${ticks} ${await bootId()}`;
}

async function bootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}

/** The pid file alone proves nothing: the process has to be a QEMU that was told to write this very pid file. */
async function processByItsWord(files: MachineFiles): Promise<number | null> {
  const pid = Number.parseInt(await readFile(files.pidFile, 'utf8').catch(() => ''), 10);
  if (!(pid > 1)) return null;
  const [program, ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  const isQemu = program?.split('/').at(-1) === qemuProgram;
  return isQemu && args[args.indexOf('-pidfile') + 1] === files.pidFile ? pid : null;
}

/** When a process was started, by the kernel's own account. */
export async function startedAt(pid: number): Promise<Date | null> {
  const ticks = await startTimeOf(pid);
  const bootSeconds = /^btime (\d+)$/m.exec(await readFile('/proc/stat', 'utf8'))?.[1];
  if (ticks === null || bootSeconds === undefined) return null;
  return new Date((Number(bootSeconds) + ticks / ticksPerSecond) * 1000);
}

/** Clock ticks from the host's boot to the process' start (proc(5), stat field 22); null when it is gone. */
async function startTimeOf(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  // The program's name, in parentheses, may hold spaces: fields are counted after it.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields === undefined || fields[0] === 'Z' ? null : Number(fields[19]);
}

/** Waits until the machine's process is gone; false when it is still there after `timeoutMs`. */
export async function waitForEnd(
  files: MachineFiles,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (await findProcess(files)) {
    if (Date.now() >= deadline) return false;
    await delay(20, undefined, { signal });
  }
  return true;
}

/** Ends the machine's process by signal, after verifying that it is the machine's. */
export async function killProcess(files: MachineFiles, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const pid = await findProcess(files);
  if (pid === null) return;
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Between looking and signalling it may have ended by itself.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
