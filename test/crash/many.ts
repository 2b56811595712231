import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Demo } from '../../src/demo/index.ts';
import { tokenId, tokenSecret } from '../../src/drivers/hypervisor/proxmox/standIn/state.testbed.ts';
import { makeImage, type ProxmoxBed, proxmoxBed } from '../../src/drivers/hypervisor/proxmox/testbed.ts';
import { type Child, DidNotStart, startChild } from '../child.ts';
import { apiClient, type Client, methodsOf } from '../client.ts';
import { testDatabase } from '../database.ts';
import { removeDataDir } from '../dataDir.ts';
import { until } from '../product.ts';
import { sql } from '../sql.ts';
import { audit } from './audit.ts';

/** Processes on one database, any of which may die at any moment and is started again, above clusters that outlive them. */
export interface Many {
  databaseUrl: string;
  demo: Demo;
  /** People who repeat a request, with the same Idempotency-Key, at one API process after another until one answers. */
  customer: Client;
  staff: Client;
  clusters: readonly ProxmoxBed[];
  processes: readonly OneOfMany[];
  /** Has whichever process comes by this failpoint first die there, once; null: none. */
  crashAt(failpoint: string | null): void;
  /** Deaths so far. */
  deaths(): number;
  /** The failpoints that were passed since the last call, by any process. */
  passed(): string[];
  /** Waits until every job has come to its end. */
  settle(): Promise<void>;
  /** The services that somebody ordered, who heard so. */
  ordered: Set<number>;
  /** Everything that is wrong, in words: with the database, with what the clusters have, or of processes that ended by themselves. */
  audit(): Promise<string[]>;
  stop(): Promise<void>;
}

export interface OneOfMany {
  name: string;
  role: 'api' | 'worker';
  /** Null while it is being started. */
  child: Child | null;
  kill(): void;
}

/** Long: it only bounds a hang. */
const patienceMs = 120_000;
const image = 'tiny';

/**
 * Starts so many processes with an API and so many workers, above two clusters of what stands in for Proxmox VE, each with two nodes.
 * `networks`: on which guests of theirs answer on SSH at 127.77.x of this host, told apart from those of other test files.
 */
