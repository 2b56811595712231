/**
 * DEMO_RACK with simulated machines, as somebody uses it who tries the product: servers come to be on sale by themselves, one is ordered,
 * switched and given back, and neither the end of the product nor its death in the middle of it loses anything.
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Child, startChild } from '../../../test/child.ts';
import { apiClient, type Client } from '../../../test/client.ts';
import { type TestDatabase, testDatabase } from '../../../test/database.ts';
import { removeDataDir } from '../../../test/dataDir.ts';
import { until } from '../../../test/product.ts';
import { orderDedicated } from '../../../test/rack/stocked.ts';
import { sql } from '../../../test/sql.ts';

let database: TestDatabase;
let dir: string;
let child: Child;
let staff: Client;
let customer: Client;
let productId: number;

async function start(): Promise<void> {
  const env = { DATABASE_URL: database.url, HYPERVISOR: 'simulator', DEMO_RACK: '2', LOG_LEVEL: 'warn' };
  child = await startChild(dir, env);
  const { staff: keeper, customer: ada, products } = child.demo;
  staff = apiClient(`${child.url}/api`, { token: keeper.api_key });
  customer = apiClient(`${child.url}/api`, { token: ada.api_key, organizationId: ada.organization_id });
  productId = products.dedicated;
}

beforeAll(async () => {
  database = await testDatabase();
  dir = mkdtempSync(join(tmpdir(), 'innkeeper-demo-rack-'));
  await start();
});
afterAll(async () => {
  // Asked, so that its rack ends with it.
  await child?.end('SIGTERM');
  await database?.drop();
  await removeDataDir(dir);
});

const rackPid = () => JSON.parse(readFileSync(join(dir, 'rack/place.json'), 'utf8')).pid as number;
interface Server {
  name: string;
  state: string;
  service_id: number | null;
}
const servers = async (): Promise<Server[]> =>
  (await staff.get('/staff/servers?sort=name')).body.data.servers;
const states = async () => (await servers()).map(({ name, state }) => `${name} ${state}`);
const stock = async () => (await customer.get(`/products/${productId}`)).body.data.product.stock as number;
const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;
/** The rack as it is kept, which is what its servers really are; the one that was ordered. */
const played = (nth = mine) =>
  JSON.parse(readFileSync(join(dir, 'rack/servers.json'), 'utf8')).servers[nth - 1];
/** What its installer was told to do and has begun. */
const begun = () =>
  sql({ databaseUrl: database.url }, `select id from server_assignments where state in ('working', 'done')`);
/** For whatever waits for programs on a machine that others use too. */
const patienceMs = 180_000;
const patient = { timeout: 3 * patienceMs };

let serviceId: number;
/** Which server was ordered, from 1 on: whichever was enrolled first. */
let mine: number;

it('has its servers on sale within seconds, without a hand of staff', patient, async () => {
  await until(stock, (left) => left === 2, patienceMs);
  expect(await states()).toEqual(['demo-01 ready', 'demo-02 ready']);
  const { enrolment } = (await staff.get('/staff/enrolment')).body.data;
  expect(enrolment.is_open).toBe(false);
});

it(
  'delivers one that is ordered and paid, also when the product is killed while its installer works',
  patient,
  async () => {
    const rack = rackPid();
    ({ serviceId } = await orderDedicated(customer, productId, { option8: 'AMS' }));
    mine = 1 + (await servers()).findIndex((server) => server.service_id === serviceId);
    await until(begun, (rows) => rows.length > 0, patienceMs);
    await child.end('SIGKILL');
    await start();
    expect(rackPid()).toBe(rack);
    const after = await until(
      () => service(serviceId),
      ({ provisioning_state: state }) => state === 'done' || state === 'failed',
      patienceMs,
    );
    expect(after).toMatchObject({ status: 'active', provisioning_state: 'done' });
    expect(await stock()).toBe(1);
  },
);

async function switched(command: 'start' | 'stop', power: 'on' | 'off'): Promise<void> {
  const { status, body } = await customer.post(`/dashboard/service/${serviceId}/dedicated/${command}`, {});
  expect(status, JSON.stringify(body)).toBe(200);
  const read = async () =>
    (await customer.get(`/dashboard/service/${serviceId}/dedicated/history/${body.data.action.id}`)).body.data
      .action;
  expect(
    await until(read, (action) => action.status !== 'queued' && action.status !== 'running', patienceMs),
  ).toMatchObject({
    status: 'success',
  });
  expect(played().bmc.power).toBe(power);
}

it(
  'is switched by its customer, and is what it was when the product is stopped and started again',
  patient,
  async () => {
    const { primary_ip: ip } = await service(serviceId);
    expect(played()).toMatchObject({ bmc: { power: 'on' }, left: { wipes: 1, system: [ip] } });
    await switched('stop', 'off');
    const before = rackPid();
    await child.end('SIGTERM');
    await until(
      async () => isThere(before),
      (is) => !is,
      10_000,
    );
    await start();
    expect(played()).toMatchObject({ bmc: { power: 'off' }, left: { wipes: 1, system: [ip] } });
    await switched('start', 'on');
    expect((await servers())[mine - 1]?.state).toBe('rented');
  },
);

it('comes back wiped with proof, and is on sale again', patient, async () => {
  const { status } = await customer.post(`/dashboard/services/${serviceId}/cancel`, { type: 'immediate' });
  expect(status).toBe(200);
  await until(stock, (left) => left === 2, patienceMs);
  expect(await states()).toEqual(['demo-01 ready', 'demo-02 ready']);
  expect(played()).toMatchObject({ bmc: { power: 'off' }, left: { wipes: 2, system: null } });
  const proof = await customer.get(`/dashboard/service/${serviceId}/dedicated/erasure`);
  expect(proof.body.data.erasure.disks).toHaveLength(2);
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
