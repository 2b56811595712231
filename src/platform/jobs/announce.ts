import type pg from 'pg';
import { connectAlone, endAlone } from '../database/alone.ts';
import type { Logger } from '../log.ts';
import { onEnqueued, type Ready } from './enqueue.ts';

/** Where processes tell each other of jobs. */
export const channel = 'innkeeper_jobs';

/** How long it is the turn of one worker to look first: it finds what comes in this time together, and others need not ask. */
const turnMs = 250;
/** Jobs of so many nodes at once are told of in a message each; those of more in one that everybody looks at. */
const nodesApart = 8;

/** The first news go out at once; what comes this soon after them is gathered for the next message. */
const gatherMs = 10;
const longestPayload = 7_000; // PostgreSQL takes 8,000 bytes

export interface Announcing {
  tell(job: Ready): void;
  stop(): Promise<void>;
}

/**
 * Tells the workers of other processes of jobs that this process has committed, if `isTheirs`. What a message
 * misses, they find at their next poll.
 *
 * It is sent after the commit, gathered, over a connection of its own. Inside the transaction each commit would
 * wait for the one before it, because PostgreSQL keeps the order of messages: half the throughput of 32 committers.
 *
 * All workers hear it. Of jobs of one node only its own look; of others one looks at once, whose turn it is, and the rest a moment later, in case
 * that one is busy or gone: of many that look at once all but one find nothing.
 */
export function startAnnouncing(url: string, log: Logger, isTheirs: (job: Ready) => boolean): Announcing {
  /** By the node whose they are alone; null: anyone's. */
  const names = new Map<number | null, Set<string>>();
  let client: pg.Client | null = null;
  let sending: Promise<void> | null = null;
  let stopped = false;

  const connected = async (): Promise<pg.Client> => {
    client ??= await connectAlone(url, 'announce', async (next) => {
      next.on('end', () => {
        if (client === next) client = null;
      });
      await next.query('set synchronous_commit = off'); // nothing is kept that a message could lose
    });
    return client;
  };

  const disconnect = async (): Promise<void> => {
    const last = client;
    client = null;
    if (last !== null) await endAlone(last);
  };

  const notify = async (payload: string): Promise<void> => {
    const sender = await connected();
    // A command, where `pg_notify` would be a query to parse and to plan.
    await sender.query(`notify ${channel}, ${sender.escapeLiteral(payload)}`);
  };

  const send = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve)); // with what else this turn has committed
    while (names.size > 0 && !stopped) {
      const payloads = payloadsOf(names);
      names.clear();
      for (const payload of payloads) {
        const short = Buffer.byteLength(payload) > longestPayload ? '' : payload;
        // A connection that was cut is known to be so only once something is sent over it.
        await notify(short).catch(async () => {
          await disconnect();
          await notify(short);
        });
      }
      await new Promise((resolve) => setTimeout(resolve, gatherMs));
    }
  };

  const tell = (job: Ready): void => {
    if (stopped || !isTheirs(job)) return;
    const same = names.get(job.nodeId) ?? new Set();
    names.set(job.nodeId, same.add(job.name));
    sending ??= send()
      .catch(async (error: Error) => {
        log.debug({ err: error.message }, 'other processes could not be told of jobs');
        await disconnect(); // one that does not answer is of no use to the next message
      })
      .finally(() => {
        sending = null;
      });
  };

  const forget = onEnqueued(tell);
  return {
    tell,
    stop: async () => {
      forget();
      stopped = true;
      await sending;
      await disconnect();
    },
  };
}

/** What a message says. A worker of an older version takes all of it for names, and passes over those that it does not know. */
export interface Told {
  /** Of jobs; none when it stands for all. */
  names: string[];
  /** The only node whose jobs they are; null: anyone's, or it is not said. */
  nodeId: number | null;
  /** By which it is known whose turn it is to look first; null: all look at once. */
  turn: number | null;
}

function payloadsOf(names: ReadonlyMap<number | null, ReadonlySet<string>>): string[] {
  if (names.size > nodesApart)
    return [[...new Set([...names.values()].flatMap((each) => [...each]))].join(',')];
  const turn = Math.floor((performance.timeOrigin + performance.now()) / turnMs);
  return [...names].map(([nodeId, each]) => [...each, nodeId === null ? `#${turn}` : `@${nodeId}`].join(','));
}

export function readTold(payload: string | undefined): Told {
  const told: Told = { names: [], nodeId: null, turn: null };
  for (const part of payload ? payload.split(',') : []) {
    if (part.startsWith('#')) told.turn = Number(part.slice(1));
    else if (part.startsWith('@')) told.nodeId = Number(part.slice(1));
    else told.names.push(part);
  }
  return told;
}
