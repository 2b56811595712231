import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from './options.ts';
import type { Qmp, QmpEvent } from './qmp.ts';

const TRY_AGAIN_MS = 5_000;

/** QEMU's name for a machine that it has stopped in the middle of a write that failed. */
const STARVED = 'io-error';

/**
 * Looks after a machine whose node has run out of disk space: QEMU stops it in the middle of a write instead of telling
 * its guest of a broken disk. It goes on, with nothing lost, once there is space again; nobody has to do anything
 * besides making some.
 */
export function starvationWatch(id: string, log: Log) {
  let isWaiting = false;

  async function wait(qmp: Qmp): Promise<void> {
    if (isWaiting) return;
    isWaiting = true;
    log.error(
      { machine: id },
      'The node has no disk space left: the machine stands still until there is some',
    );
    try {
      while (await isStarved(qmp)) {
        await delay(TRY_AGAIN_MS, undefined, { ref: false });
        await qmp.command('cont');
        await delay(TRY_AGAIN_MS / 10, undefined, { ref: false }); // the write is tried again, and may fail again
      }
      log.info({ machine: id }, 'The machine goes on: there is disk space again');
    } catch (error) {
      // Its end is told by others; a lost connection is made again, and looks again.
      log.warn(
        { machine: id, error },
        'The machine stood still for lack of disk space and no longer answers',
      );
    } finally {
      isWaiting = false;
    }
  }

  return {
    onEvent({ event, data }: QmpEvent, qmp: () => Promise<Qmp>): void {
      if (event !== 'BLOCK_IO_ERROR' || data?.nospace !== true || data.action !== 'stop') return;
      qmp().then(wait, () => undefined);
    },
    /** Of a machine that was found running: it may have stopped while nobody watched. */
    async onConnect(qmp: Qmp): Promise<void> {
      if (await isStarved(qmp)) await wait(qmp);
    },
  };
}

async function isStarved(qmp: Qmp): Promise<boolean> {
  return ((await qmp.command('query-status')) as { status: string }).status === STARVED;
}
