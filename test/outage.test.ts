import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import type { Demo } from '../src/demo/index.ts';
import { runProgram } from '../src/platform/host/program.ts';
import { apiClient } from './client.ts';
import { type ProductChild, startProductChild } from './crash/child.ts';
import { makeRoom, startLoad } from './load.ts';
import { orderDedicated } from './rack/stocked.ts';
import { signalIfThere } from './signal.ts';
import { sql } from './sql.ts';
import { expectWhole } from './whole.ts';

const databaseProgram = path.join(
  import.meta.dirname,
  '../src/platform/database/embedded/embedded.testchild.ts',
);

/** Undone after each test, last first. */
const cleanup: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

function folder(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-outage-'));
  cleanup.push(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  return dir;
}

/** Two seconds are promised; a machine that runs three other test files at once may need a little more. */
const unreadyAtMostMs = 4_000;

interface Server {
  url: string;
  /** Of PostgreSQL itself, now: its supervisor starts it again when it ends. */
  pid(): number;
  /** Takes supervisor and server away as a power cut would. */
  kill(): Promise<void>;
}

/** A database server of the test's own on a directory. */
async function startServer(dir: string): Promise<Server> {
  const child = spawn(process.execPath, [databaseProgram, dir], {
    stdio: ['ignore', 'pipe', 'ignore'],
    cwd: '/',
  });
  const exited = once(child, 'exit');
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const said = JSON.parse(String(line)) as { url: string; runDir: string };
  const pidFile = path.join(dir, 'postgres/data/postmaster.pid');
  const pid = () => Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    if (existsSync(pidFile)) signalIfThere(pid(), 'SIGKILL');
    await exited;
    while (existsSync(pidFile) && existsSync(`/proc/${pid()}`)) await sleep(10);
  };
  cleanup.push(kill);
  return { url: said.url, pid, kill };
}

interface Started {
  child: ProductChild;
  url: string;
  urls: string[];
  demo: Demo;
  databaseUrl: string;
}

async function startOn(server: Pick<Server, 'url'>, env: Record<string, string> = {}): Promise<Started> {
  const dataDir = folder();
  const child = startProductChild({
    DATA_DIR: dataDir,
    DATABASE_URL: server.url,
    HYPERVISOR: 'simulator',
    RATE_LIMITS: 'off',
    CHECK_RESPONSES: 'on',
    LOG_LEVEL: 'error',
    NETWORK4: '10.96.0.0/18',
    ...env,
  });
  cleanup.push(async () => {
    child.kill();
    await child.exited;
  });
  const url = await child.ready;
  let over = false;
  cleanup.push(() => {
    over = true;
  });
  void child.exited.then(() => {
    if (!over) console.error(`The product ended by itself:\n${child.printed().slice(-3_000)}`);
  });
  const demo = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8')) as Demo;
  const shop = { child, url, urls: [url], demo, databaseUrl: server.url };
  await makeRoom(shop);
  return shop;
}

async function becomes(check: () => Promise<boolean>, withinMs: number): Promise<number> {
  const startMs = Date.now();
  while (!(await check())) {
    if (Date.now() - startMs > withinMs) throw new Error(`not so within ${withinMs} ms`);
    await sleep(20);
  }
  return Date.now() - startMs;
}

const statusOf = async (url: string) => (await fetch(url).catch(() => null))?.status ?? 0;

async function canConnect(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  client.on('error', () => undefined);
  return client.connect().then(
    async () => {
      await client.end();
      return true;
    },
    () => false,
  );
}

describe('the database killed under load', { timeout: 240_000 }, () => {
  it('costs 503s and nothing else; the product serves again by itself', async () => {
    const dir = folder();
    let server = await startServer(dir);
    const product = await startOn(server);
    const load = startLoad(product, 6);
    await sleep(1_500);
    const seen: Record<string, number>[] = [];
    for (let round = 0; round < 2; round += 1) {
      const before = load.ordered.length;
      await becomes(async () => load.ordered.length > before, 30_000);
      await server.kill();
      const unreadyMs = await becomes(
        async () => (await statusOf(`${product.url}/readyz`)) === 503,
        unreadyAtMostMs,
      );
      expect(await statusOf(`${product.url}/livez`)).toBe(200);
      await sleep(2_000);
      expect(await statusOf(`${product.url}/livez`)).toBe(200);
      server = await startServer(dir);
      await becomes(() => canConnect(server.url), 30_000);
      const backAtMs = Date.now();
      await becomes(async () => load.lastSuccessAtMs > backAtMs, 10_000);
      const readyMs = await becomes(async () => (await statusOf(`${product.url}/readyz`)) === 200, 10_000);
      seen.push({ unreadyMs, servesAgainMs: load.lastSuccessAtMs - backAtMs, readyMs });
    }
    // And as it happens by itself: the server dies, its supervisor starts it again.
    signalIfThere(server.pid(), 'SIGKILL');
    await sleep(1_500);
    await becomes(async () => (await statusOf(`${product.url}/readyz`)) === 200, 30_000);
    await load.stop();
    console.log(
      `outages: ${JSON.stringify(seen)}, refused ${JSON.stringify([...load.refused])}, ${load.ordered.length} orders`,
    );
    expect(load.wrong).toEqual([]);
    expect(load.refused.get('unavailable')).toBeGreaterThan(0);
    await expectWhole(server.url, load);
  });
});

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.log('A full disk is NOT tested here: mounting a small one takes root.');

