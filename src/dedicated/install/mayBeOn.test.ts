import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import {
  deliveredTo,
  orderDedicated,
  rentPlayed,
  type StockedPlayed,
  stockPlayed,
} from '../../../test/rack/stocked.ts';
import { settled, sql } from '../../../test/sql.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct({}, 4_000);
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
const serverOf = async (id: number) => (await staff().get(`/staff/servers/${id}`)).body.data.server;
const became = (id: number, states: RegExp) =>
  until(
    () => serverOf(id),
    ({ state }) => states.test(state),
    60_000,
  );
const addressAt = async (address: string) =>
  (
    await sql<{ state: string; note: string | null }>(
      world.product,
      'select state, note from addresses where host(address) = $1',
      address,
    )
  )[0];

/** Its BMC is asked for its sign of life, minutes later. */
async function asked(): Promise<void> {
  world.product.clock.travel(6 * 60_000);
  await world.product.periodic('fleet.askBmcs');
  await settled(world.product);
}

async function ends(serviceId: number): Promise<void> {
  const { status, body } = await customer.post(`/dashboard/services/${serviceId}/cancel`, {
    type: 'immediate',
  });
  expect(status, body.message).toBe(200);
}

describe('the addresses of a server that may be on while it is set aside are given to nobody', () => {
  /** Longer than addresses rest. */
  async function keptUntilOff(server: Pick<StockedPlayed, 'id' | 'bmc'>, address: string): Promise<void> {
    expect(server.bmc.power).toBe('on');
    const kept = { state: 'reserved', note: expect.stringContaining(`server ${server.id} may still run`) };
    expect(await addressAt(address)).toMatchObject(kept);
    world.product.clock.travel(49 * 3_600_000);
    await world.product.periodic('fleet.freeRestedAddresses');
    server.bmc.failing = {};
    await asked();
    expect(await addressAt(address)).toMatchObject(kept);
    server.bmc.power = 'off';
    await asked();
    expect(await addressAt(address)).toEqual({ state: 'resting', note: null });
  }

  it('where it was installed for an order that goes on with another server, and others', async () => {
    const { productId, servers } = await stockPlayed(world, { count: 2 });
    const [first, second] = servers;
    if (first === undefined || second === undefined) throw new Error('too few');
    first.does = {
      fails: { reason: 'the boot loader could not be written', times: 1 },
      at: async (step) => {
        if (step === 'write') first.bmc.failing = { silent: 'before' };
      },
    };
    const { serviceId } = await orderDedicated(customer, productId);
    const service = await deliveredTo(customer, serviceId);
    expect(service).toMatchObject({ status: 'active' });
    expect(await serverOf(first.id)).toMatchObject({
      state: 'quarantined',
      reason: expect.stringMatching(/could not be switched off/),
    });
    const address = first.plans[0].identity.addresses[0].address;
    expect(service.primary_ip).not.toBe(address);
    await keptUntilOff(first, address);
    expect(await addressAt(service.primary_ip)).toMatchObject({ state: 'taken' });
  }, 120_000);

  it('where it comes back and its BMC does nothing that it is told', async () => {
    const server = await rentPlayed(world, customer);
    server.bmc.failing = { saysYes: true };
    await ends(server.serviceId);
    expect(await became(server.id, /quarantined/)).toMatchObject({
      reason: expect.stringMatching(/could not be switched off, and what is on it may still run/),
    });
    await keptUntilOff(server, server.ip);
  }, 120_000);

  it('until it is retired', async () => {
    const server = await rentPlayed(world, customer);
    server.bmc.failing = { saysYes: true };
    await ends(server.serviceId);
    await became(server.id, /quarantined/);
    expect(await addressAt(server.ip)).toMatchObject({ state: 'reserved' });
    expect((await staff().post(`/staff/servers/${server.id}/retire`, { reason: 'Scrapped' })).status).toBe(
      200,
    );
    expect(await addressAt(server.ip)).toEqual({ state: 'resting', note: null });
  }, 120_000);
});

it('a server that comes back and of which no disk is known is switched off all the same', async () => {
  const server = await rentPlayed(world, customer);
  await sql(world.product, 'update servers set hardware = null where id = $1', server.id);
  await ends(server.serviceId);
  expect(await became(server.id, /quarantined/)).toMatchObject({
    reason: expect.stringContaining('no disk of it was measured'),
  });
  expect(server.bmc.power).toBe('off');
  expect(await addressAt(server.ip)).toEqual({ state: 'resting', note: null });
}, 120_000);

/** As one that was set aside before that was written down, after an upgrade or a restore. */
async function asBefore(id: number): Promise<void> {
  await sql(
    world.product,
    'update servers set unwiped_service_id = null, tenant_service_id = null where id = $1',
    id,
  );
  const folder = path.join(import.meta.dirname, '../../../migrations');
  for (const name of ['0212_unwiped_before.sql', '0214_unwiped_installations.sql'])
    await sql(world.product, readFileSync(path.join(folder, name), 'utf8'));
}

it.each<[string, (id: number) => Promise<void>]>([
  ['', async () => undefined],
  [', also where it was set aside when nobody wrote down for whom', asBefore],
])(
  'a server that was set aside with a customer’s system on it is wiped before it is in stock again, once staff has had it enrolled%s',
  async (_, meanwhile) => {
    const { productId, first: server } = await stockPlayed(world);
    server.does = { isMute: true };
    const { serviceId } = await orderDedicated(customer, productId);
    await until(
      () =>
        sql(
          world.product,
          `select 1 from jobs where error_message like 'the server starts what was installed%' and payload ->> 'serviceId' = $1::text`,
          serviceId,
        ),
      (rows) => rows.length > 0,
      60_000,
    );
    world.product.clock.travel(21 * 60_000);
    await became(server.id, /quarantined/);
    await meanwhile(server.id);
    server.does = {};
    expect((await staff().post(`/staff/servers/${server.id}/release`)).body.data.server.state).toBe(
      'waiting',
    );
    // After its clock has leapt: a network that is not heard of for a minute is served by nobody.
    await until(
      () => staff().post('/staff/enrolment/open', { hours: 1 }),
      ({ status }) => status === 200,
    );
    expect((await staff().post(`/staff/servers/${server.id}/start`, {})).status).toBe(200);
    const arrival = await until(
      async () => (await staff().get('/staff/enrolment/arrivals?state=waiting')).body.data.arrivals[0],
      (found) => found !== undefined,
      30_000,
    );
    const { bmc } = await serverOf(server.id);
    const password = server.bmc.accounts.find(({ name }) => name === bmc.user)?.password;
    const accepted = await staff().post(`/staff/enrolment/arrivals/${arrival.id}/accept`, {
      server_id: server.id,
      bmc: { kind: 'ipmi', address: bmc.address, user: bmc.user, password },
    });
    expect(accepted.status, JSON.stringify(accepted.body)).toBe(200);
    expect(await became(server.id, /ready|quarantined/)).toMatchObject({ state: 'ready', service_id: null });
    await settled(world.product);
    expect([server.wipes, server.plans.at(-1).task, server.system, server.bmc.power]).toEqual([
      2,
      'wipe',
      null,
      'off',
    ]);
  },
  120_000,
);
