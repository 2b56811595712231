import { type Context, enqueue, forMany, statement, type TxContext } from '../platform/index.ts';
import type { Event } from './event.ts';
import { isFollowed, tellReaders } from './followJournal.ts';

/** What happened this time. `data` is left out of events that have none. */
export type Entry<Data extends object> = {
  /** What it happened to: `invoice` 12345. */
  subject: { type: string; id: number };
  /** Default: the context's organization. Null for the provider's own affairs. */
  organizationId?: number | null;
} & (Record<never, never> extends Data ? { data?: Data } : { data: Data });

const insertEntry = forMany(
  statement<
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
    // Its lock on the table is there before the entry has its id; `readJournal` relies on it.
    `insert into journal (organization_id, action, subject_type, subject_id, actor_type, user_id, api_key_id, ip,
     request_id, data, created_at)
   values (:organizationId, :action, :subjectType, :subjectId, :actorType, :userId, :apiKeyId, :ip, :requestId, :data, :now)
   returning id`,
  ),
  {
    organizationId: 'bigint',
    action: 'text',
    subjectType: 'text',
    subjectId: 'bigint',
    actorType: 'text',
    userId: 'bigint',
    apiKeyId: 'bigint',
    ip: 'text',
    requestId: 'text',
    data: 'jsonb',
    now: 'timestamptz',
  },
  (given) => `with written as (
     insert into journal (organization_id, action, subject_type, subject_id, actor_type, user_id, api_key_id, ip,
       request_id, data, created_at)
     select "organizationId", action, "subjectType", "subjectId", "actorType", "userId", "apiKeyId", ip::inet, "requestId", data, now
     from ${given} order by nth_ returning id)
   select id, row_number() over (order by id) as nth_ from written`,
);

const findEntry = forMany(
  statement<{ id: number }, { type: string; id: number; action: string }>(
    'events.find',
    'select id from journal where subject_type = :type and subject_id = :id and action = :action limit 1',
  ),
  { type: 'text', id: 'bigint', action: 'text' },
);

/** Whether an event ever happened to something. */
export async function hasHappened(
  ctx: Context,
  event: Event<object>,
  subject: { type: string; id: number },
): Promise<boolean> {
  return (await entryOf(ctx, event, subject)) !== null;
}

/** The entry of an event that happens to a thing once, such as an invoice that is issued; null before it does. */
export async function entryOf(
  ctx: Context,
  event: Event<object>,
  subject: { type: string; id: number },
): Promise<number | null> {
  return (await ctx.db.maybe(findEntry, { ...subject, action: event.name }))?.id ?? null;
}

/**
 * Writes what happened into the journal and enqueues a job for each reaction to it, in the transaction that makes
 * it happen. There is no other place where the product remembers what it did.
 */
export async function record<Data extends object>(
  ctx: TxContext,
  event: Event<Data>,
  entry: Entry<NoInfer<Data>>,
): Promise<void> {
  await recordEntry(ctx, event, entry);
}

/** The same for those who want to know the entry's id: by it the mail is found that tells of the event. */
export async function recordEntry<Data extends object>(
  ctx: TxContext,
  event: Event<Data>,
  entry: Entry<NoInfer<Data>>,
): Promise<number> {
  const organizationId = entry.organizationId === undefined ? ctx.organizationId : entry.organizationId;
  const { actor } = ctx;
  const { subject, data = {} } = entry;
  const { id: journalId } = await ctx.db.one(insertEntry, {
    organizationId,
    action: event.name,
    subjectType: subject.type,
    subjectId: subject.id,
    actorType: actor.staffId === undefined ? actor.type : 'staff',
    userId: actor.staffId ?? actor.userId,
    apiKeyId: actor.apiKeyId,
    ip: actor.ip,
    requestId: ctx.requestId,
    data,
    now: ctx.clock.now(),
  });
  if (isFollowed()) ctx.db.afterCommit(tellReaders);
  const reactions = ctx.reactions.get(event.name) ?? [];
  const asked = reactions.map(async (reaction) => {
    const payload = reaction.payload({ journalId, subject, organizationId, data });
    if (payload !== null) await enqueue(ctx, reaction.job, payload, { organizationId });
  });
  await Promise.all(asked);
  return journalId;
}
