import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Demo } from '../../src/demo/index.ts';
import { prepareDataDir } from '../../src/platform/host/dataDir.ts';
import { apiClient, type Client, methodsOf, type Response } from '../client.ts';
import { testDatabase } from '../database.ts';
import { sql } from '../sql.ts';
import { audit, auditNode } from './audit.ts';
import { type ProductChild, startProductChild } from './child.ts';
import { type MailPeer, startMailPeer } from './smtp.ts';

/**
 * A product that may die at any moment and is started again, with everything around it that outlives it: its
 * database, its data directory, a mail server, and people who repeat what was not answered.
 */
export interface World {
  databaseUrl: string;
  dataDir: string;
  demo: Demo;
  mail: MailPeer;
  /** People who repeat a request, with the same Idempotency-Key, until it is answered. */
  customer: Client;
  staff: Client;
  /** Deaths so far. */
  deaths: number;
  /** Has the product die at the next pass of this failpoint, once. */
  crashAt(failpoint: string | null): void;
  /** Has this step fail for good, until told otherwise. */
  failAt(step: string | null): void;
  /** Kills the product now, has `meanwhile` happen, and starts it again. */
  die(meanwhile: () => Promise<void>): Promise<void>;
  /** Everything the product printed since its last start. */
  printed(): string;
  pid(): number;
  /** Waits until every job has come to its end, and after a death until that is so again. */
  settle(): Promise<void>;
  /** Names of the failpoints passed since the last call. */
  passed(): string[];
  /** How long the product took from its last death until it was ready again, and until all work was done. */
  recovery: { readyMs: number; settledMs: number };
  /** Everything that is wrong, in words. */
  audit(except?: readonly string[]): Promise<string[]>;
  /** Ends everything; `before` the data directory goes. */
  stop(before?: () => Promise<void>): Promise<void>;
}

export const stockAtFirst = 100_000;
export const coupon = 'CRASH10';
/** Long: it only bounds a hang, and the machine may be busy with other tests. */
const patienceMs = 180_000;

export interface WorldOptions {
  env?: Record<string, string>;
  /** What Node is told to run, where that is not `src/main.ts`. */
  argv?: readonly string[];
  /** What is wrong with the machines, in words, where they are not on a simulated node of the product's own. */
  auditMachines?: (databaseUrl: string) => Promise<string[]>;
}

