import { expect } from 'vitest';
import { until } from '../product.ts';
import { sql } from '../sql.ts';
import { allInStock, type Ordered, patienceMs, playedOf, ready, someoneHas } from './rackWorld.ts';
import type { Scenario } from './scenarios.ts';
import type { World } from './world.ts';

/** What a customer has done with a server that they have, and how one is enrolled that was before; for the sweep of crashes. */
interface Asked {
  actionId: number;
}

const secret = 'Good-Pass-1';
const path = ({ serviceId }: Ordered) => `/dashboard/service/${serviceId}/dedicated`;
const stateOf = async (world: World, server: Ordered): Promise<string> =>
  (await world.customer.get(`${path(server)}/overview`)).body.data.dedicated.state;

async function ask(world: World, server: Ordered, verb: string, body: object): Promise<Asked> {
  const { status, body: answer } = await world.customer.post(`${path(server)}/${verb}`, body);
  if (status !== 200) throw new Error(`${verb}: ${status} ${JSON.stringify(answer)}`);
  return { actionId: answer.data.action.id };
}

async function succeeded(world: World, server: Ordered, { actionId }: Asked): Promise<void> {
  const action = await until(
    async () => (await world.customer.get(`${path(server)}/history/${actionId}`)).body.data.action,
    ({ status }) => status === 'success' || status === 'error',
    patienceMs,
  );
  expect(action).toMatchObject({ status: 'success', progress: 100 });
}

/** On, with its system at its address, and wiped so often. */
async function hasSystem(world: World, { serviceId, serial }: Ordered, wipes: number): Promise<void> {
  const { body } = await world.customer.get(`/dashboard/services/${serviceId}`);
  expect(playedOf(world).get(serial)).toMatchObject({
    bmc: { power: 'on' },
    left: { wipes, system: [body.data.service.primary_ip] },
  });
}

const reinstalling: Scenario<Ordered, Asked> = {
  name: 'reinstall a dedicated server',
  arrange: outOfRescue,
  start: (world, server) =>
    ask(world, server, 'reinstall', { os: 'tiny', password: secret, confirm: 'metal1.example.com' }),
  done: async (world, server, asked) => {
    await succeeded(world, server, asked);
    await hasSystem(world, server, server.wipes + 1);
    expect(await stateOf(world, server)).toBe('running');
  },
};

const rescuing: Scenario<Ordered, Asked> = {
  name: 'take a dedicated server into the rescue system',
  arrange: outOfRescue,
  start: (world, server) => ask(world, server, 'rescue', { enabled: true, password: secret }),
  done: async (world, server, asked) => {
    await succeeded(world, server, asked);
    // Nothing was done to its disks.
    await hasSystem(world, server, server.wipes);
    expect(await stateOf(world, server)).toBe('rescue');
  },
};

const leavingRescue: Scenario<Ordered, Asked> = {
  name: 'take a dedicated server out of the rescue system',
  arrange: async (world) => {
    const server = await someoneHas(world);
    if ((await stateOf(world, server)) !== 'rescue')
      await rescuing.done(world, server, await rescuing.start(world, server));
    return server;
  },
  start: (world, server) => ask(world, server, 'rescue', { enabled: false }),
  done: async (world, server, asked) => {
    await succeeded(world, server, asked);
    await hasSystem(world, server, server.wipes);
    expect(await sql(world, `select id from server_assignments where state in ('open', 'working')`)).toEqual(
      [],
    );
    expect(await stateOf(world, server)).toBe('running');
  },
};

async function outOfRescue(world: World): Promise<Ordered> {
  const server = await someoneHas(world);
  if ((await stateOf(world, server)) === 'rescue')
    await leavingRescue.done(world, server, await leavingRescue.start(world, server));
  return server;
}

interface Aside {
  id: number;
  serial: string;
  wipes: number;
}

const enrolling: Scenario<Aside, void> = {
  name: 'enrol a server anew',
  arrange: async (world) => {
    await allInStock(world);
    const [server] = await ready(world);
    if (server === undefined) throw new Error('no server is in stock');
    const staff = async (what: string, body: object) => {
      const answer = await world.staff.post(`/staff/${what}`, body);
      if (answer.status !== 200) throw new Error(`${what}: ${JSON.stringify(answer.body)}`);
    };
    await staff(`servers/${server.id}/quarantine`, { reason: 'To be looked at' });
    await staff(`servers/${server.id}/release`, {});
    await staff('enrolment/open', { hours: 1 });
    await staff(`servers/${server.id}/start`, {});
    return { ...server, wipes: playedOf(world).get(server.serial)?.left.wipes ?? 0 };
  },
  start: async (world, { id, serial }) => {
    const arrival = await until(
      async () =>
        (await world.staff.get('/staff/enrolment/arrivals?state=waiting&limit=100')).body.data.arrivals.find(
          (each: { serial: string; is_there: boolean }) => each.serial === serial && each.is_there,
        ) as { id: number } | undefined,
      (found) => found !== undefined,
      patienceMs,
    );
    const accept = { server_id: id };
    const answer = await world.staff.post(`/staff/enrolment/arrivals/${arrival?.id}/accept`, accept);
    if (answer.status !== 200) throw new Error(`accept: ${JSON.stringify(answer.body)}`);
  },
  done: async (world, { id, serial, wipes }) => {
    const server = await until(
      async () => (await world.staff.get(`/staff/servers/${id}`)).body.data.server,
      ({ state }) => state === 'ready',
      patienceMs,
    );
    expect(server.bmc).toMatchObject({ user: 'innkeeper' });
    expect(playedOf(world).get(serial)).toMatchObject({
      bmc: { power: 'off' },
      left: { wipes, system: null },
    });
    await world.staff.post('/staff/enrolment/close', {});
  },
};

// What each makes of what it arranged is its own affair.
export const again = {
  reinstalled: reinstalling as unknown as Scenario,
  rescued: rescuing as unknown as Scenario,
  rescuedNoMore: leavingRescue as unknown as Scenario,
  enrolled: enrolling as unknown as Scenario,
};
