import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { until } from '../product.ts';
import { orderDedicated } from '../rack/stocked.ts';
import { sql } from '../sql.ts';
import type { Scenario } from './scenarios.ts';
import { openWorld, type World } from './world.ts';

/** A product that may die at any moment beside a rack of played servers, which is a process of its own and goes on. */
export interface RackWorld {
  world: World;
  /** A server is ordered, paid and delivered. */
  delivered: Scenario;
  /** The service of one that was delivered ends. */
  returned: Scenario;
  stop(): Promise<void>;
}

/** A server that a customer has, or is about to have. */
export interface Ordered {
  serviceId: number;
  serial: string;
  /** How often the server had been wiped before. */
  wipes: number;
}

export const patienceMs = 180_000;
const count = 2;

export async function openRackWorld(env: Record<string, string> = {}): Promise<RackWorld> {
  const world = await openWorld({ env: { ...env, DEMO_RACK: String(count) } });
  const audit = world.audit;
  world.audit = async (except) => [...(await audit(except)), ...(await auditRack(world))];
  // The product is killed, and its rack would go on for a minute.
  const stop = () => world.stop(async () => void process.kill(placeOf(world).pid));
  try {
    await until(
      () => ready(world),
      (servers) => servers.length === count,
      patienceMs,
    );
    await until(
      () => world.customer.get(`/products/${world.demo.products.dedicated}`),
      ({ body }) => body.data.product.stock === count,
      patienceMs,
    );
    await world.settle();
    // What each makes of what it arranged is its own affair.
    return {
      world,
      delivered: delivering as unknown as Scenario,
      returned: returning as unknown as Scenario,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const delivering: Scenario<void, Ordered> = {
  name: 'order a dedicated server',
  // There are few of them: what was delivered before comes back first.
  arrange: allInStock,
  start: async (world) => {
    const before = playedOf(world);
    const { serviceId } = await orderDedicated(world.customer, world.demo.products.dedicated, {
      option8: 'AMS',
    });
    const [held] = await sql<{ serial: string }>(
      world,
      'select serial from servers where service_id = $1',
      serviceId,
    );
    const serial = held?.serial ?? '';
    return { serviceId, serial, wipes: before.get(serial)?.left.wipes ?? 0 };
  },
  done: async (world, _, { serviceId, serial, wipes }) => {
    const service = await until(
      async () => (await world.customer.get(`/dashboard/services/${serviceId}`)).body.data.service,
      ({ provisioning_state: state }) => state === 'done' || state === 'failed',
      patienceMs,
    );
    expect(service).toMatchObject({ status: 'active', provisioning_state: 'done' });
    // Once, and on the server that the order held.
    expect(playedOf(world).get(serial)).toMatchObject({
      bmc: { power: 'on' },
      left: { wipes: wipes + 1, system: [service.primary_ip] },
    });
  },
};

const returning: Scenario<Ordered, void> = {
  name: 'end the service of a dedicated server',
  arrange: someoneHas,
  start: (world, { serviceId }) => end(world, serviceId),
  done: async (world, { serviceId, serial, wipes }) => {
    await until(
      () => ready(world),
      (servers) => servers.length === count,
      patienceMs,
    );
    expect(playedOf(world).get(serial)).toMatchObject({
      bmc: { power: 'off' },
      left: { wipes: wipes + 1, system: null },
    });
    const { body } = await world.customer.get(`/dashboard/service/${serviceId}/dedicated/erasure`);
    expect(body.data?.erasure.disks).toHaveLength(2);
  },
};

/** All servers are in stock: whoever has one gives it back. */
export async function allInStock(world: World): Promise<void> {
  for (const { id } of await active(world)) await end(world, id);
  await until(
    () => ready(world),
    (servers) => servers.length === count,
    patienceMs,
  );
}

/** A server that a customer has, which is delivered if nobody has one. */
export async function someoneHas(world: World): Promise<Ordered> {
  const there = await rented(world);
  if (there !== null) return there;
  const ordered = await delivering.start(world);
  await delivering.done(world, undefined, ordered);
  return { ...ordered, wipes: ordered.wipes + 1 };
}

async function end(world: World, serviceId: number): Promise<void> {
  const { status, body } = await world.customer.post(`/dashboard/services/${serviceId}/cancel`, {
    type: 'immediate',
  });
  if (status !== 200) throw new Error(`cancel: ${status} ${JSON.stringify(body)}`);
}

export const ready = (world: World) =>
  sql<{ id: number; serial: string }>(
    world,
    `select id, serial from servers where state = 'ready' and profile_id is not null`,
  );

const active = (world: World) =>
  sql<{ id: number }>(
    world,
    `select s.id from services s join products p on p.id = s.product_id where p.module_id = 5 and s.status = 'active' order by s.id`,
  );

/** The server that a customer has, if one does. */
async function rented(world: World): Promise<Ordered | null> {
  const [row] = await sql<{ serial: string; service_id: number }>(
    world,
    `select serial, service_id from servers where state = 'rented' order by id limit 1`,
  );
  if (row === undefined) return null;
  const { serial, service_id: serviceId } = row;
  return { serviceId, serial, wipes: playedOf(world).get(serial)?.left.wipes ?? 0 };
}

interface Played {
  bmc: { power: 'on' | 'off' };
  left: { wipes: number; system: string[] | null };
}

/** What the servers really are, by their serial numbers. */
export function playedOf(world: World): Map<string, Played> {
  const { servers } = JSON.parse(readFileSync(join(world.dataDir, 'rack/servers.json'), 'utf8'));
  return new Map(
    servers.map((server: Played, at: number) => [`DEMO-${String(at + 1).padStart(2, '0')}`, server]),
  );
}

function placeOf(world: World): { pid: number } {
  return JSON.parse(readFileSync(join(world.dataDir, 'rack/place.json'), 'utf8'));
}

/** What must be so of servers whenever nothing is under way: a statement that finds nothing. */
const questions: Record<string, string> = {
  'a server that is on its way to nowhere, or nobody’s': `
    select v.serial, v.state, v.reason, s.status from servers v left join services s on s.id = v.service_id
    where v.state not in ('ready', 'rented') or (v.state = 'rented') <> (coalesce(s.status, '') = 'active')`,
  'a dedicated service that is active without its server, or its address': `
    select s.id from services s join products p on p.id = s.product_id where p.module_id = 5 and s.status = 'active'
      and ((select count(*) from servers v where v.service_id = s.id and v.state = 'rented') <> 1
        or (select count(*) from addresses a where a.service_id = s.id and not a.held) <> 1)`,
  'an address of a dedicated service that has ended': `
    select a.address, s.id from addresses a join services s on s.id = a.service_id join products p on p.id = s.product_id
    where p.module_id = 5 and s.status <> 'active'`,
  // Who is in the rescue system starts it anew whenever the server starts.
  'work on a server that has not ended, or whose plan is kept': `
    select id, server_id, kind, state from server_assignments
    where (state in ('open', 'working') or plan is not null) and not (kind = 'rescue' and state = 'working' and reached_at is not null)`,
  'a server that is at work for its customer, or an action on one, that has no end': `
    select id, customer_work as command from servers where customer_work is not null
    union all select id, command from dedicated_actions where status in ('queued', 'running')`,
  // One that has started anew meanwhile waits for staff as what it is now.
  'a machine that is being enrolled for ever': `
    select id, state, problem from server_arrivals where state = 'accepted' or bmc is not null`,
  'a machine that waits as what it was before it started anew': `
    select t.id, t.state, t.problem from server_arrivals t where t.state = 'waiting' and t.decided_at is not null and t.seen_at < now() - interval '2 minutes'
      and exists (select from server_arrivals n where n.mac = t.mac and n.id > t.id)`,
  'a start that opens something although nothing is to be done': 'select id, mac from server_starts',
  'a service that has ended, and nobody knows that its server was wiped': `
    select s.id from services s join products p on p.id = s.product_id where p.module_id = 5 and s.status = 'terminated'
      and not exists (select 1 from server_assignments g where g.service_id = s.id and g.kind = 'wipe' and g.state = 'done')`,
};

/** Holds the servers against what the database says of them. */
async function auditRack(world: World): Promise<string[]> {
  const found: string[] = [];
  for (const [name, text] of Object.entries(questions)) {
    const rows = await sql(world, text);
    if (rows.length > 0) found.push(`${name}: ${JSON.stringify(rows.slice(0, 3))}`);
  }
  const servers = await sql<{ serial: string; state: string; ips: string[] }>(
    world,
    `select v.serial, v.state, array(select host(a.address) from addresses a where a.service_id = v.service_id) as ips from servers v`,
  );
  const played = playedOf(world);
  for (const { serial, state, ips } of servers) {
    const { bmc, left } = played.get(serial) ?? { bmc: { power: 'gone' }, left: { system: null } };
    const is = JSON.stringify({ power: bmc.power, system: left.system });
    const should = JSON.stringify(
      state === 'rented' ? { power: 'on', system: ips } : { power: 'off', system: null },
    );
    if (is !== should) found.push(`${serial} is ${is} and should be ${should}: it is ${state}`);
  }
  return found;
}
