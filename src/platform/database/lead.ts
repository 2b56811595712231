import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { causesOf, type Logger } from '../log.ts';
import { connectAlone, endAlone, endsWhenSilent } from './alone.ts';

const againMs = 1_000;
/** Whoever waits asks now and then: to wait within the server would hold up what is done there with `concurrently`. */
const askMs = 5_000;
/** A leader says so often that it lives, as whoever waits does by asking: the server ends a session that says nothing. */
const beatMs = 4_000;
const leadingClass = 741_120;

/**
 * Has one process of the product at a time do something that goes on and on: whoever holds an advisory lock of this name,
 * over a connection of its own. When the process dies or loses the connection, the database lets go of the lock and another
 * one goes on within five seconds, and twenty later when the process hangs. One that goes on after that does so for a moment beside
 * its follower, which `work` has to bear; it ends when its signal aborts. While `mayLead` says no, nobody does it; it is asked before
 * each beginning, so also after the database was away. Returns how to stop.
 */
export function startLeading(
  url: string,
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
  log: Logger,
  mayLead: () => Promise<boolean> = async () => true,
): () => Promise<void> {
  const stop = new AbortController();
  const lead = async (): Promise<void> => {
    const lost = new AbortController();
    const client = await connectAlone(url, name, async (next) => {
      next.on('end', () => lost.abort());
      await next.query(endsWhenSilent(20));
    });
    const signal = AbortSignal.any([stop.signal, lost.signal]);
    let beating: NodeJS.Timeout | undefined;
    try {
      for (let asked = 1; !signal.aborted; asked += 1) {
        const isFree = await takeLead(client, name);
        if (isFree && (await mayLead())) break;
        if (isFree) await leave(client, name);
        // Often at first: it may be the place of a process that has just ended.
        const waitMs = isFree ? againMs : Math.min(askMs, asked * againMs);
        await pause(waitMs, undefined, { signal }).catch(() => undefined);
      }
      if (signal.aborted) return;
      beating = setInterval(() => client.query('select 1').catch(() => lost.abort()), beatMs);
      await work(signal);
    } finally {
      clearInterval(beating);
      await endAlone(client);
    }
  };
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await lead().catch((error: Error) =>
        log.warn({ err: causesOf(error), name }, 'what one process does at a time has failed; trying again'),
      );
      await pause(againMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return async () => {
    stop.abort();
    await running;
  };
}

async function takeLead(client: pg.Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ mine: boolean }>(
    'select pg_try_advisory_lock($1, hashtext($2)) as mine',
    [leadingClass, name],
  );
  return rows[0]?.mine === true;
}

async function leave(client: pg.Client, name: string): Promise<void> {
  await client.query('select pg_advisory_unlock($1, hashtext($2))', [leadingClass, name]);
}
