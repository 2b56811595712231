import { setTimeout as pause } from 'node:timers/promises';
import { followJournal, type JournalEntry, messageOf } from '../events/index.ts';
import { type Context, causesOf, type Database, newId, statement, transaction } from '../platform/index.ts';
import { createTurn } from './turn.ts';
import { tellEndpointsChanged, wakeDrain } from './wake.ts';

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
        // Sent again or otherwise because somebody said so, in whatever process.
        if (page.some(({ subject }) => subject.type === 'webhook')) tellEndpointsChanged();
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

/** What is made of an entry, whoever it is for. */
interface Made {
  id: number;
  type: string;
  body: string;
}

async function write(ctx: Context, page: readonly JournalEntry[], from: number): Promise<void> {
  const made = new Map<number, Made[]>();
  const turn = createTurn();
  for (const entry of page) {
    const { id, organizationId } = entry;
    const found = organizationId === null ? null : messageOf(entry);
    if (found === null || organizationId === null) continue;
    const { type } = found.message;
    const theirs = made.get(organizationId) ?? [];
    theirs.push({ id, type, body: JSON.stringify(found.message) });
    made.set(organizationId, theirs);
    await turn();
  }
  await transaction(ctx, 'webhooks.spread', async (tx) => {
    const to = page.at(-1)?.id ?? from;
    if ((await tx.db.maybe(moveCursor, { from, to })) === null)
      throw new Error('somebody else makes webhooks of the journal');
    if (made.size === 0) return;
    const endpoints = await tx.db.many(endpointsOf, { organizations: [...made.keys()] });
    const deliveries = endpoints.flatMap((endpoint) =>
      (made.get(endpoint.organization_id) ?? [])
        .filter(
          ({ id, type }) =>
            id > endpoint.since_id && (endpoint.events === null || endpoint.events.includes(type)),
        )
        .map((each) => ({ endpoint, ...each })),
    );
    if (deliveries.length === 0) return;
    await tx.db.run(insertDeliveries, {
      ids: deliveries.map(newId),
      organizations: deliveries.map(({ endpoint }) => endpoint.organization_id),
      endpoints: deliveries.map(({ endpoint }) => endpoint.id),
      entries: deliveries.map(({ id }) => id),
      events: deliveries.map(({ type }) => type),
      bodies: deliveries.map(({ body }) => body),
      now: tx.clock.now(),
    });
    tx.db.afterCommit(wakeDrain);
  });
}
