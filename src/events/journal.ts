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

const insertEntry = statement<
  { id: number },
  {
    organizationId: number | null;
    action: string;
    subjectType: string;
    subjectId: number;
    actorType: 'user' | 'api_key' | 'staff' | 'system';
    userId: number | null;
    apiKeyId: number | null;
    ip: string | null;
    requestId: string | null;
    data: object;
    now: Date;
  }
>(
  'events.insertEntry',
  `insert into journal (organization_id, action, subject_type, subject_id, actor_type, user_id, api_key_id, ip,
     request_id, data, created_at)
   values (:organizationId, :action, :subjectType, :subjectId, :actorType, :userId, :apiKeyId, :ip, :requestId,
     :data, :now) returning id`,
);

/**
 * Writes what happened into the journal, in the transaction that makes it happen, and wakes whoever tells of
 * it. There is no other place where the product remembers what it did.
 */
export async function record(ctx: TxContext, entry: Entry): Promise<void> {
  const organizationId = entry.organizationId === undefined ? ctx.organizationId : entry.organizationId;
  const { actor } = ctx;
  const { id } = await ctx.db.one(insertEntry, {
    organizationId,
    action: entry.action,
    subjectType: entry.subject.type,
    subjectId: entry.subject.id,
    actorType: actor.type,
    userId: actor.userId,
    apiKeyId: actor.apiKeyId,
    ip: actor.ip,
    requestId: ctx.requestId,
    data: entry.data ?? {},
    now: ctx.clock.now(),
  });
  for (const reader of readersOf(entry.action))
    await enqueueNamed(ctx, reader, { journalId: id }, { organizationId });
}
