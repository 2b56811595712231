import type { Principal } from '../../platform/http/index.ts';
import { type Context, causesOf, type Drivers, type OrganizationContext } from '../../platform/index.ts';
import { type Client, send } from './clients.ts';

/** Something that can be watched while somebody looks, as the room declares it that measures it. */
export interface Watch {
  /** Before the colon of `?watch=vps:{id}`. */
  readonly kind: string;
  /** The name of the events that bring what is new. */
  readonly event: string;
  readonly permission: string;
  /** More than reading, as a console is: neither for staff that acts as somebody, nor of an organization that is blocked. */
  readonly isWork?: true;
  /** How long it is left alone at least between two looks. */
  readonly everyMs: number;
  /** Whether the caller may look at it: `not_found`, `forbidden`. */
  readonly require: (ctx: OrganizationContext, id: number) => Promise<unknown>;
  /** What was measured of each of them since a moment of its own, the oldest first; or how it looks now. */
  readonly since: (
    ctx: Context,
    watched: readonly Since[],
    drivers: Partial<Drivers>,
  ) => Promise<(Measured | Seen)[]>;
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

/** How something looks now, which is told when it looks otherwise than before. */
export interface Seen {
  id: number;
  organizationId: number;
  time: Date;
  /** The same as long as it looks the same; null when there is nothing to be seen, which other events tell of. */
  look: string | null;
}

/** How often it is asked whether a look is due. */
const dueEveryMs = 500;
/** What is older is nothing new, also of a machine that has stood still since. */
const newestMs = 60_000;
/** How something looks of which nothing is to be seen. */
const unseen = '';

/** Sends what is new to those who watch, asked for once for all of them. Returns how to stop. */
export function samplesFor(
  ctx: Context,
  watches: readonly Watch[],
  clients: ReadonlySet<Client>,
  drivers: Partial<Drivers> = {},
): () => void {
  const lookers = watches.map((watch) => looker(ctx, watch, clients, drivers));
  const timer = setInterval(() => {
    for (const look of lookers) look();
  }, dueEveryMs);
  return () => clearInterval(timer);
}

/** Looks when it is due and the look before has ended: one that takes long keeps no other waiting. */
function looker(
  ctx: Context,
  watch: Watch,
  clients: ReadonlySet<Client>,
  drivers: Partial<Drivers>,
): () => void {
  /** Of each that is watched what was sent last: the moment of its newest sample, or how it looked. */
  const sent = new Map<number, number | string>();

  const look = async (): Promise<void> => {
    const watching = await lookingOn(watch, clients);
    const ids = new Set(watching.map(({ watching }) => watching?.id ?? 0));
    for (const id of sent.keys()) if (!ids.has(id)) sent.delete(id);
    if (ids.size === 0) return;
    const oldest = ctx.clock.now().getTime() - newestMs;
    const sinceOf = (id: number) => new Date(Math.max(Number(sent.get(id)) || 0, oldest));
    const watched = [...ids].map((id) => ({ id, since: sinceOf(id) }));
    for (const news of await watch.since(ctx, watched, drivers)) {
      const { id, organizationId, time } = news;
      if (!isNew(news, sent.get(id))) continue;
      sent.set(id, 'look' in news ? (news.look ?? unseen) : time.getTime());
      if ('look' in news && news.look === null) continue;
      const more = 'sample' in news ? { sample: news.sample } : {};
      const data = JSON.stringify({ subject: { type: watch.kind, id }, timestamp: time, ...more });
      const theirs = watching.filter(
        (each) => each.watching?.id === id && each.organizationId === organizationId,
      );
      for (const client of theirs)
        if (await mayLook(watch, client)) send(client, `event: ${watch.event}\ndata: ${data}\n\n`);
    }
  };

  let nextAt = performance.now() + watch.everyMs;
  let isLooking = false;
  return () => {
    if (isLooking || performance.now() < nextAt) return;
    isLooking = true;
    look()
      .catch((error: Error) => ctx.log.debug({ err: causesOf(error) }, 'samples cannot be read for streams'))
      .finally(() => {
        nextAt = performance.now() + watch.everyMs;
        isLooking = false;
      });
  };
}

function isNew(news: Measured | Seen, before: number | string | undefined): boolean {
  return 'look' in news ? (news.look ?? unseen) !== before : news.time.getTime() > (Number(before) || 0);
}

/** Who watches something of this kind and may be told of it: nothing is looked at for others. */
async function lookingOn(watch: Watch, clients: ReadonlySet<Client>): Promise<Client[]> {
  const watching = [...clients].filter(({ watching, isLive }) => isLive && watching?.kind === watch.kind);
  const may = await Promise.all(watching.map((client) => !watch.isWork || mayLook(watch, client)));
  return watching.filter((_, nth) => may[nth]);
}

async function mayLook(watch: Watch, { stream }: Client): Promise<boolean> {
  // Not known is no.
  const principal: Principal | null = await stream.revalidate().catch(() => null);
  if (principal?.permissions?.has(watch.permission) !== true) return false;
  return !(watch.isWork && (principal.impersonation !== undefined || principal.isBlocked));
}
