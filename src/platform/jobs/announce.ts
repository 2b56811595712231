import type pg from 'pg';
import { connectAlone, endAlone } from '../database/alone.ts';
import type { Logger } from '../log.ts';
import { onEnqueued, type Ready } from './enqueue.ts';

/** Where processes tell each other of jobs. */
export const channel = 'innkeeper_jobs';

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
 */
export function startAnnouncing(url: string, log: Logger, isTheirs: (job: Ready) => boolean): Announcing {
  const names = new Set<string>();
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
      const payload = [...names].join(',');
      names.clear();
      const short = Buffer.byteLength(payload) > longestPayload ? '' : payload;
      // A connection that was cut is known to be so only once something is sent over it.
      await notify(short).catch(async () => {
        await disconnect();
        await notify(short);
      });
      await new Promise((resolve) => setTimeout(resolve, gatherMs));
    }
  };

  const tell = (job: Ready): void => {
    if (stopped || !isTheirs(job)) return;
    names.add(job.name);
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

/** The names of jobs in a message; none when it stands for all. */
export function namesIn(payload: string | undefined): string[] {
  return payload ? payload.split(',') : [];
}
