import { findLastRestore, findRecovery, forMany, statement, type TxContext } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { numbering } from './numbering.ts';

// Who waits for the number before has looked at the clock earlier than whom it waits for, and is issued with it then. A
// clock that has been put back by more than a minute is believed: dates would stand still otherwise.
const lastAt = `last_at = case when s.last_at between excluded.last_at and excluded.last_at + interval '1 minute'
       then s.last_at else excluded.last_at end`;

// An invoice that has a number takes none, and leaves the series alone.
const giveNumberTo = forMany(
  statement<never, { id: number; prefix: string; digits: number; now: Date }>(
    'billing.giveNumber',
    `with without as (select id from invoices where id = :id and number is null),
   next as (
     insert into invoice_series as s (prefix, last, last_at) select :prefix, 1, :now from without
     on conflict (prefix) do update set last = s.last + 1, ${lastAt} returning s.prefix, s.last, s.last_at)
   update invoices set series = next.prefix, sequence = next.last, issued_at = next.last_at,
     number = next.prefix || lpad(next.last::text, greatest(:digits::int, length(next.last::text)), '0')
   from next where id = :id`,
  ),
  { id: 'bigint', prefix: 'text', digits: 'int', now: 'timestamptz' },
  (given) => `with without as (
     select given.*, row_number() over (partition by prefix order by nth_) as place,
       count(*) over (partition by prefix) as numbers
     from ${given} join invoices i on i.id = given.id and i.number is null),
   next as (
     insert into invoice_series as s (prefix, last, last_at)
       select prefix, count(*), max(now) from without group by prefix
     on conflict (prefix) do update set last = s.last + excluded.last, ${lastAt}
     returning s.prefix, s.last, s.last_at),
   numbered as (
     select w.*, next.last - w.numbers + w.place as sequence, next.last_at from without w join next on next.prefix = w.prefix)
   update invoices set series = n.prefix, sequence = n.sequence, issued_at = n.last_at,
     number = n.prefix || lpad(n.sequence::text, greatest(n.digits, length(n.sequence::text)), '0')
   from numbered n where invoices.id = n.id returning n.nth_`,
);

/**
 * Gives an invoice the next number of its series, unless it has one. Numbers of a series follow one another without a
 * gap, whatever is rolled back: whoever takes one waits until the one before has committed. So this comes last in its
 * transaction. It was issued at `now`, or with the one before when that looked at its clock a moment later.
 */
export async function giveNumber(
  tx: TxContext,
  { id, kind, now }: { id: number; kind: 'invoice' | 'credit_note'; now: Date },
): Promise<void> {
  const { prefix, digits } = await seriesOf(tx, kind, now);
  await tx.db.run(giveNumberTo, { id, prefix, digits, now });
}

/** The series of a document that is issued now. Its year is that of the day (UTC). */
async function seriesOf(tx: TxContext, kind: 'invoice' | 'credit_note', now: Date) {
  const [settings, restore, recovery] = await Promise.all([
    readSettings(tx, numbering),
    findLastRestore(tx),
    findRecovery(tx),
  ]);
  const { prefix, credit_note_prefix: ofCreditNotes, digits } = settings;
  // Credit notes have something in front of what invoices have, so their series is never that of invoices.
  const front = kind === 'credit_note' ? `${ofCreditNotes}${prefix}` : prefix;
  return {
    prefix: `${front}${now.getUTCFullYear()}-${sinceRestore(recovery ?? restore?.restored_at ?? null, now)}`,
    digits,
  };
}

/**
 * A database that was restored does not know which numbers were given after its backup, to invoices that people hold. So
 * the year's numbers go on in a series of their own, named after the second of the restore: `R1122031544-`. So they do from the moment
 * on that it is seen to have come back in another way, whatever somebody says of it later. Two restores of one minute are two series.
 */
function sinceRestore(restoredAt: Date | null, now: Date): string {
  if (restoredAt === null || restoredAt.getUTCFullYear() !== now.getUTCFullYear()) return '';
  const [, month, day, hour, minute, second] = restoredAt.toISOString().split(/[-T:.]/);
  return `R${month}${day}${hour}${minute}${second}-`;
}
