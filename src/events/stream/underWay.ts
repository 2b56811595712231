import { type Context, causesOf } from '../../platform/index.ts';
import { type Client, send } from './clients.ts';

/**
 * What goes on and makes no entry of the journal, as the room declares it where it does: how far it has come is of use
 * only while it lasts.
 */
export interface UnderWay {
  /** The name of the events that tell of it. */
  readonly event: string;
  readonly permission: string;
  /** All that is under way in some organizations. */
  readonly list: (ctx: Context, organizationIds: readonly number[]) => Promise<Going[]>;
}

export interface Going {
  id: number;
  organizationId: number;
  subject: { type: string; id: number };
  /** How far it has come, with the names that the wire has. */
  data: object;
}

/** How long something stays unheard of, and how often its progress is told at most. */
const lookEveryMs = 700;

/**
 * Tells those who follow an organization what is under way in it whenever that has come further, asked for once for all
 * of them. What was under way before somebody's stream began they are told of as well. Returns how to stop.
 */
export function tellUnderWay(
  ctx: Context,
  kinds: readonly UnderWay[],
  clients: ReadonlySet<Client>,
): () => void {
  /** What each client knows of what is under way. */
  const known = new WeakMap<Client, ReadonlyMap<string, string>>();

  const look = async (): Promise<void> => {
    const live = [...clients].filter(({ isLive, organizationId }) => isLive && organizationId !== null);
    const ids = [...new Set(live.flatMap(({ organizationId }) => organizationId ?? []))];
    if (ids.length === 0) return;
    const going = await Promise.all(
      kinds.map(async (kind) => (await kind.list(ctx, ids)).map((each) => ({ kind, ...each }))),
    );
    const byOrganization = Map.groupBy(going.flat(), ({ organizationId }) => organizationId);
    for (const client of live) {
      const before = known.get(client);
      const theirs = byOrganization.get(client.organizationId ?? 0) ?? [];
      const now = new Map<string, string>(
        theirs.map(({ kind, id, data }) => [`${kind.event}:${id}`, JSON.stringify(data)]),
      );
      known.set(client, now);
      const news = theirs.filter(({ kind, id }) => {
        const key = `${kind.event}:${id}`;
        return now.get(key) !== before?.get(key);
      });
      if (news.length === 0) continue;
      const may = await client.stream.revalidate();
      const heard = news.filter(({ kind }) => may?.permissions?.has(kind.permission));
      send(client, heard.map((each) => frameOf(ctx, each.kind, each)).join(''));
    }
  };

  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch((error: Error) =>
        ctx.log.debug({ err: causesOf(error) }, 'what is under way cannot be read for streams'),
      )
      .finally(() => {
        isLooking = false;
      });
  }, lookEveryMs);
  return () => clearInterval(timer);
}

/** Without an `id`: whoever comes back is told how far it is then. */
function frameOf(ctx: Context, { event }: UnderWay, { organizationId, subject, data }: Going): string {
  const told = {
    ...{ type: event, timestamp: ctx.clock.now() },
    data: { organization_id: organizationId, subject, ...data },
  };
  return `event: ${event}\ndata: ${JSON.stringify(told)}\n\n`;
}
