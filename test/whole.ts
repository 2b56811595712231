import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { audit } from './crash/audit.ts';
import type { Load } from './load.ts';
import { sql } from './sql.ts';

async function settled(databaseUrl: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const open = await sql<{ name: string; state: string; error_message: string }>(
      { databaseUrl },
      `select name, state, error_message from jobs where state in ('ready', 'running')`,
    ).catch(() => null);
    if (open?.length === 0) return;
    if (Date.now() > deadline) throw new Error(`jobs do not end: ${JSON.stringify(open?.slice(0, 5))}`);
    await sleep(100);
  }
}

/** Everything acknowledged is there, once, under the number that was shown, and everything adds up. `loads`: all that there have been. */
export async function expectWhole(databaseUrl: string, ...loads: Load[]): Promise<void> {
  await settled(databaseUrl);
  const known = await sql<{ id: number; status: string; number: string | null }>(
    { databaseUrl },
    'select id, status, number from invoices',
  );
  const invoices = new Map(known.map((each) => [each.id, each]));
  const ordered = loads.flatMap((load) => load.ordered);
  const paid = loads.flatMap((load) => load.paid);
  const numbers = loads.flatMap((load) => [...load.numbers]);
  expect(ordered.filter((id) => !invoices.has(id))).toEqual([]);
  expect(paid.filter((id) => invoices.get(id)?.status !== 'paid')).toEqual([]);
  expect(numbers.filter(([id, number]) => invoices.get(id)?.number !== number)).toEqual([]);
  expect(new Set(numbers.map(([, number]) => number)).size).toBe(paid.length);
  expect(known).toHaveLength(new Set(ordered).size);
  expect(await audit(databaseUrl)).toEqual([]);
}
