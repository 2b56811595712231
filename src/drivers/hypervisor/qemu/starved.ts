import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { Qmp, QmpEvent } from './qmp.ts';

const tryAgainMs = 3_000;

/** QEMU's name for a machine that it has stopped in the middle of a write that failed. */
const starvedStatus = 'io-error';

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
    let isOpen = true;
    qmp.closed.then(() => {
      isOpen = false; // a connection that is made anew looks again
    });
    // Twice running, since the write that failed is tried again first, and may fail again.
    for (let running = 0; isOpen && running < 2; ) {
      await delay(tryAgainMs, undefined, { ref: false });
      // A QEMU that is busy with a full disk may be late to answer; nobody else would ask it again.
      running = await goOn(qmp).then(
        (isRunning) => (isRunning ? running + 1 : 0),
        () => 0,
      );
    }
    isWaiting = false;
    if (isOpen) log.info({ machine: id }, 'The machine goes on: there is disk space again');
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

/** Has the machine try its write again; whether it was running already. */
async function goOn(qmp: Qmp): Promise<boolean> {
  if (!(await isStarved(qmp))) return true;
  await qmp.command('cont');
  return false;
}

async function isStarved(qmp: Qmp): Promise<boolean> {
  return ((await qmp.command('query-status')) as { status: string }).status === starvedStatus;
}
