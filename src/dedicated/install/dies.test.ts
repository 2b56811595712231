import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { later } from '../../../test/rack/later.ts';
import { orderDedicated, stockPlayed } from '../../../test/rack/stocked.ts';
import { sql } from '../../../test/sql.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct({}, 4_000);
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const serverOf = async (id: number) =>
  (await world.product.staff.get(`/staff/servers/${id}`)).body.data.server;
const ended = (id: number) =>
  until(
    async () => (await customer.get(`/dashboard/services/${id}`)).body.data.service,
    ({ provisioning_state: state }) => state === 'done' || state === 'failed',
    60_000,
  );
const assignmentOf = async (serverId: number) =>
  (
    await sql<{ tries: number; begun: number; step: string | null }>(
      world.product,
      'select tries, begun, step from server_assignments where server_id = $1 order by id desc limit 1',
      serverId,
    )
  )[0];

/** So many servers that are alike, and an order of one of them. */
async function ordered(count: number, does: (first: Played) => Played['does']) {
  const { productId, first, servers } = await stockPlayed(world, { count });
  first.does = does(first);
  const { serviceId } = await orderDedicated(customer, productId);
  return { first, second: servers[1] ?? first, serviceId };
}
type Played = Awaited<ReturnType<typeof stockPlayed>>['first'];

describe('an installer that ends without a word', () => {
  it.each(['wipe', 'write', 'boot'])(
    'at the same step each time (%s) is given up with the step, once more from cold, and another server is taken',
    async (at) => {
      const { first, second, serviceId } = await ordered(2, () => ({
        dies: { at, times: 99 },
        // How often it began outlasts whoever counts.
        at: async (step) => {
          if (step !== 'write') return;
          await sql(
            world.product,
            `update jobs set state = 'ready', worker = null where name = 'dedicated.provision' and state = 'running'`,
          );
        },
      }));
      expect(await ended(serviceId)).toMatchObject({ status: 'active' });
      expect(await serverOf(first.id)).toMatchObject({
        state: 'quarantined',
        reason: expect.stringMatching(
          new RegExp(
            `the installer began 4 times and came to no end; it broke off at: ${at}( P-\\d+-\\d+-A)?$`,
          ),
        ),
      });
      expect([first.plans.length, first.bmc.starts, first.bmc.power]).toEqual([
        4,
        ['network', 'network'],
        'off',
      ]);
      expect(second.told).toEqual(['installer', 'disk']);
    },
    90_000,
  );

  it('and is the only one that could be had ends its order', async () => {
    const { first, serviceId } = await ordered(1, () => ({ dies: { at: 'write', times: 99 } }));
    expect(await ended(serviceId)).toMatchObject({ status: 'pending', provisioning_state: 'failed' });
    expect(first.plans).toHaveLength(4);
  }, 90_000);

  it.each([1, 2])(
    '%i times begins anew from the wipe, as where its power went, and ends whole',
    async (times) => {
      const { first, serviceId } = await ordered(1, () => ({ dies: { at: 'write', times } }));
      expect(await ended(serviceId)).toMatchObject({ status: 'active' });
      expect([first.wipes, first.bmc.starts]).toEqual([times + 1, ['network']]);
      expect(await assignmentOf(first.id)).toMatchObject({ tries: 1, begun: times + 1 });
    },
    90_000,
  );
});

describe('an installer that loses the network while it writes', () => {
  /** An order whose server has lost it there. */
  async function unplugged(count: number) {
    const order = await ordered(count, (server) => ({
      at: async (step) => {
        if (step === 'write') server.does = { isUnplugged: true };
      },
    }));
    await until(async () => order.first.does.isUnplugged === true, Boolean, 30_000);
    return order;
  }

  it('goes on where it comes back', async () => {
    const { first, serviceId } = await unplugged(1);
    await later(world.product, 8);
    await until(
      () =>
        sql(world.product, `select 1 from jobs where error_message like 'the installer is at work: write%'`),
      (found) => found.length > 0,
    );
    first.does = {};
    expect(await ended(serviceId)).toMatchObject({ status: 'active' });
    expect([first.wipes, await assignmentOf(first.id)]).toMatchObject([1, { tries: 1, begun: 1 }]);
  }, 90_000);

  it('begins once more from the wipe where the image broke off by that', async () => {
    const { first, serviceId } = await unplugged(1);
    await later(world.product, 8);
    first.does = { fails: { reason: 'the image broke off', times: 1 } };
    expect(await ended(serviceId)).toMatchObject({ status: 'active' });
    expect([first.wipes, await assignmentOf(first.id)]).toMatchObject([2, { tries: 2, begun: 2 }]);
  }, 90_000);

  it('for ever is out of order, and another server is taken', async () => {
    const { first, second, serviceId } = await unplugged(2);
    await later(world.product, 11);
    await until(
      async () => first.bmc.starts.length,
      (starts) => starts === 2,
      30_000,
    );
    await later(world.product, 21);
    expect(await ended(serviceId)).toMatchObject({ status: 'active' });
    expect((await serverOf(first.id)).reason).toMatch(/did not start our installer within 20 minutes/);
    expect(second.told).toEqual(['installer', 'disk']);
  }, 90_000);
});

it('an installer whose disk takes nothing any more is not heard of, however often it says how far it is', async () => {
  const { first, second, serviceId } = await ordered(2, () => ({ isStill: true }));
  const heardAt = async () =>
    (
      await sql<{ bytes: number; heard_at: Date }>(
        world.product,
        'select bytes, heard_at from server_assignments where server_id = $1 and bytes is not null',
        first.id,
      )
    )[0];
  for (const starts of [1, 2]) {
    await until(
      async () => first.bmc.starts.length === starts && (await heardAt()) !== undefined,
      Boolean,
      30_000,
    );
    await later(world.product, 11);
  }
  expect(await ended(serviceId)).toMatchObject({ status: 'active' });
  expect((await serverOf(first.id)).reason).toMatch(/not heard of for 10 minutes at: write/);
  expect(second.told).toEqual(['installer', 'disk']);
}, 90_000);
