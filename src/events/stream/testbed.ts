import { setTimeout as pause } from 'node:timers/promises';
import { invoicePaid } from '../../billing/events.ts';
import { type Context, statement, transaction } from '../../platform/index.ts';
import { record } from '../index.ts';

export interface Data {
  /** One entry for each. */
  total: string | string[];
  method: string;
}

const someId = statement<{ id: string }>('events.testTransaction', 'select pg_current_xact_id()::text as id');

interface Options {
  /** How long its transaction stays open. */
  holdMs?: number;
  until?: Promise<void>;
  undo?: boolean;
  /** Writes something else when not. */
  records?: boolean;
}

/** Records `invoice.paid`, as if an invoice was, with nobody reacting. */
export async function recordPaid(
  { ctx }: { ctx: Context },
  organizationId: number,
  { total = '1.00', method = 'credit' }: Partial<Data>,
  { holdMs = 0, until, undo = false, records = true }: Options = {},
): Promise<void> {
  const quiet = { ...ctx, reactions: new Map() };
  const work = transaction(quiet, 'test.pay', async (tx) => {
    const data = { user_id: null, kind: 'order', currency: 'EUR', method: method as 'credit' } as const;
    for (const each of records ? [total].flat() : [])
      await record(tx, invoicePaid, {
        ...{ subject: { type: 'invoice', id: 7 }, organizationId, data: { ...data, total: each } },
      });
    if (!records) await tx.db.one(someId);
    await pause(holdMs);
    await until;
    if (undo) throw new Error('undone');
  });
  await work.catch((error: Error) => {
    if (error.message !== 'undone') throw error;
  });
}
