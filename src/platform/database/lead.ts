import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { causesOf, type Logger } from '../log.ts';
import { connectAlone, endAlone, endsWhenSilent } from './alone.ts';
import { type Statement, valuesOf } from './statement.ts';

const againMs = 1_000;
/** Whoever waits asks now and then: to wait within the server would hold up what is done there with `concurrently`. */
const askMs = 5_000;
/** A leader says so often that it lives, unless it has asked for something: the server ends a session that says nothing. */
const beatMs = 6_000;
/** What is to be asked for in so short a time is asked for at once. */
const togetherMs = 500;
const leadingClass = 741_120;

/** Asks over the connection that leads, which so says that it lives. 64-bit integers come as text. */
export type AskLeading = <Row extends object, Params extends object>(
  statement: Statement<Row, Params>,
  params: Params,
) => Promise<Row[]>;

type Work = (signal: AbortSignal, ask: AskLeading) => Promise<void>;

/** What of a product one process at a time does, as far as it is this process. */
export interface Leading {
  /**
   * Has one process of the product at a time do something that goes on and on: whoever holds an advisory lock of this name. When the
   * process dies or loses the connection, the database lets go of the lock and another one goes on within five seconds, and twenty
   * later when the process hangs. One that goes on after that does so for a moment beside its follower, which `work` has to bear; it
   * ends when its signal aborts. While `mayLead` says no, nobody does it; it is asked before each beginning, so also after the database
   * was away. Returns how to stop.
   */
  start(name: string, work: Work, mayLead?: () => Promise<boolean>): () => Promise<void>;
}

/** One of the things that are led. */
interface Place {
  name: string;
  work: Work;
  mayLead: () => Promise<boolean>;
  stop: AbortController;
  /** While it is led here, to its end. */
  led: Promise<void> | null;
  /** How often it was asked for since it was led here last. */
  asked: number;
  /** When to ask for it again, by the steady clock. */
  askAtMs: number;
}

/** Over one connection for all of them, which is there as long as there is any. */
export function openLeading(url: string, log: Logger): Leading {
  const places = new Map<string, Place>();
  let running: Promise<void> | null = null;
  let bell = Promise.withResolvers<void>();
  /** When this process last said anything over the connection. */
  let saidAtMs = 0;

  const run = async (): Promise<void> => {
    while (places.size > 0) {
      await hold().catch((error: Error) =>
        log.warn({ err: causesOf(error) }, 'what one process does at a time has failed; trying again'),
      );
      if (places.size > 0) await rest(againMs);
    }
    running = null;
  };

  /** As long as the connection stands and somebody wants anything. */
  const hold = async (): Promise<void> => {
    const lost = new AbortController();
    const begin = async (next: pg.Client) => {
      next.on('end', () => lost.abort());
      await next.query(`set timezone = 'UTC'; ${endsWhenSilent(20)}`);
    };
    const client = await connectAlone(url, 'lead', begin, { isShared: true });
    lost.signal.addEventListener('abort', () => bell.resolve());
    try {
      while (places.size > 0 && !lost.signal.aborted) await rest(await turn(client, lost.signal));
    } finally {
      lost.abort();
      await endAlone(client);
    }
  };

  /** Asks for what is to be asked for, or says only that this process lives; how long until the next turn. */
  const turn = async (client: pg.Client, lost: AbortSignal): Promise<number> => {
    const soon = performance.now() + togetherMs;
    const wanted = [...places.values()].filter(({ led, askAtMs }) => led === null && askAtMs <= soon);
    if (wanted.length > 0) saidAtMs = performance.now();
    const free = wanted.length === 0 ? [] : await take(client, wanted);
    if (performance.now() - saidAtMs >= beatMs) {
      saidAtMs = performance.now();
      await client.query('select 1');
    }
    for (const place of wanted) {
      place.asked += 1;
      const isFree = free.includes(place.name);
      if (isFree && (await mayLead(place)) && !place.stop.signal.aborted) lead(place, client, lost);
      else if (isFree) await leave(client, place);
      // Often at first: it may be the place of a process that has just ended.
      place.askAtMs = performance.now() + (isFree ? againMs : Math.min(askMs, place.asked * againMs));
    }
    const asks = [...places.values()].filter(({ led }) => led === null).map(({ askAtMs }) => askAtMs);
    return Math.max(0, Math.min(saidAtMs + beatMs, ...asks) - performance.now());
  };

  const mayLead = (place: Place): Promise<boolean> =>
    place.mayLead().catch((error: Error) => {
      log.warn({ err: causesOf(error), name: place.name }, 'it is not known whether this may be done');
      return false;
    });

  const lead = (place: Place, client: pg.Client, lost: AbortSignal): void => {
    place.asked = 0;
    const ask: AskLeading = async (statement, params) => {
      saidAtMs = performance.now();
      const { name, text } = statement;
      return (await client.query({ name, text, values: valuesOf(statement, params) })).rows;
    };
    place.led = place
      .work(AbortSignal.any([place.stop.signal, lost]), ask)
      .catch((error: Error) =>
        log.warn(
          { err: causesOf(error), name: place.name },
          'what one process does at a time has failed; trying again',
        ),
      )
      .then(() => (lost.aborted ? undefined : leave(client, place).catch(() => undefined)))
      .finally(() => {
        place.led = null;
        place.askAtMs = performance.now() + againMs;
        bell.resolve();
      });
  };

  /** Shorter where somebody comes or goes, or the connection does. */
  const rest = async (ms: number): Promise<void> => {
    const late = new AbortController();
    await Promise.race([bell.promise, pause(ms, undefined, { signal: late.signal }).catch(() => undefined)]);
    late.abort();
    bell = Promise.withResolvers();
  };

  return {
    start: (name, work, mayLead = async () => true) => {
      const place = { name, work, mayLead, stop: new AbortController(), led: null, asked: 0, askAtMs: 0 };
      places.set(name, place);
      running ??= run();
      bell.resolve();
      return () => end(place);
    },
  };

  async function end(place: Place): Promise<void> {
    place.stop.abort();
    await place.led;
    places.delete(place.name);
    bell.resolve();
    if (places.size === 0) await running;
  }
}

/** The same for one thing alone. */
export function startLeading(
  url: string,
  name: string,
  work: Work,
  log: Logger,
  mayLead?: () => Promise<boolean>,
): () => Promise<void> {
  return openLeading(url, log).start(name, work, mayLead);
}

/** Takes those that nobody has; the names of these. */
async function take(client: pg.Client, wanted: readonly Place[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string; mine: boolean }>(
    'select name, pg_try_advisory_lock($1, hashtext(name)) as mine from unnest($2::text[]) as name',
    [leadingClass, wanted.map(({ name }) => name)],
  );
  return rows.filter(({ mine }) => mine).map(({ name }) => name);
}

async function leave(client: pg.Client, { name }: Place): Promise<void> {
  await client.query('select pg_advisory_unlock($1, hashtext($2))', [leadingClass, name]);
}
