import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { type RentedPlayed, rentPlayed } from '../../../test/rack/stocked.ts';
import { settled, sql } from '../../../test/sql.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
const stateOf = async (id: number): Promise<string> =>
  (await staff().get(`/staff/servers/${id}`)).body.data.server.state;

/** The steps of a return, each of which may be the last one that was done. */
const steps = [
  ...['look', 'open', 'rest', 'plan', 'power', 'proof', 'wipe', 'password', 'others', 'shut_out', 'off'],
] as const;

/** A server that came back from its service, and its job as it was right after one of its steps: nobody went on with it, as after a restore. */
async function leftAfter(
  step: (typeof steps)[number],
  isLeft = false,
): Promise<{ server: RentedPlayed; job: number }> {
  const server = await rentPlayed(world, customer);
  const ends = await customer.post(`/dashboard/services/${server.serviceId}/cancel`, { type: 'immediate' });
  expect(ends.status, ends.body.message).toBe(200);
  await until(
    () => stateOf(server.id),
    (state) => state === 'ready',
    60_000,
  );
  await settled(world.product);
  const payload = isLeft
    ? { leftBy: server.serviceId, serverId: server.id }
    : { serviceId: server.serviceId };
  const [{ id: job = 0 } = {}] = await sql<{ id: number }>(
    world.product,
    `update jobs set state = 'stuck', stuck_reason = 'a test', payload = $2::text::jsonb
     where name = 'dedicated.return' and payload ->> 'serviceId' = $1::text returning id`,
    ...[server.serviceId, JSON.stringify(payload)],
  );
  await sql(
    world.product,
    'delete from job_steps where job_id = $1 and step <> all($2)',
    job,
    steps.slice(0, steps.indexOf(step) + 1),
  );
  return { server, job };
}

/** Staff has the job go on, as late as this; how it ended. */
async function goesOn(job: number): Promise<{ state: string; error_code: string | null }> {
  const { status, body } = await staff().post(`/staff/jobs/${job}/retry`);
  expect(status, body.message).toBe(200);
  const [ended] = await until(
    () =>
      sql<{ state: string; error_code: string | null }>(
        world.product,
        `select state, error_code from jobs where id = $1 and state not in ('ready', 'running')`,
        job,
      ),
    (rows) => rows.length > 0,
    60_000,
  );
  return ended ?? { state: '', error_code: null };
}

/** All that a job could have changed of a server. */
const seen = async ({ id, bmc, wipes, system }: RentedPlayed) => {
  const [rows] = await sql(
    world.product,
    `select s.state, s.state_since, s.reason, s.service_id, s.move_service_id, s.observed_at, encode(b.password, 'hex') as password,
       (select count(*)::int from server_assignments g where g.server_id = s.id) as works
     from servers s join server_bmcs b on b.server_id = s.id where s.id = $1`,
    id,
  );
  const { power, nextBoot, starts, accounts } = bmc;
  return JSON.parse(JSON.stringify({ ...rows, power, nextBoot, starts, accounts, wipes, system }));
};

const sold = (id: number, serviceId: number, columns = '') =>
  sql(
    world.product,
    `update servers set state = 'rented', service_id = $2${columns} where id = $1`,
    id,
    serviceId,
  );

/** Its new customer has it on, and an account at its BMC, as root there may. */
function inUse({ bmc }: RentedPlayed): void {
  bmc.power = 'on';
  bmc.accounts.push({
    id: '7',
    name: 'theirs',
    password: 'theirs-1',
    access: 'administrator',
    isEnabled: true,
  });
}

describe('a return that goes on when its server has come back by other ways and was sold', () => {
  it.each(steps)(
    'touches nothing of it: after the step %s',
    async (step) => {
      const { server, job } = await leftAfter(step);
      const another = await rentPlayed(world, customer);
      await sql(
        world.product,
        `update servers set service_id = null, state = 'broken' where id = $1`,
        another.id,
      );
      await sold(server.id, another.serviceId);
      inUse(server);
      const before = await seen(server);
      expect(await goesOn(job)).toEqual({
        state: 'done',
        error_code: expect.stringMatching(/taken_away|nothing_to_return/),
      });
      await settled(world.product);
      expect(await seen(server)).toEqual(before);
    },
    120_000,
  );

  it.each(['open', 'plan', 'wipe', 'off'] as const)(
    'to the service that had left it for another one before: after the step %s',
    async (step) => {
      const { server, job } = await leftAfter(step, true);
      await sold(server.id, server.serviceId);
      inUse(server);
      const before = await seen(server);
      expect(await goesOn(job)).toEqual({ state: 'done', error_code: 'server_taken_away' });
      await settled(world.product);
      expect(await seen(server)).toEqual(before);
    },
    120_000,
  );
});

it('a return that was cut short before its last step takes no server into stock that comes back once more and is not wiped yet', async () => {
  const { server, job } = await leftAfter('off', true);
  // It was installed again, for whoever left it a second time.
  await sql(
    world.product,
    `insert into server_assignments (server_id, kind, state, disks, opened_at, given_at, ended_at)
     values ($1, 'install', 'done', '[]', now(), now(), now())`,
    server.id,
  );
  await sql(
    world.product,
    `update servers set state = 'returning', service_id = null, move_service_id = $2 where id = $1`,
    ...[server.id, server.serviceId],
  );
  const before = await seen(server);
  expect(await goesOn(job)).toEqual({ state: 'done', error_code: 'server_taken_away' });
  expect(await seen(server)).toEqual(before);
}, 120_000);
