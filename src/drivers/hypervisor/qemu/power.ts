import { setTimeout as delay } from 'node:timers/promises';
import { type Deadline, HypervisorError } from '../contract.ts';
import type { MachineFiles } from './files.ts';
import type { Monitor } from './monitor.ts';
import { findProcess, killProcess, waitForEnd } from './process.ts';

/** A guest that was still booting did not hear the first press of its power button. */
const pressAgainMs = 4_000;
const quitTimeoutMs = 3_000;

/** Presses the guest's power button until it is off; `shutdown_timeout` when the deadline comes first. */
export async function pressPowerButton(
  files: MachineFiles,
  monitor: Monitor,
  deadline: Deadline,
): Promise<void> {
  const until = Date.now() + deadline.timeoutMs;
  monitor.expectEnd(true);
  try {
    for (;;) {
      await monitor.command('system_powerdown').catch(ignoreIfGone(files));
      const remaining = until - Date.now();
      if (await waitForEnd(files, Math.max(0, Math.min(pressAgainMs, remaining)), deadline.signal)) return;
      if (Date.now() < until) continue;
      throw new HypervisorError('shutdown_timeout', `${files.id} still runs after ${deadline.timeoutMs} ms`);
    }
  } catch (error) {
    monitor.expectEnd(false);
    throw error;
  }
}

/** Ends the process: by QMP, so that its disk is closed in order, and by force when it does not listen. */
export async function takePower(files: MachineFiles, monitor: Monitor | undefined): Promise<void> {
  monitor?.expectEnd(true);
  const asked = monitor ? monitor.command('quit') : killProcess(files, 'SIGTERM');
  await Promise.race([asked.catch(() => killProcess(files, 'SIGTERM')), delay(quitTimeoutMs)]);
  if (await waitForEnd(files, quitTimeoutMs)) return;
  await killProcess(files, 'SIGKILL');
  if (await waitForEnd(files, quitTimeoutMs)) return;
  throw new HypervisorError('start_failed', `${files.id}: its process cannot be ended`);
}

function ignoreIfGone(files: MachineFiles): (error: unknown) => Promise<void> {
  return async (error) => {
    if (await findProcess(files)) throw error;
  };
}
