import { forgetMailsOf, record } from '../../events/index.ts';
import { enqueue, type PeriodicJob, statement, systemActor, type TxContext } from '../../platform/index.ts';
import { documentForgetting } from '../documents/forget.ts';
import { organizationForgotten } from '../events.ts';

// Nobody is due who is younger than the shortest time, so that only old ones are looked at. What decides is the clock of the
// database, which this role cannot set; before that nobody is asked for.
const due = statement<{ id: number }, { now: Date; youngest: Date }>(
  'billing.booksToForget',
  `select o.id from organizations o
   where o.status = 'closed' and o.created_at < :youngest
     and not exists (select 1 from forgotten_books f where f.organization_id = o.id) and books_kept_until(o.id) <= least(:now, now())
   order by o.id limit 1 for no key update of o skip locked`,
);
// What has a number only stays: what may be taken from it, and of whom, the database decides (`forget_in_books`, in its migration).
const forgetInBooks = statement<{ changed: number }, { organizationId: number; limit: number }>(
  'billing.forgetInBooks',
  'select forget_in_books(:organizationId, :limit::int) as changed',
);
const others = [
  // By which account and in which words it paid.
  statement<never, { organizationId: number }>(
    'billing.forgetPayers',
    `update bank_entries set name = null, iban = null, text = '' where organization_id = :organizationId`,
  ),
  // By which words at the bank, and what staff wrote when money went back.
  statement<never, { organizationId: number }>(
    'billing.forgetTransfers',
    `update transfers set reference = 'transfer ' || id, taken_back_why = case when taken_back_why is not null then '' end
     where organization_id = :organizationId`,
  ),
  statement<never, { organizationId: number }>(
    'billing.forgetReferences',
    `update payments set reference = 'transfer ' || transfer_id
     where organization_id = :organizationId and transfer_id is not null`,
  ),
  statement<never, { organizationId: number }>(
    'billing.forgetRefundReasons',
    `update refunds set reason = '' where organization_id = :organizationId`,
  ),
  statement<never, { organizationId: number }>(
    'billing.forgetCreditReturns',
    `update credit_returns set reason = '' where organization_id = :organizationId`,
  ),
  statement<never, { organizationId: number }>(
    'billing.forgetUnknown',
    `update unknown_payments set reason = null where organization_id = :organizationId`,
  ),
  statement<never, { organizationId: number }>(
    'billing.forgetMethods',
    `update payment_methods set brand = null, last4 = null, expires_month = null, expires_year = null
     where organization_id = :organizationId`,
  ),
  statement<never, { organizationId: number }>(
    'billing.forgetStanding',
    'delete from tax_standings where organization_id = :organizationId',
  ),
];
const insertForgotten = statement<never, { organizationId: number; now: Date }>(
  'billing.insertForgottenBooks',
  'insert into forgotten_books (organization_id, forgotten_at) values (:organizationId, :now)',
);

const batch = 500;
const shortestMs = 5 * 365 * 86_400_000;

/**
 * Forgets who a closed organization was when the law wants it kept no longer: documents, bank entries, mails and what a register
 * said of it lose names, addresses, tax ids and whatever staff wrote, a batch at a time, and the files of the documents go after
 * that. Numbers and amounts stay.
 */
export async function forgetBooks(ctx: TxContext): Promise<'more' | 'done'> {
  const tx = { ...ctx, actor: systemActor };
  const now = tx.clock.now();
  const found = await tx.db.maybe(due, { now, youngest: new Date(now.getTime() - shortestMs) });
  if (found === null) return 'done';
  const { id: organizationId } = found;
  const { changed } = await tx.db.one(forgetInBooks, { organizationId, limit: batch });
  if (changed >= batch || (await forgetMailsOf(tx, organizationId)) === 'more') return 'more';
  for (const forget of others) await tx.db.run(forget, { organizationId });
  await tx.db.run(insertForgotten, { organizationId, now });
  await record(tx, organizationForgotten, {
    subject: { type: 'organization', id: organizationId },
    organizationId,
  });
  await enqueue(tx, documentForgetting, { organizationId }, { organizationId });
  return 'more';
}

export const forgettingBooks: PeriodicJob = {
  name: 'billing.forgetBooks',
  intervalMs: 3_600_000,
  work: forgetBooks,
};
