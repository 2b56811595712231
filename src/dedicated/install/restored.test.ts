import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { newDedicated, orderDedicated, stockServer } from '../../../test/rack/stocked.ts';
import { sql } from '../../../test/sql.ts';
import { type PlayedServer, playServer } from '../../demo/rack/played.ts';
import { type AnySaga, settleRestore } from '../../platform/index.ts';
import { jobsOfCustomers } from '../../worker.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct({}, 4_000);
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());
const staff = () => world.product.staff;
const serverOf = async (id: number) => (await staff().get(`/staff/servers/${id}`)).body.data.server;
const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;
const ended = (id: number) =>
  until(
    () => service(id),
    ({ provisioning_state: state, status }) =>
      state === 'done' || state === 'failed' || status === 'cancelled',
    120_000,
  );
let made = 0;
async function stocked(locations: string[]) {
  made += 1;
  const model = `R-${made}`;
  const productId = await newDedicated(world.product, model);
  const servers: (PlayedServer & { id: number })[] = [];
  for (const [at, location] of locations.entries()) {
    const nth = at + 1;
    const mac = `52:54:00:0d:${String(made).padStart(2, '0')}:0${nth}`;
    const address = `198.51.100.${made * 10 + nth}`;
    const disks = [`${model}-${nth}-A`, `${model}-${nth}-B`];
    const bmc = world.bmcAt(address);
    bmc.power = 'off';
    const id = await stockServer(world.product, model, {
      ...{ name: `${model}-${nth}`, mac, location, bmc: { address, user: 'root', password: 'factory-1' } },
      disks: disks.map((serial) => ({ serial, bytes: 960_197_124_096, kind: 'nvme' as const })),
    });
    servers.push(Object.assign(playServer(world, { mac, disks, bmc }), { id }));
  }
  const [first] = servers;
  if (first === undefined) throw new Error('none');
  return { productId, first, second: servers[1] ?? first };
}
const q = (text: string, ...v: unknown[]) => sql<Record<string, string>>(world.product, text, ...v);
const kept = ['jobs', 'job_steps', 'services', 'servers', 'server_assignments', 'server_starts'];
async function backup(serviceId: number, serverId: number) {
  for (const t of kept) await q(`drop table if exists bk_${t}`);
  const which: Record<string, string> = {
    jobs: `name = 'dedicated.provision' and payload ->> 'serviceId' = '${serviceId}'`,
    job_steps: `job_id in (select id from jobs where name = 'dedicated.provision' and payload ->> 'serviceId' = '${serviceId}')`,
    services: `id = ${serviceId}`,
    servers: `id = ${serverId}`,
    server_assignments: `server_id = ${serverId}`,
    server_starts: `assignment_id in (select id from server_assignments where server_id = ${serverId})`,
  };
  for (const t of kept) await q(`create table bk_${t} as select * from ${t} where ${which[t]}`);
}
async function restore(serviceId: number, sagas: readonly AnySaga[]) {
  // What a restore leaves: the rows as they were, and a restore that is not settled.
  await q(
    `update services t set status = b.status, provisioning_state = b.provisioning_state, duedate = b.duedate, period_start = b.period_start from bk_services b where b.id = t.id`,
  );
  await q(
    `update servers t set state = b.state, service_id = b.service_id from bk_servers b where b.id = t.id`,
  );
  await q(
    `update server_assignments t set state = b.state, plan = b.plan, ended_at = b.ended_at, heard_at = b.heard_at, step = b.step, erasures = b.erasures, failure = b.failure, failure_code = b.failure_code, tries = b.tries, powered_at = b.powered_at from bk_server_assignments b where b.id = t.id`,
  );
  await q(`delete from service_secrets where service_id = $1`, serviceId);
  await q(`delete from job_steps where job_id in (select id from bk_jobs)`);
  await q(`insert into job_steps select * from bk_job_steps`);
  await q(
    `update jobs t set state = 'stuck', worker = null, direction = 'forward', attempts = 0, finished_at = now(), error_code = null, error_step = null, error_message = null from bk_jobs b where b.id = t.id`,
  );
  await q(`insert into restores (made_at, restored_at) values (now(), now() + interval '1 day')`);
  // Settled before any worker takes it.
  await q(
    `update jobs set state = 'ready', finished_at = null, run_at = now() + interval '1 hour' where id in (select id from bk_jobs)`,
  );
  await settleRestore(world.product.ctx, sagas, async () => undefined);
  await q(
    'update restores set restored_at = (select max(opened_at) from server_assignments), released_at = now()',
  );
  const [job] = await q('select id::text as id, state from jobs where id in (select id from bk_jobs)');
  await q(`update jobs set run_at = now() where id in (select id from bk_jobs) and state = 'ready'`);
  return job;
}
async function deliveredWithBackup() {
  const { productId, first } = await stocked(['AMS']);
  const order = Promise.withResolvers<number>();
  first.does = {
    at: async (step) => {
      if (step !== 'write') return;
      await backup(await order.promise, first.id);
      first.does = {};
    },
  };
  const { serviceId } = await orderDedicated(customer, productId);
  order.resolve(serviceId);
  expect(await ended(serviceId)).toMatchObject({ status: 'active' });
  expect([first.wipes, first.bmc.power]).toEqual([1, 'on']);
  return { serviceId, first };
}