export async function openMany(each: number, networks: readonly [number, number]): Promise<Many> {
  const database = await testDatabase();
  const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-many-'));
  const file = (name: string) => path.join(dir, name);
  const clusters = [await proxmoxBed(networks[0]), await proxmoxBed(networks[1])];
  for (const { state } of clusters) {
    state.nodes.push({ name: 'n2', isOnline: true, bridges: ['vmbr0'] });
    Object.assign(state, { taskMs: 5, bootMs: 20 });
  }
  const imagesDir = clusters[0]?.options.imagesDir ?? '';
  for (const [slug, recipe] of [
    ['tiny', 'tiny'],
    ['debian', 'debian-12'],
  ] as const)
    await makeImage(imagesDir, { slug, kind: 'build', recipe });
  const env = {
    DATABASE_URL: database.applicationUrl,
    DATABASE_OWNER_URL: database.url,
    DATABASE_POOL_SIZE: '4',
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    HYPERVISOR: 'simulator',
    CLUSTER_ALLOW: '127.0.0.1',
    IMAGES_DIR: imagesDir,
    NETWORK4: `10.77.${networks[0]}.0/24`,
    LOG_LEVEL: 'warn',
  };
  let stopped = false;
  let deaths = 0;
  const processes: OneOfMany[] = [];
  const ordered = new Set<number>();
  const faults: string[] = [];

  const start = async (one: OneOfMany): Promise<void> => {
    const dataDir = path.join(dir, one.name);
    const child = await startChild(dataDir, {
      ...env,
      NODE_NAME: one.name,
      ROLE: one.role,
      INNKEEPER_CRASH_AT: `@${file(`crash-${one.name}`)}`,
      INNKEEPER_TRACE_FAILPOINTS: file(`trace-${one.name}`),
    }).catch((error: Error) => {
      // It may come by a boundary before it is ready.
      if (stopped || (error instanceof DidNotStart && error.signal === 'SIGKILL')) return null;
      throw error;
    });
    if (child === null) return died(one);
    one.child = child;
    void child.gone.then((signal) => {
      if (!stopped && signal !== 'SIGKILL') faults.push(`${one.name} ended by itself: ${child.output()}`);
      return died(one);
    });
  };
  const died = (one: OneOfMany): Promise<void> | undefined => {
    one.child = null;
    if (stopped) return undefined;
    deaths += 1;
    crashAt(null); // one death each
    return start(one);
  };
  const add = (role: OneOfMany['role']): Promise<void> => {
    const name = `${role}-${processes.filter((one) => one.role === role).length + 1}`;
    for (const kind of ['crash', 'trace']) writeFileSync(file(`${kind}-${name}`), '');
    const one: OneOfMany = { name, role, child: null, kill: () => void one.child?.end('SIGKILL') };
    processes.push(one);
    return start(one);
  };
  const crashAt = (failpoint: string | null): void => {
    for (const { name } of processes) writeFileSync(file(`crash-${name}`), failpoint ?? '');
  };

  // One of each does what there is only once: the founding, and the clusters.
  await add('api');
  await add('worker');
  const demo = JSON.parse(readFileSync(path.join(dir, 'api-1', 'demo.json'), 'utf8')) as Demo;
  let turn = 0;
  const stubborn = (who: { api_key: string; organization_id?: number }): Client => {
    const request: Client['request'] = async (method, route, body, headers = {}) => {
      const key: Record<string, string> = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
      for (const deadline = Date.now() + patienceMs; ; await sleep(50)) {
        const doors = processes.filter(({ role, child }) => role === 'api' && child !== null);
        turn += 1;
        const url = doors[turn % Math.max(1, doors.length)]?.child?.url;
        if (Date.now() > deadline) throw new Error(`nobody answered ${method} ${route}`);
        if (url === undefined) continue;
        const client = apiClient(`${url}/api`, { token: who.api_key, organizationId: who.organization_id });
        const answer = await client.request(method, route, body, { ...key, ...headers }).catch(() => null);
        if (answer === null || answer.status === 503 || answer.body?.code === 'idempotency_in_flight')
          continue;
        return answer;
      }
    };
    return methodsOf(request);
  };
  const [customer, staff] = [stubborn(demo.customer), stubborn(demo.staff)];
  await addClusters(staff, clusters);
  await furnish(database.url, demo, staff);
  // Those that begin now know the clusters at once.
  const further = Array.from({ length: each - 1 }, () => [add('api'), add('worker')]);
  await Promise.all(further.flat());
  await imageEverywhere(staff, clusters.length);
  // What the workers have themselves is not what this is about.
  await sql({ databaseUrl: database.url }, `update nodes set state = 'draining' where cluster_id is null`);

  const traced = new Map<string, number>();
  return {
    ...{ databaseUrl: database.url, demo, customer, staff, clusters, processes, crashAt, ordered },
    deaths: () => deaths,
    passed: () =>
      processes.flatMap(({ name }) => {
        const lines = readFileSync(file(`trace-${name}`), 'utf8')
          .split('\n')
          .slice(0, -1);
        const fresh = lines.slice(traced.get(name) ?? 0);
        traced.set(name, lines.length);
        return fresh;
      }),
    settle: () => settle(database.url),
    audit: async () => [
      ...faults,
      ...(await audit(database.url)),
      ...(await auditOrders(database.url, ordered)),
      ...(await auditClusters(database.url, clusters)),
    ],
    stop: async () => {
      stopped = true;
      await Promise.all(processes.map(({ child }) => child?.end('SIGKILL')));
      for (const cluster of clusters) cluster.remove();
      await database.drop();
      for (const { name } of processes) await removeDataDir(path.join(dir, name));
      await removeDataDir(dir);
    },
  };
}

/** Until each is found fit. */
async function addClusters(staff: Client, clusters: readonly ProxmoxBed[]): Promise<void> {
  for (const [at, { stand, options }] of clusters.entries()) {
    const added = await staff.post('/staff/clusters', {
      ...{ name: `pve${at + 1}`, engine: 'proxmox', location: 'AMS', endpoints: [stand.url] },
      server_certificate: options.fingerprints.join('\n'),
      credential: { token_id: tokenId, token_secret: tokenSecret },
      ...{ project: 'innkeeper', pool: 'local-lvm', files: 'files', bridge: 'vmbr0' },
      vmids: { first: 1_000_000 * (at + 1), last: 1_000_000 * (at + 1) + 99_999 },
    });
    if (added.status !== 200) throw new Error(`a cluster is refused: ${JSON.stringify(added.body)}`);
  }
  await until(
    async () => (await staff.get('/staff/clusters')).body.data.clusters as { fit: boolean }[],
    (all) => all.length === clusters.length && all.every(({ fit }) => fit),
    patienceMs,
  );
}

