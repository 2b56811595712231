import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';

/**
 * Ends server processes of this cluster that outlived the product that started them, and leaves the cluster
 * so that a new server starts. The caller holds the lock on the cluster, so whatever runs is nobody's.
 *
 * Stopped, not adopted: a server of ours restarts in a tenth of a second, and then runs with today's settings
 * and as our child. `postmaster.pid` is never deleted: PostgreSQL finds with it what a crash left in memory.
 */
export async function endLeftovers(cluster: Cluster, log: (line: string) => void): Promise<void> {
  const pidFile = path.join(cluster.dataDir, 'postmaster.pid');
  const recorded = await readPid(pidFile);
  if (recorded !== null) {
    const running = await serverPids(cluster.dataDir, recorded);
    if (running.length > 0) {
      log(`stopping the database server that an earlier run left (process ${recorded})`);
      await end(cluster, recorded, running);
    } else if (await isAlive(recorded)) {
      await disownPid(pidFile, recorded);
    }
  }
  // Its lock file holds a process id too, which after a reboot may be anybody's.
  for (const name of await fs.readdir(cluster.socketDir)) {
    if (name.startsWith('.s.PGSQL.')) await fs.rm(path.join(cluster.socketDir, name), { force: true });
  }
}

/** Fast shutdown through the postmaster; then without it or when it takes too long, harder. */
async function end(cluster: Cluster, postmasterPid: number, running: number[]): Promise<void> {
  const steps: [NodeJS.Signals, number][] = running.includes(postmasterPid)
    ? [
        ['SIGINT', 30_000],
        ['SIGQUIT', 10_000],
        ['SIGKILL', 5_000],
      ]
    : [
        ['SIGQUIT', 5_000],
        ['SIGKILL', 5_000],
      ];
  for (const [name, patienceMs] of steps) {
    const pids = await serverPids(cluster.dataDir, postmasterPid);
    signal(name === 'SIGINT' ? [postmasterPid] : pids, name);
    const deadline = Date.now() + patienceMs;
    while (Date.now() < deadline) {
      if ((await serverPids(cluster.dataDir, postmasterPid)).length === 0) return;
      await sleep(10);
    }
  }
  throw new Error(
    `An earlier database server in ${cluster.dataDir} does not end (process ${postmasterPid}).`,
  );
}

function signal(pids: number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Processes named `postgres` whose working directory is this cluster, which every server process keeps. */
async function serverPids(dataDir: string, postmasterPid: number): Promise<number[]> {
  const wanted = await fs.stat(dataDir);
  const pids = (await fs.readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const ours = await Promise.all(
    pids.map(async (pid) => {
      const name = await fs.readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
      if (name.trim() !== 'postgres') return false;
      try {
        const cwd = await fs.stat(`/proc/${pid}/cwd`);
        return cwd.dev === wanted.dev && cwd.ino === wanted.ino;
      } catch (error) {
        const isHidden = (error as NodeJS.ErrnoException).code === 'EACCES';
        return isHidden && pid === postmasterPid && (await wasStartedOn(pid, dataDir));
      }
    }),
  );
  return pids.filter((_, index) => ours[index]);
}

/**
 * Root without CAP_SYS_PTRACE, as in many containers, does not see the working directory of another account's
 * process. Its command line it does, and a postmaster keeps the one that we gave it.
 */
async function wasStartedOn(pid: number, dataDir: string): Promise<boolean> {
  const argv = await fs.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return argv.split('\0').includes(dataDir);
}

async function readPid(pidFile: string): Promise<number | null> {
  const pid = Number.parseInt((await fs.readFile(pidFile, 'utf8').catch(ignoreAbsence)) ?? '', 10);
  return Number.isInteger(pid) && pid > 1 ? pid : null;
}

async function isAlive(pid: number): Promise<boolean> {
  return fs.access(`/proc/${pid}`).then(
    () => true,
    () => false,
  );
}

/**
 * The process of that id is not a server: the id was given out again, as happens after a reboot. PostgreSQL
 * would refuse to start if that process happens to be of its own account, so write the one id there that it
 * knows cannot be a rival: its parent's. The other lines, which lead to shared memory, stay.
 *
 * Or it was one a moment ago: a server at its end takes its file away first, and its process lingers.
 */
async function disownPid(pidFile: string, pid: number): Promise<void> {
  const file = await fs.open(pidFile, fs.constants.O_RDWR | fs.constants.O_NOFOLLOW).catch(ignoreAbsence);
  if (file === null) return;
  try {
    const text = await file.readFile('utf8');
    if (Number.parseInt(text, 10) !== pid) return;
    const changed = `${process.pid}${text.slice(String(pid).length)}`;
    await file.write(changed, 0);
    await file.truncate(Buffer.byteLength(changed));
  } finally {
    await file.close();
  }
}

function ignoreAbsence(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
