import { statement, type TxContext } from '../platform/index.ts';

// The journal only grows for us: what may be taken from it, and of whom, the database decides (`forget_in_journal`, in its migration).
const forget = statement<{ changed: number }, { userId: number; address: string; limit: number }>(
  'events.forgetInJournal',
  'select forget_in_journal(:userId, :address, :limit::int) as changed',
);

const batch = 1_000;

/**
 * Takes from the entries of the journal what a person is known by whose account was closed, such as names they gave and the
 * address at which they were invited, a batch at a time. What happened, and by which number, stays.
 */
export async function forgetInJournal(
  tx: TxContext,
  { userId, address }: { userId: number; address: string },
): Promise<'more' | 'done'> {
  const { changed } = await tx.db.one(forget, { userId, address, limit: batch });
  return changed >= batch ? 'more' : 'done';
}