async function imageEverywhere(staff: Client, count: number): Promise<void> {
  await until(
    async () => (await staff.get(`/staff/images/${image}`)).body.data.image.clusters as { state: string }[],
    (states) => states.length === count && states.every(({ state }) => state === 'ready'),
    patienceMs,
  );
}

/** Addresses that guests which stand in can have, and credit to spend. */
async function furnish(databaseUrl: string, demo: Demo, staff: Client): Promise<void> {
  await sql(
    { databaseUrl },
    `update addresses set address = '127.0.0.0'::inet + (address - '10.0.0.0'::inet) where family(address) = 4`,
  );
  await sql(
    { databaseUrl },
    `update address_pools set network = set_masklen('127.0.0.0'::inet + (host(network)::inet - '10.0.0.0'::inet), 24)::cidr,
       gateway = '127.0.0.0'::inet + (gateway - '10.0.0.0'::inet) where family = 4`,
  );
  await staff.post(`/staff/organizations/${demo.customer.organization_id}/credit`, {
    amount: '100000.00',
    currency: 'EUR',
    description: 'For the crash sweep',
  });
}

async function settle(databaseUrl: string): Promise<void> {
  const open = () =>
    sql<{ name: string; state: string }>(
      { databaseUrl },
      `select name, state from jobs where state in ('ready', 'running')`,
    );
  await until(open, (jobs) => jobs.length === 0, patienceMs);
}

/** What somebody ordered is there once, however often the request was repeated, and is paid. */
async function auditOrders(databaseUrl: string, ordered: ReadonlySet<number>): Promise<string[]> {
  const rows = await sql<{ id: string; invoice: string; paid: boolean }>(
    { databaseUrl },
    `select s.id::text as id, i.id::text as invoice, i.status = 'paid' as paid from services s
     full join invoices i on i.id = s.invoice_id where s.id is not null or i.kind = 'order'`,
  );
  const there = rows.map(({ id }) => Number(id));
  return [
    ...rows
      .filter(({ id, paid }) => !ordered.has(Number(id)) || !paid)
      .map(({ id, invoice }) => `nobody heard of the order of ${id}, or its invoice ${invoice} is not paid`),
    ...[...ordered].filter((id) => !there.includes(id)).map((id) => `the order of ${id} is lost`),
  ];
}

/** Holds what the clusters have against what the database says they should: each machine once, and nothing of what is gone. */
async function auditClusters(databaseUrl: string, clusters: readonly ProxmoxBed[]): Promise<string[]> {
  const rows = await sql<{ id: string; wanted: string }>(
    { databaseUrl },
    `select 'vps-' || service_id as id, wanted from machines`,
  );
  const wanted = new Map(rows.map((row) => [row.id, row.wanted]));
  const there = clusters.flatMap(({ state }) =>
    [...state.vms.values()].filter(({ pool, settings }) => pool === 'innkeeper' && !('template' in settings)),
  );
  const found = there.flatMap(({ vmid, settings, running }) => {
    const name = String(settings.name);
    const power = running === null ? 'stopped' : 'running';
    if (!name.startsWith('vps-')) return [];
    if (!wanted.has(name)) return [`a machine of nobody is left: ${name} (${vmid})`];
    return wanted.get(name) === power ? [] : [`${name} is ${power} and should be ${wanted.get(name)}`];
  });
  for (const id of wanted.keys()) {
    const count = there.filter(({ settings }) => settings.name === id).length;
    if (count !== 1) found.push(`the machine ${id} is there ${count} times`);
  }
  for (const { state, stand } of clusters) {
    const orphans = [...state.files.keys(), ...state.volumes.keys()].filter((key) => {
      const service = /vps-\d+/.exec(key)?.[0];
      const vmid = /vm-(\d+)-/.exec(key)?.[1];
      return service !== undefined
        ? !wanted.has(service)
        : vmid !== undefined && !state.vms.has(Number(vmid));
    });
    found.push(...orphans.map((key) => `left behind: ${key}`), ...stand.refusedBySchema);
  }
  return found;
}
