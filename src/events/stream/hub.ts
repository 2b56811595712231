import { setTimeout as pause } from 'node:timers/promises';
import { onForgotten, type Principal } from '../../platform/http/index.ts';
import {
  type Context,
  causesOf,
  type Database,
  type Drivers,
  findLastRestore,
  statement,
} from '../../platform/index.ts';
import { toldEvents } from '../event.ts';
import { followJournal } from '../followJournal.ts';
import { type JournalEntry, newestEntry, selectEntry } from '../readJournal.ts';
import { beatEveryS, type Client, createPlaces, end, send } from './clients.ts';
import { type Frame, frameOf, positionFrame, resetFrame, type StaffFrame, staffFrameOf } from './frame.ts';
import { tellUnderWay, type UnderWay } from './underWay.ts';
import { samplesFor, type Watch } from './watch.ts';

type Whole = Context & { readonly db: Database };

/** All streams of this process: one reader of the journal serves them. */
export interface Hub {
  /** Makes room for one more stream of a person; `rate_limited` when they have too many. */
  enter(userId: number): void;
  leave(userId: number): void;
  /** Sends a client what it has missed since an entry, if it names one, and from then on what happens. */
  serve(client: Client, lastId: number | null): Promise<void>;
}

const missedOf = statement<
  JournalEntry,
  { organizationId: number; names: string[]; after: number; last: number; limit: number }
>(
  'events.missedOf',
  // Moments follow ids but for the clocks of several hosts; by them an organization's entries are a range of an index.
  `${selectEntry} where organization_id = :organizationId and action = any(:names::text[]) and id > :after and id <= :last
     and created_at >= coalesce((select created_at from journal where id <= :after order by id desc limit 1),
       '-infinity') - interval '1 hour'
   order by id limit :limit`,
);
const missedOfAll = statement<JournalEntry, { after: number; last: number; limit: number }>(
  'events.missedOfAll',
  `${selectEntry} where id > :after and id <= :last order by id limit :limit`,
);
/** How many entries a client that comes back gets at once. */
const pageSize = 200;
const againMs = 1_000;

const hubs = new WeakMap<Database, Hub>();

/** What streams bring that is no entry of the journal. */
export interface BesideJournal {
  readonly watches: readonly Watch[];
  readonly underWay: readonly UnderWay[];
}

/** The hub of this process's product; whoever opens it first says what it brings `beside` to everybody. */
export function hubOf(ctx: Whole, beside: BesideJournal, drivers: Partial<Drivers>): Hub {
  const known = hubs.get(ctx.db) ?? createHub(ctx, beside, drivers);
  hubs.set(ctx.db, known);
  return known;
}