/** Opens a world with a product that runs. */
export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const database = await testDatabase();
  const dataDir = mkdtempSync(path.join(tmpdir(), 'innkeeper-crash-'));
  const file = (name: string) => path.join(dataDir, name);
  for (const name of ['crash', 'fail', 'trace']) writeFileSync(file(name), '');
  const mail = await startMailPeer();
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    HYPERVISOR: 'simulator',
    RATE_LIMITS: 'off',
    MAX_UNPAID_ORDERS: '10000',
    MAX_UNPAID_ORDERS_NEW: '10000',
    MAX_RESERVED_ADDRESSES: '10000',
    MAX_RESERVED_ADDRESSES_NEW: '10000',
    STAFF_EMAIL: 'off',
    CHECK_RESPONSES: 'on',
    LOG_LEVEL: 'warn',
    NETWORK4: '10.64.0.0/20',
    SMTP_URL: mail.url,
    INNKEEPER_CRASH_AT: `@${file('crash')}`,
    INNKEEPER_FAIL_AT: `@${file('fail')}`,
    INNKEEPER_TRACE_FAILPOINTS: file('trace'),
    ...options.env,
  };

  let child: ProductChild;
  let up: Promise<string>;
  let stopped = false;
  let diedAtMs = 0;
  let meanwhile = async (): Promise<void> => undefined;
  const recovery = { readyMs: 0, settledMs: 0 };
  const ready = () => up;
  const start = (): void => {
    child = startProductChild(env, [], options.argv);
    up = child.ready.then((url) => {
      if (diedAtMs > 0) recovery.readyMs = Date.now() - diedAtMs;
      return url;
    });
    up.catch(() => undefined);
    const mine = child;
    void mine.exited.then(async ({ code, signal }) => {
      if (stopped) return;
      if (signal !== 'SIGKILL') {
        console.error(`the product ended by itself (${signal ?? code}):\n${mine.printed().slice(-3_000)}`);
        return;
      }
      world.deaths += 1;
      writeFileSync(file('crash'), '');
      const begin = Promise.withResolvers<string>();
      up = begin.promise;
      up.catch(() => undefined);
      await meanwhile();
      meanwhile = async () => undefined;
      diedAtMs = Date.now();
      start();
      child.ready.then(begin.resolve, begin.reject);
    });
  };

  const stubborn = (who: () => { api_key: string; organization_id?: number }): Client => {
    const request: Client['request'] = async (method, route, body, headers = {}) => {
      const key: Record<string, string> = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
      const deadline = Date.now() + patienceMs;
      for (;;) {
        try {
          const base = await up;
          const { api_key: token, organization_id: organizationId } = who();
          const client = apiClient(`${base}/api`, { token, organizationId });
          const answer = await client.request(method, route, body, { ...key, ...headers });
          if (!isToRepeat(answer) || Date.now() > deadline) return answer;
        } catch (error) {
          if (Date.now() > deadline) throw error;
        }
        await sleep(50);
      }
    };
    return methodsOf(request);
  };

  const isQuiet = async (): Promise<boolean> => {
    const [row] = await sql<{ open: number }>(
      { databaseUrl: database.url },
      `select count(*)::int as open from jobs where state in ('ready', 'running')`,
    );
    return row?.open === 0;
  };

  const settle = async (): Promise<void> => {
    const deadline = Date.now() + patienceMs;
    for (;;) {
      await up;
      if (await isQuiet()) {
        // The failpoint that is to be the end may come after the last job's.
        if (readFileSync(file('crash'), 'utf8') === '') break;
        const deaths = world.deaths;
        const until = Date.now() + 3_000;
        while (world.deaths === deaths && Date.now() < until) await sleep(10);
        if (world.deaths === deaths) break;
      }
      if (Date.now() > deadline)
        throw new Error(`the product did not come to rest:\n${child.printed().slice(-3_000)}`);
      await sleep(25);
    }
    if (diedAtMs > 0) recovery.settledMs = Date.now() - diedAtMs;
    diedAtMs = 0;
  };

  let deathsAudited = 0;
  const doubled = new Set<string>();
  let traced = 0;
  const passed = (): string[] => {
    const lines = readFileSync(file('trace'), 'utf8').split('\n').slice(0, -1);
    const fresh = lines.slice(traced);
    traced = lines.length;
    return fresh;
  };

  const auditAll = async (except: readonly string[] = []): Promise<string[]> => {
    const databaseUrl = database.url;
    const found = [...(await audit(databaseUrl, except))];
    if (options.auditMachines) found.push(...(await options.auditMachines(databaseUrl)));
    else if (env.HYPERVISOR === 'simulator')
      found.push(...(await auditNode(databaseUrl, file('simulator.json'))));
    const [stock] = await sql<{ left: number; held: number }>(
      { databaseUrl },
      `select stock as left, (select count(*)::int from services s where s.product_id = p.id and holds_stock
         and status <> 'cancelled') as held from products p where id = $1`,
      world.demo.products.vps,
    );
    if ((stock?.left ?? 0) + (stock?.held ?? 0) !== stockAtFirst) {
      found.push(`stock does not add up: ${JSON.stringify(stock)}`);
    }
    // SMTP has no transaction: a death between the server's "accepted" and our mark sends a mail again, with the
    // same Message-ID. Without a death there is no such excuse, and two deaths are not one.
    const most = world.deaths === deathsAudited ? 1 : 2;
    for (const [id, times] of mail.received) {
      if (times > (doubled.has(id) ? 2 : most)) found.push(`the mail ${id} came ${times} times`);
      if (times > 1) doubled.add(id);
    }
    deathsAudited = world.deaths;
    const sent = await sql<{ id: string }>(
      { databaseUrl },
      `select '<' || id || '.' || sendings || '.' || template || '@localhost>' as id from mails where state = 'sent'`,
    );
    for (const { id } of sent)
      if (!mail.received.has(id)) found.push(`the mail ${id} is marked sent and never came`);
    return found;
  };

  const world: World = {
    databaseUrl: database.url,
    dataDir,
    mail,
    demo: undefined as unknown as Demo,
    customer: stubborn(() => world.demo.customer),
    staff: stubborn(() => world.demo.staff),
    deaths: 0,
    crashAt: (failpoint) => writeFileSync(file('crash'), failpoint ?? ''),
    failAt: (step) => writeFileSync(file('fail'), step ?? ''),
    die: async (what) => {
      meanwhile = what;
      const before = world.deaths;
      child.kill();
      while (world.deaths === before) await sleep(5);
      await up;
    },
    printed: () => child.printed(),
    pid: () => child.pid,
    settle,
    passed,
    recovery,
    audit: auditAll,
    stop: async (before) => {
      stopped = true;
      child.kill();
      await child.exited;
      await before?.();
      await mail.close();
      await database.drop();
      const { runDir } = await prepareDataDir(dataDir);
      for (const dir of [dataDir, runDir]) rmSync(dir, { recursive: true, force: true });
    },
  };
  start();
  await ready();
  world.demo = JSON.parse(readFileSync(file('demo.json'), 'utf8')) as Demo;
  await furnish(world);
  return world;
}

/** What the scenarios take from: stock to count, credit to spend, a coupon to use. */
async function furnish(world: World): Promise<void> {
  const stocked = await world.staff.patch(`/staff/products/${world.demo.products.vps}`, {
    stock: stockAtFirst,
  });
  if (stocked.status !== 200) throw new Error(`the stock could not be set: ${JSON.stringify(stocked.body)}`);
  await world.staff.post(`/staff/organizations/${world.demo.customer.organization_id}/credit`, {
    amount: '100000.00',
    currency: 'EUR',
    description: 'For the crash sweep',
  });
  // What nobody pays is to stay so, however much credit there is.
  const unpaid = await world.staff.patch('/staff/settings', { payments: { credit_first: false } });
  if (unpaid.status !== 200) throw new Error(`credit still pays: ${JSON.stringify(unpaid.body)}`);
  await sql(world, `insert into coupons (code, percent, created_at) values ($1, 10, now())`, coupon);
}

function isToRepeat({ status, body }: Response): boolean {
  return status === 503 || body?.code === 'idempotency_in_flight';
}
