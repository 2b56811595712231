import { type Context, causesOf, type OrganizationContext } from '../../platform/index.ts';
import { type Client, send } from './clients.ts';

/** Something that can be watched while somebody looks, as the room declares it that measures it. */
export interface Watch {
  /** Before the colon of `?watch=vps:{id}`. */
  readonly kind: string;
  /** The name of the events that bring what is new. */
  readonly event: string;
  readonly permission: string;
  /** Whether the caller may look at it: `not_found`, `forbidden`. */
  readonly require: (ctx: OrganizationContext, id: number) => Promise<unknown>;
  /** What was measured of each of them since a moment of its own, the oldest first. */
  readonly since: (ctx: Context, watched: readonly Since[]) => Promise<Measured[]>;
}

export interface Since {
  id: number;
  since: Date;
}

export interface Measured {
  id: number;
  /** Whose it is now. */
  organizationId: number;
  time: Date;
  sample: object;
}

const lookEveryMs = 2_000;
/** What is older is nothing new, also of a machine that has stood still since. */
const newestMs = 60_000;

/** Sends the newest samples to those who watch, asked for once for all of them. Returns how to stop. */
export function samplesFor(
  ctx: Context,
  watches: readonly Watch[],
  clients: ReadonlySet<Client>,
): () => void {
  /** The newest sample of each that was sent. */
  const seen = new Map<string, number>();
  const look = async (watch: Watch): Promise<void> => {
    const watching = [...clients].filter(({ watching, isLive }) => isLive && watching?.kind === watch.kind);
    const ids = [...new Set(watching.flatMap(({ watching }) => watching?.id ?? []))];
    if (ids.length === 0) return seen.clear();
    const oldest = ctx.clock.now().getTime() - newestMs;
    const sinceOf = (id: number) => new Date(Math.max(seen.get(`${watch.kind}:${id}`) ?? 0, oldest));
    const samples = await watch.since(
      ctx,
      ids.map((id) => ({ id, since: sinceOf(id) })),
    );
    for (const { id, organizationId, time, sample } of samples) {
      const key = `${watch.kind}:${id}`;
      if (time.getTime() <= (seen.get(key) ?? 0)) continue;
      seen.set(key, time.getTime());
      const data = JSON.stringify({ subject: { type: watch.kind, id }, timestamp: time, sample });
      const theirs = watching.filter(
        (each) => each.watching?.id === id && each.organizationId === organizationId,
      );
      for (const client of theirs) {
        const may = await client.stream.lookAgain();
        if (may?.permissions?.has(watch.permission)) send(client, `event: ${watch.event}\ndata: ${data}\n\n`);
      }
    }
  };
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    Promise.all(watches.map(look))
      .catch((error: Error) => ctx.log.debug({ err: causesOf(error) }, 'samples cannot be read for streams'))
      .finally(() => {
        isLooking = false;
      });
  }, lookEveryMs);
  return () => clearInterval(timer);
}
