import { record } from '../../events/index.ts';
import { statement, type TxContext } from '../../platform/index.ts';
import { apiKeyEnding } from '../events.ts';

const batch = 500;

// A week before, or when half of its life is over; whoever makes a key for hours knows when it ends.
const dueKeys = statement<
  { id: number; user_id: number; name: string; prefix: string; expires_at: Date },
  { now: Date; limit: number }
>(
  'account.endingKeys',
  `update api_keys set warned_at = :now where id in (
     select id from api_keys
     where revoked_at is null and warned_at is null and expires_at > :now and expires_at <= :now::timestamptz + interval '7 days'
       and :now >= expires_at - (expires_at - created_at) / 2 and expires_at - created_at >= interval '1 day'
     order by expires_at limit :limit for update skip locked)
   returning id, user_id, name, prefix, expires_at`,
);

/** Tells people which of their keys end soon, a batch at a time. */
export async function warnOfEndingKeys(tx: TxContext): Promise<'more' | 'done'> {
  const keys = await tx.db.many(dueKeys, { now: tx.clock.now(), limit: batch });
  for (const { id, user_id, name, prefix, expires_at } of keys)
    await record(tx, apiKeyEnding, {
      subject: { type: 'api_key', id },
      organizationId: null,
      data: { user_id, name, prefix, expires_at: expires_at.toISOString() },
    });
  return keys.length >= batch ? 'more' : 'done';
}