it('a server that was delivered since the backup starts its disks, and is left alone when staff tries again', async () => {
  const { serviceId, first } = await deliveredWithBackup();
  const job = await restore(serviceId, jobsOfCustomers);
  expect(job).toMatchObject({ state: 'stuck' });
  const answer = await world.starts(`52:54:00:0d:${String(made).padStart(2, '0')}:01`);
  expect(answer).not.toContain('innkeeper.token=');
  world.product.clock.travel(11 * 60_000);
  expect((await staff().post(`/staff/jobs/${job?.id}/retry`)).status).toBe(200);
  const again = await until(
    async () => (await q('select state, stuck_reason from jobs where id = $1', job?.id))[0],
    (each) => each?.state === 'stuck',
    60_000,
  );
  expect(again?.stuck_reason).toMatch(/is on and is left alone/);
  expect(first.wipes).toBe(1);
}, 180_000);

it('a server that the backup has in stock, and that runs, is not wiped for a new order', async () => {
  const { productId, first } = await stocked(['AMS']);
  const { serviceId } = await orderDedicated(customer, productId);
  expect(await ended(serviceId)).toMatchObject({ status: 'active' });
  await q(`update servers set state = 'ready', service_id = null where id = $1`, first.id);
  await q(
    `insert into restores (made_at, restored_at, settled_at, released_at) values (now(), now(), now(), now())`,
  );
  const next = await orderDedicated(customer, productId);
  expect((await ended(next.serviceId)).provisioning_state).toBe('failed');
  expect((await serverOf(first.id)).reason).toContain('may have been delivered since the backup');
  expect(first.wipes).toBe(1);
}, 180_000);

it('no server of another place is taken for addresses that are there', async () => {
  const { productId, first, second } = await stocked(['AMS', 'FRA']);
  first.bmc.failing = { silent: 'before' };
  const { serviceId } = await orderDedicated(customer, productId);
  await until(
    async () =>
      (
        await q(
          `select 1 from jobs where state = 'ready' and name = 'dedicated.provision' and payload ->> 'serviceId' = $1 and error_code is not null`,
          String(serviceId),
        )
      ).length,
    (n) => n > 0,
    60_000,
  );
  world.product.clock.travel(61 * 60_000);
  expect((await ended(serviceId)).provisioning_state).toBe('failed');
  expect((await serverOf(first.id)).state).toBe('quarantined');
  expect((await serverOf(second.id)).state).toBe('ready');
}, 300_000);

it('a server that greets is delivered, though its BMC is silent by then', async () => {
  const { productId, first, second } = await stocked(['AMS', 'AMS']);
  first.does = {
    at: async (step) => {
      if (step === 'boot') first.bmc.failing = { silent: 'before' };
    },
  };
  second.does = { isMute: true };
  const { serviceId } = await orderDedicated(customer, productId);
  expect(await ended(serviceId)).toMatchObject({ status: 'active' });
  expect((await serverOf(first.id)).state).toBe('rented');
}, 300_000);
