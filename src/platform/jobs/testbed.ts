import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testDatabase } from '../../../test/database.ts';
import { until } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { readConfig } from '../../config.ts';
import { type TravellingClock, travellingClock } from '../clock.ts';
import { type Context, systemActor, transaction } from '../context.ts';
import { connect, type Database } from '../database/index.ts';
import type { Drivers } from '../drivers.ts';
import { createLog } from '../log.ts';
import { createSeal, readSecretKey } from '../seal.ts';
import { channel } from './announce.ts';
import { type AnySaga, enqueue, job, startWorker, type Worker, type WorkerOptions } from './index.ts';

export interface Payload {
  key: string;
}

interface JobState {
  state: string;
  direction: string;
  attempts: number;
  error_step: string | null;
  error_code: string | null;
  error_message: string | null;
  stuck_reason: string | null;
}

/** Jobs and workers on a database of their own, without the rest of the product. */
export interface JobBed {
  url: string;
  ctx: Context;
  clock: TravellingClock;
  /** Starts a worker that knows these sagas; it is stopped after the test. */
  work(...sagas: AnySaga[]): Worker;
  /** The same with other options, and with parts of its database replaced. */
  workWith(options: Partial<WorkerOptions> & { db?: Partial<Database> }, ...sagas: AnySaga[]): Worker;
  ask(name: string, key?: string, runAt?: Date): Promise<number>;
  askFor(organizationId: number, name: string): Promise<number>;
  jobOf(id: number): Promise<JobState | undefined>;
  ended(id: number, state: 'done' | 'failed' | 'stuck'): Promise<JobState | undefined>;
  rows(text: string, ...values: unknown[]): Promise<object[]>;
  /** Cuts the connections by which workers show that they live, as a crash of their process does. */
  cutWorkers(): Promise<number>;
  /** The same for those over which they tell each other of jobs. */
  cutAnnouncers(): Promise<number>;
  /** Hears what processes tell each other. */
  listen(onMessage: (payload: string) => void): Promise<() => Promise<void>>;
  stopWorkers(): Promise<void>;
  close(): Promise<void>;
}

export async function jobBed(): Promise<JobBed> {
  const database = await testDatabase();
  const dir = mkdtempSync(join(tmpdir(), 'innkeeper-jobs-'));
  const log = createLog('silent');
  const clock = travellingClock();
  const db = connect(database.url, { log, poolSize: 20 });
  const seal = createSeal(readSecretKey(dir, null));
  const nobody = { actor: systemActor, organizationId: null, requestId: null };
  const ctx: Context = { db, log, clock, seal, reactions: new Map(), config: readConfig({}), ...nobody };
  const workers: Worker[] = [];
  const rows: JobBed['rows'] = (text, ...values) => sql({ databaseUrl: database.url }, text, ...values);
  const jobOf = async (id: number) => {
    const text = `select state, direction, attempts, error_step, error_code, error_message, stuck_reason from jobs
       where id = $1`;
    return (await rows(text, id))[0] as JobState | undefined;
  };
  const workWith: JobBed['workWith'] = ({ db: replaced, ...options }, ...sagas) => {
    const itsCtx = { ...ctx, db: { ...db, ...replaced } };
    const worker = startWorker(itsCtx, database.url, {
      sagas,
      drivers: {} as Drivers,
      pollMs: 100,
      ...options,
    });
    workers.push(worker);
    return worker;
  };
  const cut = async (name: string) => {
    const text = `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = $1 and datname = current_database()`;
    return (await rows(text, name)).length;
  };
  return {
    url: database.url,
    ctx,
    clock,
    rows,
    jobOf,
    work: (...sagas) => workWith({}, ...sagas),
    workWith,
    ask: (name, key = 'a', runAt) =>
      transaction(ctx, 'test.ask', (tx) => enqueue(tx, named(name), { key }, runAt ? { runAt } : {})),
    askFor: (organizationId, name) =>
      transaction(ctx, 'test.ask', (tx) => enqueue(tx, named(name), { key: 'a' }, { organizationId })),
    ended: (id, state) =>
      until(
        () => jobOf(id),
        (job) => job?.state === state,
      ),
    cutWorkers: () => cut('innkeeper worker'),
    cutAnnouncers: () => cut('innkeeper announce'),
    listen: (onMessage) => db.listen(channel, onMessage),
    stopWorkers: async () => {
      await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    },
    close: async () => {
      await db.close();
      await database.drop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** A job of which only the name matters: what it does, the worker of the test knows. */
export function named(name: string) {
  return job<Payload>(name, async () => undefined);
}