function createHub(ctx: Whole, { watches, underWay }: BesideJournal, drivers: Partial<Drivers>): Hub {
  const places = createPlaces(ctx.config.eventStreamsPerPerson);
  const clients = new Set<Client>();
  const byOrganization = new Map<number | null, Set<Client>>();
  /** Up to here every entry is known, and given to all who are live. */
  let position = 0;
  /** Up to here they have it. */
  let given = 0;
  let reading: { ready: Promise<void>; stop: AbortController } | null = null;

  const add = (client: Client): void => {
    clients.add(client);
    const others = byOrganization.get(client.organizationId) ?? new Set();
    byOrganization.set(client.organizationId, others.add(client));
  };

  const remove = (client: Client): void => {
    clients.delete(client);
    const others = byOrganization.get(client.organizationId);
    others?.delete(client);
    if (others?.size === 0) byOrganization.delete(client.organizationId);
    if (clients.size === 0) stopReading();
  };

  /** The client's person as they may be told of things now; null when the stream is over for them. */
  const principalOf = async (client: Client): Promise<Principal | null> => {
    if (client.body.destroyed) return null;
    try {
      const principal = await client.stream.revalidate();
      if (principal !== null) return principal;
    } catch (error) {
      // Not known is no: it comes back, and goes on where it was.
      ctx.log.debug({ err: causesOf(error as Error) }, 'a stream of events ended: who reads it is not known');
    }
    end(client);
    return null;
  };

  const give = async (page: readonly JournalEntry[]): Promise<void> => {
    const frames = Map.groupBy(framesOf(page), ({ organizationId }) => organizationId);
    const all = byOrganization.has(null) ? page.map(staffFrameOf) : [];
    const told: Promise<void>[] = [];
    const tell = async (client: Client, textOf: (principal: Principal) => string): Promise<void> => {
      const principal = await principalOf(client);
      if (principal !== null) send(client, textOf(principal));
    };
    // Who is live is settled here and now, together with the position: whoever joins later reads up to it.
    const live = (organizationId: number | null) =>
      [...(byOrganization.get(organizationId) ?? [])].filter(({ isLive }) => isLive);
    for (const [organizationId, theirs] of frames)
      for (const client of live(organizationId))
        told.push(tell(client, (principal) => allowed(newFor(client, theirs), principal)));
    for (const client of live(null))
      told.push(tell(client, (principal) => heard(client, newFor(client, all), principal)));
    position = page.at(-1)?.id ?? position;
    await Promise.all(told);
    given = position;
  };

  const read = async (signal: AbortSignal, ready: () => void): Promise<void> => {
    let isKnown = false;
    while (!signal.aborted) {
      try {
        if (!isKnown) {
          const newest = await newestEntry(ctx, signal);
          if (signal.aborted) return; // another reader goes on, from its own position
          position = newest;
          given = newest;
          isKnown = true;
          ready();
        }
        for await (const page of followJournal(ctx, position, signal)) {
          if (signal.aborted) return;
          await give(page);
        }
      } catch (error) {
        if (signal.aborted) return;
        ctx.log.warn(
          { err: causesOf(error as Error) },
          'the journal cannot be read for streams; trying again',
        );
        await pause(againMs, undefined, { signal }).catch(() => undefined);
      }
    }
  };

  const startReading = (): Promise<void> => {
    if (reading === null) {
      const stop = new AbortController();
      const { promise: ready, resolve } = Promise.withResolvers<void>();
      reading = { ready, stop };
      void read(stop.signal, resolve);
      const beat = setInterval(() => tick(), 1_000);
      const stopListening = onForgotten(checkSoon);
      const stopWatching = samplesFor(ctx, watches, clients, drivers);
      const stopTelling = tellUnderWay(ctx, underWay, clients);
      stop.signal.addEventListener('abort', () => {
        clearInterval(beat);
        stopListening();
        stopWatching();
        stopTelling();
        resolve();
      });
    }
    return reading.ready;
  };

  const stopReading = (): void => {
    reading?.stop.abort();
    reading = null;
  };

  let second = 0;
  const tick = (): void => {
    second = (second + 1) % beatEveryS;
    for (const client of clients) if (client.beat === second) void keep(client);
  };

  /** Says that the stream is there, to who may still have it and reads. */
  const keep = async (client: Client): Promise<void> => {
    const unread = client.body.readableLength;
    if (unread > 0 && unread >= client.unreadBytes && client.unreadBytes > 0) {
      client.body.destroy();
      return;
    }
    client.unreadBytes = unread;
    if ((await principalOf(client)) === null) return;
    send(client, client.isLive && given === position ? positionFrame(given) : ':\n\n');
  };

  let isCheckDue = false;
  /** Somebody's rights have changed in this process: nobody waits for their beat. */
  const checkSoon = (): void => {
    if (isCheckDue) return;
    isCheckDue = true;
    setTimeout(() => {
      isCheckDue = false;
      for (const client of clients) void principalOf(client);
    }, 100).unref();
  };

  /** Entries between two positions that a client missed, in pages, until it has caught up with those who are live. */
  const catchUp = async (client: Client, after: number): Promise<void> => {
    const { organizationId } = client;
    const names = toldEvents().map(({ name }) => name);
    let at = after;
    while (at < position && !client.body.destroyed) {
      const last = position;
      const between = { after: at, last, limit: pageSize };
      const page =
        organizationId === null
          ? await ctx.db.many(missedOfAll, between)
          : await ctx.db.many(missedOf, { organizationId, names, ...between });
      const principal = await principalOf(client);
      if (principal === null) return;
      const isStaff = organizationId === null;
      const text = isStaff
        ? heard(client, page.map(staffFrameOf), principal)
        : allowed(framesOf(page), principal);
      send(client, text);
      at = page.length < pageSize ? last : (page.at(-1)?.id ?? last);
      await drained(client);
    }
    client.isLive = true;
  };

  return {
    enter: places.take,
    leave: places.leave,
    async serve(client, lastId) {
      add(client);
      client.body.once('close', () => remove(client));
      await startReading();
      if (client.body.destroyed) return;
      const isGone = lastId !== null && !(await isKept(ctx, lastId));
      if (lastId === null || isGone) {
        client.isLive = true;
        // What it had may lie beyond what there is: after a restore numbers are given anew.
        if (isGone) client.after = position;
        send(client, isGone ? resetFrame(position) : positionFrame(position));
        return;
      }
      catchUp(client, lastId).catch((error: Error) => {
        ctx.log.debug({ err: causesOf(error) }, 'a stream of events ended: what it missed cannot be read');
        end(client);
      });
    },
  };
}

interface OwnedFrame extends Frame {
  organizationId: number;
}

function framesOf(page: readonly JournalEntry[]): OwnedFrame[] {
  return page.flatMap((entry) => {
    const frame = entry.organizationId === null ? null : frameOf(entry);
    return frame === null || entry.organizationId === null
      ? []
      : [{ ...frame, organizationId: entry.organizationId }];
  });
}

/** Another process may have given a client what this one only reads now. */
function newFor<Each extends { id: number }>({ after }: Client, frames: readonly Each[]): Each[] {
  return frames.filter(({ id }) => id > after);
}

function allowed(frames: readonly Frame[], { permissions }: Principal): string {
  const theirs = frames.filter(({ permission }) => permissions?.has(permission));
  return theirs.map(({ text }) => text).join('');
}

/** What somebody of staff hears of entries. */
function heard({ hears }: Client, frames: readonly StaffFrame[], principal: Principal): string {
  const textOf = (frame: StaffFrame): string => {
    const much = hears(principal, frame.event);
    return much === 'nothing' ? '' : frame[much];
  };
  return frames.map(textOf).join('');
}

/** Waits until a client has read what it was sent: nobody has to read a day's events at once. */
async function drained({ body }: Client): Promise<void> {
  while (!body.destroyed && body.readableLength > 0) await pause(20);
}

const horizon = statement<{ first: number; last: number }>(
  'events.horizon',
  `select removed_through as first, (select coalesce(max(id), removed_through) from journal) as last
   from journal_horizon`,
);

/**
 * Whether all that came after an entry is still there. Since a restore numbers begin far ahead of those that were given before it, of
 * which some are of entries that are gone.
 */
async function isKept(ctx: Context, id: number): Promise<boolean> {
  const [{ first, last }, restore] = await Promise.all([ctx.db.one(horizon), findLastRestore(ctx)]);
  return id >= Math.max(first, restore?.journal_from ?? 0) && id <= last;
}
