/**
 * Loaded into a product before its own modules (`node --import`), tells what the turns of its event loop took. What fires every few
 * milliseconds fires after each long turn, so what the thread computed from one firing to the next is that of one turn and little
 * else. The clock alone would count what other programs had of the core meanwhile.
 */
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { turnsFileVariable } from './blocks.ts';

const everyMs = 5;
const toldFromMs = 20;

const file = process.env[turnsFileVariable];
if (file !== undefined && isMainThread) tellTurns(file);

function tellTurns(file: string): void {
  let before = process.threadCpuUsage();
  let beforeMs = performance.now();
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    const cpuMs = (user + system) / 1_000;
    const lagMs = performance.now() - beforeMs - everyMs;
    if (Math.max(cpuMs, lagMs) >= toldFromMs) appendFileSync(file, `${cpuMs} ${lagMs}\n`);
    before = process.threadCpuUsage();
    beforeMs = performance.now();
  }, everyMs).unref();
}
