/** A thread that hashes passwords, one at a time. */
import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';
import { hashingCost, lessUrgent } from './passwordCost.ts';
import type { Hashed, ThreadKind, ToHash } from './passwordThreads.ts';

const { givesWay } = workerData as ThreadKind;

// Linux counts this for the thread that asks. Elsewhere it would be the whole product.
if (givesWay && process.platform === 'linux')
  setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + lessUrgent));

parentPort?.on('message', ({ password, against }: ToHash) => {
  try {
    deliver({ value: against === null ? hashSync(password, hashingCost) : verifySync(against, password) });
  } catch (error) {
    deliver({ error: error instanceof Error ? error : new Error(String(error)) });
  }
});

function deliver(hashed: Hashed): void {
  parentPort?.postMessage(hashed);
}
