import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, readConfig } from '../src/config.ts';
import type { Demo } from '../src/demo/index.ts';
import {
  type SimulatedHypervisor,
  type SimulatorOptions,
  simulatedHypervisor,
} from '../src/drivers/hypervisor/index.ts';
import type { GivenDrivers } from '../src/drivers/index.ts';
import {
  type Context,
  createLog,
  runPeriodicJob,
  type TravellingClock,
  type TxContext,
  travellingClock,
} from '../src/platform/index.ts';
import { lookForWorkers } from '../src/platform/jobs/index.ts';
import { startProduct } from '../src/product.ts';
import { allPeriodicJobs } from '../src/worker.ts';
import type { Cable } from './cable.ts';
import { apiClient, type Client } from './client.ts';
import { testDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { sql } from './sql.ts';

/** The product, running in this process on a database of its own, with a simulated node and a clock to move. */
export interface TestProduct {
  url: string;
  databaseUrl: string;
  ctx: Context;
  clock: TravellingClock;
  hypervisor: SimulatedHypervisor;
  demo: Demo;
  /** Clients of the demonstration company's people, and of nobody. */
  customer: Client;
  other: Client;
  staff: Client;
  nobody: Client;
  /** Does the work of a periodic job now, such as `billing.expire`. */
  periodic(name: string): Promise<void>;
  stop(): Promise<void>;
}

export interface TestOptions {
  env?: Record<string, string>;
  simulator?: SimulatorOptions;
  /** Whether it takes its clock for one that may be wrong, as a host's; otherwise a leap is believed at once. */
  doubtsClock?: boolean;
  /** When it begins; else now. The clock of the database is the machine's, so what has to be over by that begins long ago. */
  startsAt?: Date;
  /** Over which it reaches its database; `databaseUrl` goes past it. */
  cable?: Cable;
  /** Stand in for the other drivers that the configuration would choose. */
  drivers?: Omit<GivenDrivers, 'hypervisor'>;
}

const silent = { stage: () => undefined, say: () => undefined };

/** Starts the product; every response it gives is held against its schema. */
export async function startTestProduct(options: TestOptions = {}): Promise<TestProduct> {
  const database = await testDatabase();
  const through = (url: string) => options.cable?.through(url) ?? url;
  const dataDir = mkdtempSync(join(tmpdir(), 'innkeeper-product-'));
  // As the product makes it for the account of the database: else it asks a program of that account, twice.
  chmodSync(dataDir, 0o711);
  const config: Config = readConfig({
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    DATABASE_URL: through(database.applicationUrl),
    DATABASE_OWNER_URL: through(database.url),
    DATABASE_RETENTION_URL: database.retentionUrl === null ? '' : through(database.retentionUrl),
    RATE_LIMITS: 'off',
    MAX_UNPAID_ORDERS: '10000',
    MAX_UNPAID_ORDERS_NEW: '10000',
    MAX_RESERVED_ADDRESSES: '10000',
    MAX_RESERVED_ADDRESSES_NEW: '10000',
    STAFF_EMAIL: 'off',
    CHECK_RESPONSES: 'on',
    DASHBOARD: 'off',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    ...options.env,
  });
  const clock = travellingClock(options.startsAt);
  const hypervisor = simulatedHypervisor(options.simulator ?? {});
  const drivers = { hypervisor, ...options.drivers };
  const product = await startProduct(config, silent, {
    clock: options.doubtsClock ? { now: clock.now } : clock,
    drivers,
    log: createLog(config.logLevel),
  });
  if (product.demo === null || product.port === null)
    throw new Error('the product started without a demonstration');
  const { demo, ctx } = product;
  // Customers of tests have credit, and what they do not pay is to stay so: the calendar has turns of its own.
  await sql(
    { databaseUrl: database.url },
    `insert into settings (section, fields, changed_at) values ('payments', '{"credit_first": false}', now())
     on conflict do nothing`,
  );
  // Its worker enters its name a moment after the start: no row that a test did not ask for comes later.
  if (config.role === 'all')
    await until(
      () => lookForWorkers(ctx),
      ({ living }) => living.length > 0,
    );
  const url = `http://127.0.0.1:${product.port}`;
  const as = (who: { api_key: string; organization_id?: number }) =>
    apiClient(`${url}/api`, { token: who.api_key, organizationId: who.organization_id });
  return {
    url,
    databaseUrl: database.url,
    ctx,
    clock,
    hypervisor,
    demo,
    customer: as(demo.customer),
    other: as(demo.other_customer),
    staff: as(demo.staff),
    nobody: apiClient(`${url}/api`, {}),
    periodic: async (name) => {
      const job = allPeriodicJobs.find((candidate) => candidate.name === name);
      if (!job) throw new Error(`there is no periodic job ${name}`);
      // The product has turns of its own, and who comes during one is sent away: once more until nothing is left to do.
      let isDone = false;
      const work = async (tx: TxContext) => {
        const answer = await job.work(tx);
        isDone = answer !== 'more';
        return answer;
      };
      await until(
        async () => {
          isDone = job.isNeeded !== undefined && !(await job.isNeeded(ctx));
          if (!isDone) await runPeriodicJob(ctx, { ...job, work });
          return isDone;
        },
        (done) => done,
        180_000,
      );
    },
    stop: async () => {
      await product.stop();
      await database.drop();
      await removeDataDir(dataDir);
    },
  };
}

/** Asks again and again until `check` holds, and returns what it then saw. */
export async function until<T>(
  ask: () => Promise<T>,
  check: (seen: T) => boolean,
  timeoutMs = 40_000,
): Promise<T> {
  const began = Date.now();
  for (;;) {
    const seen = await ask();
    if (check(seen)) return seen;
    const waitedMs = Date.now() - began;
    if (waitedMs > timeoutMs)
      throw new Error(`still not so after ${timeoutMs} ms: ${JSON.stringify(seen)?.slice(0, 2_000)}`);
    // The longer it takes the less often: whoever waits for minutes would take the time of what is waited for.
    await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(waitedMs / 20, 25), 250)));
  }
}
