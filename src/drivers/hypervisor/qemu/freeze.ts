import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { withAgent } from './agent.ts';
import { exists, type MachineFiles } from './files.ts';
import type { Monitor } from './monitor.ts';
import { findProcess } from './process.ts';

/** A guest whose agent listens answers at once; nobody waits long for one that does not. */
const patienceMs = 2_000;
const freezeTimeoutMs = 10_000;
const thawPatienceMs = 10_000;
const thawAgainMs = 5_000;

/**
 * Runs `work`, which must be short, with the guest's file systems settled and held, when its agent answers;
 * else `work` sees the disk as after a power cut, which every file system of today survives. Thawed afterwards
 * in any case: a note beside the machine's sockets makes sure that it also happens after a crash of ours. `work` is
 * told whether the guest has settled.
 */
export async function whileFrozen<T>(
  files: MachineFiles,
  monitor: Monitor,
  log: Log,
  work: (isSettled: boolean) => Promise<T>,
): Promise<T> {
  await writeFile(note(files), '');
  const { sent, done } = await freeze(files, monitor, log);
  if (!sent) await rm(note(files), { force: true });
  try {
    return await work(done);
  } finally {
    if (sent) await thaw(files, monitor, log);
  }
}

/** Thaws a guest that we froze before we crashed. */
export async function thawForgotten(files: MachineFiles, monitor: Monitor, log: Log): Promise<void> {
  if (await exists(note(files))) await thaw(files, monitor, log);
}

function note(files: MachineFiles): string {
  return join(files.runDir, 'frozen');
}

/** `sent` is false when the guest was certainly not asked. */
async function freeze(
  files: MachineFiles,
  monitor: Monitor,
  log: Log,
): Promise<{ sent: boolean; done: boolean }> {
  let sent = false;
  try {
    await withAgent(files, monitor, patienceMs, (agent) => {
      sent = true;
      return agent.command('guest-fsfreeze-freeze', {}, freezeTimeoutMs);
    });
    return { sent, done: true };
  } catch (error) {
    log.warn({ machine: files.id, error }, 'A disk is kept as it is: its guest did not settle it first');
  }
  return { sent, done: false };
}

async function thaw(files: MachineFiles, monitor: Monitor, log: Log): Promise<void> {
  try {
    await withAgent(files, monitor, thawPatienceMs, (agent) => agent.command('guest-fsfreeze-thaw'));
    await rm(note(files), { force: true });
  } catch (error) {
    log.error({ machine: files.id, error }, 'A guest may still hold its file systems; trying again');
    void thawLater(files, monitor, log);
  }
}

async function thawLater(files: MachineFiles, monitor: Monitor, log: Log): Promise<void> {
  await delay(thawAgainMs, undefined, { ref: false });
  const runs = (await findProcess(files).catch(() => null)) !== null;
  if (runs && (await exists(note(files)))) await thaw(files, monitor, log);
}
