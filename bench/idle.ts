import { setTimeout as pause } from 'node:timers/promises';
import { readSecretKey } from '../src/platform/index.ts';
import { startChild } from '../test/child.ts';
import { openStatementTap, type StatementTap } from '../test/statementTap.ts';
import { type House, temporaryDir, undo } from './house.ts';
import { spreadOf } from './measure.ts';
import type { Figure } from './table.ts';

export interface IdleOptions {
  rounds: number;
  seconds: number;
}

/** Until what a start has them do is done. */
const settleMs = 60_000;

/**
 * What workers that have nothing to do ask of PostgreSQL, counted on the way: of the one that leads what one process at a time does, and of
 * another one. `house` only answers requests.
 */
export async function measureIdle(house: House, { rounds, seconds }: IdleOptions): Promise<Figure[]> {
  const taps = [await openStatementTap(), await openStatementTap()];
  for (const [at, tap] of taps.entries()) {
    const worker = await startChild(await temporaryDir(), {
      DATABASE_URL: tap.through(house.databaseUrl),
      SECRET_KEY: readSecretKey(house.dataDir, null).toString('base64'),
      HYPERVISOR: 'simulator',
      NODE_NAME: `idle-${at}`,
      ROLE: 'worker',
    });
    undo.push(() => worker.end('SIGTERM'), tap.close);
  }
  await pause(settleMs);
  const [leads, follows]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const [most = 0, least = 0] = (await countFor(taps, seconds)).toSorted((one, other) => other - one);
    leads.push(most);
    follows.push(least);
  }
  const ofTen = leads.map((most, round) => (most + 9 * (follows[round] ?? 0)) / most);
  const leader = spreadOf(leads).median.toFixed(2);
  return [
    {
      name: 'Statements a second of a worker that has nothing to do',
      against: 'the clock',
      value: spreadOf(follows),
      unit: '/s',
      target: { atMost: 1 },
      amounts: `the one that leads what one at a time does: ${leader}/s; ${rounds} rounds of ${seconds} s`,
      limit: 'a look for jobs and for the place of the one that leads, every five seconds each',
    },
    {
      name: 'The same of ten workers',
      against: 'of one, which leads',
      value: spreadOf(ofTen),
      unit: 'ratio',
      target: { atMost: 10 },
      amounts: 'reckoned of one that leads and nine that do not',
      limit: 'the same',
    },
  ];
}

async function countFor(taps: readonly StatementTap[], seconds: number): Promise<number[]> {
  for (const tap of taps) tap.take();
  await pause(seconds * 1_000);
  return taps.map((tap) => [...tap.take().values()].reduce((sum, count) => sum + count, 0) / seconds);
}
