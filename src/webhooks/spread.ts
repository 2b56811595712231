import { setTimeout as pause } from 'node:timers/promises';
import { followJournal, type JournalEntry, messageOf } from '../events/index.ts';
import { type Context, causesOf, type Database, newId, statement, transaction } from '../platform/index.ts';
import { wakeDrain } from './wake.ts';

const cursor = statement<{ position: number }>('webhooks.cursor', 'select position from webhook_cursor');
// Whoever sends for the product since then has moved it on: nothing is written twice.
const moveCursor = statement<{ position: number }, { from: number; to: number }>(
  'webhooks.moveCursor',
  'update webhook_cursor set position = :to where position = :from returning position',
);
const endpointsOf = statement<
  { id: number; organization_id: number; events: string[] | null; since_id: number },
  { organizations: number[] }
>(
  'webhooks.endpointsOf',
  `select id, organization_id, events, since_id from webhook_endpoints
   where organization_id = any(:organizations::bigint[]) order by id for key share`,
);
const insertDeliveries = statement<
  never,
  {
    ids: number[];
    organizations: number[];
    endpoints: number[];
    entries: number[];
    events: string[];
    bodies: string[];
    now: Date;
  }
>(
  'webhooks.insertDeliveries',
  `insert into webhook_deliveries (id, organization_id, endpoint_id, journal_id, event, body, state, next_try_at, created_at)
   select d.id, d.organization_id, d.endpoint_id, d.journal_id, d.event, d.body, 'waiting', :now, :now
   from unnest(:ids::bigint[], :organizations::bigint[], :endpoints::bigint[], :entries::bigint[], :events::text[],
     :bodies::text[]) as d(id, organization_id, endpoint_id, journal_id, event, body)
   on conflict (endpoint_id, journal_id) do nothing`,
);

const againMs = 1_000;

/** Makes a delivery of each entry for each endpoint that has chosen its event, exactly one, until the signal aborts. */
export async function spread(ctx: Context & { readonly db: Database }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      let { position } = await ctx.db.one(cursor);
      for await (const page of followJournal(ctx, position, signal, { limit: 500 })) {
        await write(ctx, page, position);
        position = page.at(-1)?.id ?? position;
      }
    } catch (error) {
      if (signal.aborted) return;
      ctx.log.warn(
        { err: causesOf(error as Error) },
        'webhooks could not be made of the journal; trying again',
      );
      await pause(againMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

function write(ctx: Context, page: readonly JournalEntry[], from: number): Promise<void> {
  const messages = page.flatMap((entry) => {
    const found = entry.organizationId === null ? null : messageOf(entry);
    const { id, organizationId } = entry;
    return found === null || organizationId === null ? [] : [{ id, organizationId, ...found.message }];
  });
  return transaction(ctx, 'webhooks.spread', async (tx) => {
    const to = page.at(-1)?.id ?? from;
    if ((await tx.db.maybe(moveCursor, { from, to })) === null)
      throw new Error('somebody else makes webhooks of the journal');
    if (messages.length === 0) return;
    const organizations = [...new Set(messages.map(({ organizationId }) => organizationId))];
    const endpoints = await tx.db.many(endpointsOf, { organizations });
    const made = endpoints.flatMap((endpoint) =>
      messages
        .filter(
          ({ id, organizationId, type }) =>
            organizationId === endpoint.organization_id &&
            id > endpoint.since_id &&
            (endpoint.events === null || endpoint.events.includes(type)),
        )
        .map(({ id: entry, organizationId, ...message }) => ({
          ...{ entry, organizationId, endpoint: endpoint.id, event: message.type },
          body: JSON.stringify(message),
        })),
    );
    if (made.length === 0) return;
    await tx.db.run(insertDeliveries, {
      ids: made.map(newId),
      organizations: made.map(({ organizationId }) => organizationId),
      endpoints: made.map(({ endpoint }) => endpoint),
      entries: made.map(({ entry }) => entry),
      events: made.map(({ event }) => event),
      bodies: made.map(({ body }) => body),
      now: tx.clock.now(),
    });
    tx.db.afterCommit(wakeDrain);
  });
}
