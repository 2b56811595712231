import { enqueueNamed, statement, type TxContext } from '../platform/index.ts';
import type { Action } from './actions.ts';
import { readersOf } from './readers.ts';

export interface Entry {
  action: Action;
  /** What it happened to: `invoice` 12345. */
  subject: { type: string; id: number };
  /** Default: the context's organization. Null for the provider's own affairs. */
  organizationId?: number | null;
  /** What a reader of the entry needs to tell the story; never a secret. */
  data?: Record<string, unknown>;
}

const insertEntry = statement<{ id: number }>(
  'events.insertEntry',
  `insert into journal (organization_id, action, subject_type, subject_id, actor_type, user_id, api_key_id, ip,
     request_id, data, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning id`,
);

/**
 * Writes what happened into the journal, in the transaction that makes it happen, and wakes whoever tells of
 * it. There is no other place where the product remembers what it did.
 */
export async function record(ctx: TxContext, entry: Entry): Promise<void> {
  const organizationId = entry.organizationId === undefined ? ctx.organizationId : entry.organizationId;
  const { actor } = ctx;
  const { id } = await ctx.db.one(
    insertEntry,
    organizationId,
    entry.action,
    entry.subject.type,
    entry.subject.id,
    actor.type,
    actor.userId,
    actor.apiKeyId,
    actor.ip,
    ctx.requestId,
    entry.data ?? {},
    ctx.clock.now(),
  );
  for (const reader of readersOf(entry.action))
    await enqueueNamed(ctx, reader, { journalId: id }, { organizationId });
}
