import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../test/people.ts';
import { until } from '../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../test/rack/arriving.ts';
import { type RentedPlayed, rentPlayed } from '../../test/rack/stocked.ts';
import { settled, sql } from '../../test/sql.ts';
import { reinstall } from './reinstall/saga.ts';
import { rescue, rescueOff } from './rescue/sagas.ts';

let world: ArrivingProduct;
let customer: Person;
let before: RentedPlayed;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
  before = await rentPlayed(world, customer);
  await did('reinstall', { os: 'tiny', password: 'Good-Pass-1', confirm: 'metal1.example.com' });
  await did('rescue', { enabled: true, password: 'Good-Pass-1' });
  await did('rescue', { enabled: false });
  // Somebody else has it by now, and has it reinstalled: it is about to start from the network.
  await sql(
    world.product,
    `update servers set service_id = 4711, customer_work = 'reinstall' where id = $1`,
    before.id,
  );
  await sql(
    world.product,
    `insert into server_assignments (server_id, kind, state, disks, wipe, opened_at) values ($1, 'install', 'open', '[]', '[]', now())`,
    before.id,
  );
  before.bmc.nextBoot = { from: 'network', firmware: 'bios' };
}, 120_000);
afterAll(() => world.product.stop());

async function did(verb: string, body: object): Promise<void> {
  const asked = await customer.post(`${before.path}/${verb}`, body);
  expect(asked.status, JSON.stringify(asked.body)).toBe(200);
  const path = `${before.path}/history/${asked.body.data.action.id}`;
  const action = await until(
    async () => (await customer.get(path)).body.data.action,
    ({ status }) => status === 'success' || status === 'error',
    60_000,
  );
  expect(action).toMatchObject({ status: 'success' });
  await settled(world.product);
}

/** All that a job could have changed of a server, and of what its customer before knows of theirs. */
const seen = async () => {
  const rows = await sql(
    world.product,
    `select to_jsonb(s) as server, (select jsonb_agg(to_jsonb(g) order by g.id) from server_assignments g where g.server_id = s.id) as works,
       (select to_jsonb(y) from dedicated_systems y where y.service_id = $2) as system,
       (select jsonb_agg(to_jsonb(a) order by a.id) from dedicated_actions a where a.service_id = $2) as actions
     from servers s where s.id = $1`,
    ...[before.id, before.serviceId],
  );
  const { power, nextBoot, starts, accounts } = before.bmc;
  return JSON.parse(JSON.stringify({ ...rows[0], power, nextBoot, starts, accounts, wipes: before.wipes }));
};

const after = [reinstall, rescue, rescueOff].flatMap(({ name, steps }) =>
  steps.slice(0, -1).map((step) => [name, step.name] as const),
);

it.each(after)(
  '%s that goes on after its step %s when its server is somebody else’s touches nothing of it',
  async (name, step) => {
    const done =
      [reinstall, rescue, rescueOff].find((saga) => saga.name === name)?.steps.map((each) => each.name) ?? [];
    const kept = done.slice(0, done.indexOf(step) + 1);
    const [{ id = 0 } = {}] = await sql<{ id: number }>(
      world.product,
      `update jobs set state = 'stuck', stuck_reason = 'a test', direction = 'forward' where name = $1 returning id`,
      name,
    );
    // As they were done then, with what they found.
    await sql(world.product, `create table if not exists test_steps as select * from job_steps where false`);
    await sql(
      world.product,
      'insert into test_steps select * from job_steps where job_id = $1 and state = $2',
      id,
      'done',
    );
    await sql(world.product, `delete from job_steps where job_id = $1`, id);
    await sql(
      world.product,
      'insert into job_steps select distinct on (step) * from test_steps where job_id = $1 and step = any($2)',
      ...[id, kept],
    );
    const was = await seen();
    const { status, body } = await world.product.staff.post(`/staff/jobs/${id}/retry`);
    expect(status, body.message).toBe(200);
    await until(
      () => sql(world.product, `select 1 from jobs where id = $1 and state not in ('ready', 'running')`, id),
      (rows) => rows.length > 0,
      60_000,
    );
    await settled(world.product);
    expect(await seen()).toEqual(was);
  },
  90_000,
);
