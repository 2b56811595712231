import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MachineSpec } from '../src/drivers/hypervisor/index.ts';
import { apiClient, type Client } from '../test/client.ts';
import { type House, openHouse, root, temporaryDir } from './house.ts';
import { nowMs, spreadOf } from './measure.ts';
import { type Access, fillServices, firstId, openAccess, settle } from './people.ts';
import type { Asked, Told } from './simulated.ts';
import { shareOfCore } from './start.ts';
import { type Figure, inTime } from './table.ts';

export interface ActionOptions {
  machines: number;
  actions: number;
  /** How long the product is watched at its background work. */
  watchMs: number;
}

const simulated = 'a simulated machine that takes no time, among 1,000';
const serviceId = (index: number) => firstId * 4 + index + 1;

/** What an action costs besides the machine, and what a thousand machines cost that nobody touches. */
export async function measureActions(options: ActionOptions): Promise<Figure[]> {
  const argv = [process.execPath, path.join(root, 'bench/simulated.ts')];
  const house = await openHouse(await temporaryDir(), {}, argv);
  const access = await openAccess(house);
  const [owner] = await settle(access, 1);
  if (!owner) throw new Error('nobody to act as');
  await sleep(1_000);
  const empty = await shareOfCore(house, options.watchMs / 8);
  await fill(house, access, owner, options.machines);
  const client = apiClient(`${house.url}/api`, { token: owner.token, organizationId: owner.organizationId });
  const sent: number[] = [];
  const seen: number[] = [];
  for (let index = 0; index < options.actions; index += 1) {
    sent.push(await requestToCall(house, client, serviceId(index)));
    seen.push(await eventToAnswer(house, client, serviceId(options.actions + index)));
  }
  const full = await shareOfCore(house, options.watchMs);
  await sampled(access, options.machines);
  await access.close();
  await house.stop();
  const { machines } = options;
  return [
    inTime(
      'Action: HTTP request → call of the hypervisor',
      simulated,
      sent,
      'two commits to disk and the job’s first step',
    ),
    inTime('Machine event → state visible over the API', simulated, seen, 'one commit to disk'),
    {
      name: `${machines.toLocaleString('en')} simulated machines: charts and reconciliation`,
      against:
        'one core; the same product without a machine takes ' +
        `${(empty.node + empty.database).toFixed(1)} %`,
      value: spreadOf([full.node + full.database]),
      unit: '% of a core',
      target: { atMost: 100 },
      amounts: `our process ${full.node.toFixed(1)} %, PostgreSQL ${full.database.toFixed(1)} %, over ${options.watchMs / 1000} s`,
      limit: 'a sample of each machine every 10 s, a comparison every 5 s',
    },
  ];
}

/** Waits until most machines have a point in its charts, which their second sample gives; else nothing was watched. */
async function sampled({ sql }: Access, machines: number): Promise<void> {
  const deadline = nowMs() + 20_000;
  for (;;) {
    const { rows } = await sql('select count(distinct service_id)::int as count from vps_charts');
    const { count } = rows[0] as { count: number };
    if (count >= machines / 2) return;
    if (nowMs() > deadline) throw new Error(`only ${count} machines were sampled`);
    await sleep(200);
  }
}

async function fill(
  house: House,
  { sql, ...access }: Access,
  owner: { userId: number; organizationId: number },
  count: number,
): Promise<void> {
  const organization = { id: owner.organizationId, userId: owner.userId };
  await tellAndWait(house, { fill: Array.from({ length: count }, (_, index) => specOf(index)) }, 'fill');
  const product = house.demo.products.vps;
  await fillServices({ sql, ...access }, organization, { count, firstServiceId: firstId * 4, product });
  await sql(
    `insert into machines (service_id, organization_id, node_id, image, hostname, cpu_cores, memory_mib, disk_gib,
       port_mbps, mac, wanted, state, started_at, created_at)
     select $1::bigint + i, $2, (select min(id) from nodes), 'tiny', 'web' || i, 1, 1024, 10, 1000,
       ('02' || lpad(to_hex(i), 10, '0'))::macaddr, 'running', 'running', now(), now() from generate_series(1, $3::int) i`,
    [firstId * 4, owner.organizationId, count],
  );
  await sql(
    `with pool as (insert into address_pools (name, location, family, network, gateway, created_at)
       values ('paper', 'AMS', 4, '10.128.0.0/16', '10.128.0.1', now()) returning id)
     insert into addresses (address, pool_id, state, organization_id, service_id, ordinal)
     select '10.128.0.1'::inet + i, pool.id, 'taken', $2, $1::bigint + i, 1 from pool, generate_series(1, $3::int) i`,
    [firstId * 4, owner.organizationId, count],
  );
  await sql('vacuum analyze');
}

function specOf(index: number): MachineSpec {
  const mac = `02${(index + 1).toString(16).padStart(10, '0')}`.match(/../g)?.join(':') ?? '';
  const address = `10.128.${(index + 2) >> 8}.${(index + 2) & 255}`;
  return {
    ...{ id: `vps-${serviceId(index)}`, cpuCores: 1, memoryMib: 1024, diskGib: 10, image: 'tiny' },
    nic: { mac, portMbps: 1000, addresses: [{ family: 4, address, prefix: 16, gateway: '10.128.0.1' }] },
  };
}

async function requestToCall(house: House, client: Client, id: number): Promise<number> {
  const called = answerOf(house, (told) => 'call' in told && told.id === `vps-${id}`);
  const began = nowMs();
  const { status, body } = await client.post(`/dashboard/service/${id}/vps/stop`, { force: true });
  if (status !== 200) throw new Error(`the stop was refused: ${JSON.stringify(body)}`);
  return (await called).atMs - began;
}

async function eventToAnswer(house: House, client: Client, id: number): Promise<number> {
  const { atMs } = await tellAndWait(house, { guestShutsDown: `vps-${id}` }, `vps-${id}`);
  for (;;) {
    const { status, body } = await client.get(`/dashboard/service/${id}/vps/overview`);
    if (status !== 200) throw new Error(`the overview was refused: ${JSON.stringify(body)}`);
    if (body.data.vps.state === 'stopped') return nowMs() - atMs;
    if (nowMs() - atMs > 20_000) throw new Error('the event was never seen');
    await sleep(1);
  }
}

function tellAndWait(house: House, asked: Asked, done: string): Promise<Told> {
  const answer = answerOf(house, (told) => 'done' in told && told.done === done);
  house.process.send(asked);
  return answer;
}

function answerOf({ process: child }: House, fits: (told: Told) => boolean): Promise<Told> {
  return new Promise((resolve) => {
    const listener = (told: Told) => {
      if (!fits(told)) return;
      child.off('message', listener);
      resolve(told);
    };
    child.on('message', listener);
  });
}