describe.runIf(isRoot)('a full disk', { timeout: 240_000 }, () => {
  it('costs 503s, breaks nothing, and heals without a restart once there is space', async () => {
    const dir = folder();
    await runProgram(['mount', '-t', 'tmpfs', '-o', 'size=220m,mode=0755', 'tmpfs', dir]);
    cleanup.push(() => runProgram(['umount', '--lazy', dir]));
    const server = await startServer(dir);
    const product = await startOn(server);
    const load = startLoad(product, 4);
    await becomes(async () => load.paid.length > 3, 30_000);

    const ballast = path.join(dir, 'ballast');
    const { bavail, bsize } = statfsSync(dir);
    writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - 256 * 1024)));
    // What can still be recycled is soon used up; a transaction of the test's own hurries it.
    const fill = sql(
      { databaseUrl: server.url },
      `create table ballast as select repeat('x', 1000) as x, n from generate_series(1, 200000) n`,
    ).catch((error: Error) => error);
    await becomes(async () => load.refused.size > 0, 60_000);
    const filled = await fill;
    await sleep(3_000);
    expect(await statusOf(`${product.url}/livez`)).toBe(200);
    const refusedWhileFull = JSON.stringify([...load.refused]);

    rmSync(ballast);
    const freeAtMs = Date.now();
    await becomes(async () => load.lastSuccessAtMs > freeAtMs + 10, 30_000);
    const healedMs = load.lastSuccessAtMs - freeAtMs;
    const before = load.paid.length;
    await becomes(async () => load.paid.length > before, 30_000);
    await load.stop();
    console.log(
      `full disk: refused ${refusedWhileFull}, served again after ${healedMs} ms; filling: ${filled}`,
    );
    expect(load.wrong).toEqual([]);
    await sql({ databaseUrl: server.url }, 'drop table if exists ballast');
    await expectWhole(server.url, load);
  });
});

describe('the database away for a minute', { timeout: 420_000 }, () => {
  it('while a server is installed costs nothing: it is wiped and installed once, and its customer has it', async () => {
    const dir = folder();
    let server = await startServer(dir);
    const { url, demo } = await startOn(server, { DEMO_RACK: '1' });
    const { api_key: token, organization_id: organizationId } = demo.customer;
    const customer = apiClient(`${url}/api`, { token, organizationId });
    const productId = demo.products.dedicated;
    await becomes(
      async () => (await customer.get(`/products/${productId}`)).body.data?.product.stock === 1,
      180_000,
    );
    const { serviceId } = await orderDedicated(customer, productId, { option8: 'AMS' });
    const assignments = () =>
      sql<{ state: string; tries: number }>(
        { databaseUrl: server.url },
        `select state, tries from server_assignments where kind = 'install'`,
      );
    await becomes(async () => (await assignments()).some(({ state }) => state === 'working'), 60_000);

    await server.kill();
    await becomes(async () => (await statusOf(`${url}/readyz`)) === 503, unreadyAtMostMs);
    await sleep(60_000);
    expect(await statusOf(`${url}/livez`)).toBe(200);
    server = await startServer(dir);
    await becomes(() => canConnect(server.url), 30_000);
    await becomes(async () => (await statusOf(`${url}/readyz`)) === 200, 30_000);

    const service = async () => (await customer.get(`/dashboard/services/${serviceId}`)).body.data.service;
    await becomes(async () => (await service()).provisioning_state === 'done', 180_000);
    expect((await service()).status).toBe('active');
    expect(await assignments()).toEqual([{ state: 'done', tries: 1 }]);
    await becomes(
      async () =>
        (await customer.get(`/dashboard/service/${serviceId}/dedicated/overview`)).body.data.dedicated
          .state === 'running',
      60_000,
    );
    const [rented] = await sql<{ state: string; service_id: number }>(
      { databaseUrl: server.url },
      `select state, service_id from servers`,
    );
    expect(rented).toEqual({ state: 'rented', service_id: serviceId });
  });
});
