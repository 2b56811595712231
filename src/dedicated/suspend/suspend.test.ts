import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { hasty } from '../../../test/rack/hasty.ts';
import { newServerProduct, newServers, serverCart } from '../../../test/rack/stock.ts';
import { settled, sql } from '../../../test/sql.ts';
import { openBmcs, type SimulatedBmc, simulatedRack } from '../../drivers/bmc/index.ts';
import { findAssignment, openAssignment, rentServer } from '../../fleet/index.ts';
import { settleRestore, transaction } from '../../platform/index.ts';
import { completeDelivery, requireOrder } from '../../services/index.ts';
import { jobsOfCustomers } from '../../worker.ts';

const rack = simulatedRack();
let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct({
    env: { HYPERVISOR: 'simulator', NETWORK4: '10.82.0.0/24' },
    drivers: { bmc: hasty(openBmcs({ rack, offForMs: 0 }), 1_500) },
  });
  customer = await newCustomer(product, { creditMinor: 10_000_000 });
});
afterAll(() => product.stop());

// Nobody is waited for after its test.
const bmcs: SimulatedBmc[] = [];
afterEach(() => {
  for (const bmc of bmcs) bmc.failing = {};
});

let made = 0;
/** A server that the customer has, and that runs. */
async function rented() {
  made += 1;
  const address = `198.51.100.${made}`;
  const bmc = rack.put(address);
  bmc.power = 'on';
  bmcs.push(bmc);
  const productId = await newServerProduct(product);
  const { serverIds } = await newServers(product, productId, 1);
  const serverId = serverIds[0] ?? 0;
  const reached = { kind: 'simulated', address, user: 'root', password: 'factory-1' };
  await product.staff.patch(`/staff/servers/${serverId}`, { bmc: reached });
  const order = await customer.post('/cart/checkout/invoice', serverCart(productId));
  const id = order.body.data.service_ids[0] as number;
  await transaction(product.ctx, 'test.deliver', async (tx) => {
    const wanted = await requireOrder(tx, id);
    await completeDelivery(tx, wanted, { hostname: wanted.domain, primaryIp: null });
    await rentServer(tx, id);
  });
  await product.periodic('fleet.askBmcs');
  await settled(product);
  return { id, serverId, bmc, path: `/dashboard/service/${id}/dedicated` };
}

type Rented = Awaited<ReturnType<typeof rented>>;
const overview = async ({ path }: Rented) => (await customer.get(`${path}/overview`)).body.data.dedicated;
async function change({ id }: Rented, command: 'suspend' | 'unsuspend'): Promise<void> {
  const body = command === 'suspend' ? { reason: 'It attacks others' } : undefined;
  const answer = await product.staff.post(`/staff/services/${id}/${command}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}
async function changed(server: Rented, command: 'suspend' | 'unsuspend'): Promise<void> {
  await change(server, command);
  await settled(product);
}
const jobsOf = ({ id }: Rented, name: string) =>
  sql<{ state: string; error_code: string | null }>(
    product,
    `select state, error_code from jobs where name = $1 and payload @> jsonb_build_object('serviceId', $2::bigint) order by id`,
    name,
    id,
  );
const waitsFor = (server: Rented, name: string) =>
  until(
    () => jobsOf(server, name),
    (jobs) => jobs.at(-1)?.error_code === 'bmc_silent',
    60_000,
  );
const goes = ({ bmc }: Rented, power: 'on' | 'off', timeoutMs = 60_000) =>
  until(
    async () => bmc.power,
    (is) => is === power,
    timeoutMs,
  );

describe('the server of a suspended service', () => {
  it('is off, is not switched by its customer, and goes on as it was: nobody does anything by hand', async () => {
    const server = await rented();
    await changed(server, 'suspend');
    expect([server.bmc.power, (await overview(server)).state]).toEqual(['off', 'suspended']);
    for (const action of ['start', 'stop', 'restart']) {
      const answer = await customer.post(`${server.path}/${action}`, { force: true });
      expect([answer.status, answer.body.code]).toEqual([409, 'action_not_allowed']);
      expect(answer.body.message).toMatch(/suspended/);
    }
    expect(server.bmc.power).toBe('off');
    await changed(server, 'unsuspend');
    expect([server.bmc.power, (await overview(server)).state]).toEqual(['on', 'running']);
    expect(await sql(product, 'select task from service_tasks where service_id = $1', server.id)).toEqual([]);
  });

  it('that was off before stays off afterwards', async () => {
    const server = await rented();
    await customer.post(`${server.path}/stop`, {});
    await goes(server, 'off');
    await settled(product);
    await changed(server, 'suspend');
    await changed(server, 'unsuspend');
    expect([server.bmc.power, server.bmc.starts, (await overview(server)).state]).toEqual([
      'off',
      [],
      'stopped',
    ]);
  });

  it('loses its power where its system does not follow the button', async () => {
    const server = await rented();
    server.bmc.failing = { ignoresButton: true };
    await change(server, 'suspend');
    await goes(server, 'off');
    await settled(product);
    await changed(server, 'unsuspend');
    expect(server.bmc.power).toBe('on');
  });

  it('whose BMC is silent is switched off once it answers; its service is suspended all the same', async () => {
    const server = await rented();
    server.bmc.failing = { silent: 'before' };
    await change(server, 'suspend');
    await waitsFor(server, 'dedicated.suspend');
    expect((await overview(server)).state).toBe('suspended');
    expect(server.bmc.power).toBe('on');
    server.bmc.failing = {};
    product.clock.travel(10 * 60_000);
    await goes(server, 'off');
    await settled(product);

    server.bmc.failing = { silent: 'before' };
    await change(server, 'unsuspend');
    await waitsFor(server, 'dedicated.resume');
    server.bmc.failing = {};
    product.clock.travel(10 * 60_000);
    await goes(server, 'on');
    await settled(product);
    expect((await overview(server)).state).toBe('running');
  }, 120_000);

  it('that somebody switches on by its button is switched off again', async () => {
    const server = await rented();
    await changed(server, 'suspend');
    server.bmc.power = 'on';
    await product.periodic('dedicated.watchSuspended');
    await settled(product);
    await product.periodic('dedicated.watchSuspended');
    await settled(product);
    expect([server.bmc.power, (await jobsOf(server, 'dedicated.suspend')).length]).toEqual(['off', 2]);
    // What it was before is what counts.
    await changed(server, 'unsuspend');
    expect(server.bmc.power).toBe('on');
  });

  it('is not touched once the suspension was taken back while its BMC was silent', async () => {
    const server = await rented();
    server.bmc.failing = { silent: 'before' };
    await change(server, 'suspend');
    await waitsFor(server, 'dedicated.suspend');
    await change(server, 'unsuspend');
    server.bmc.failing = {};
    product.clock.travel(10 * 60_000);
    await until(
      async () => [
        ...(await jobsOf(server, 'dedicated.suspend')),
        ...(await jobsOf(server, 'dedicated.resume')),
      ],
      (jobs) => jobs.every(({ state }) => state === 'done'),
      60_000,
    );
    expect([server.bmc.power, server.bmc.starts]).toEqual(['on', []]);
  }, 120_000);

  it('that was on its way into the rescue system is off, its action has ended, and its disks start afterwards', async () => {
    const server = await rented();
    const asked = await customer.post(`${server.path}/rescue`, { enabled: true, password: 'Good-Pass-1' });
    expect(asked.status, JSON.stringify(asked.body)).toBe(200);
    await until(
      async () => server.bmc.starts,
      (starts) => starts.includes('network'),
      60_000,
    );
    await change(server, 'suspend');
    await goes(server, 'off');
    await settled(product);
    const { actions } = (await customer.get(`${server.path}/history`)).body.data;
    expect(actions).toMatchObject([{ command: 'rescue', status: 'error', error: { code: 'called_off' } }]);
    expect(await overview(server)).toMatchObject({ state: 'suspended', locked: false });
    await changed(server, 'unsuspend');
    expect([server.bmc.power, server.bmc.starts.at(-1)]).toEqual(['on', 'disk']);
    expect((await overview(server)).state).toBe('running');
  }, 120_000);

  it('that a rescue had off when it was called off is on again afterwards', async () => {
    const server = await rented();
    // Its BMC takes its time, so that the rescue is at it when the suspension comes.
    server.bmc.failing = { slowMs: 300 };
    const asked = await customer.post(`${server.path}/rescue`, { enabled: true, password: 'Good-Pass-1' });
    expect(asked.status, JSON.stringify(asked.body)).toBe(200);
    await goes(server, 'off');
    await changed(server, 'suspend');
    expect(server.bmc.power).toBe('off');
    await changed(server, 'unsuspend');
    expect([server.bmc.power, (await overview(server)).state]).toEqual(['on', 'running']);
  }, 120_000);

  it('whose button was pressed when it was paid goes off, and on again', async () => {
    const server = await rented();
    server.bmc.failing = { ignoresButton: true };
    await change(server, 'suspend');
    await until(
      () =>
        sql<{ steps: number }>(
          product,
          `select count(*)::int as steps from job_steps where job_id = (select max(id) from jobs where name = 'dedicated.suspend')`,
        ),
      ([row]) => (row?.steps ?? 0) >= 3,
      30_000,
    );
    await changed(server, 'unsuspend');
    expect([server.bmc.power, server.bmc.starts]).toEqual(['on', ['disk']]);
  }, 60_000);

  it('has nothing installed any more: what was under way is called off', async () => {
    const server = await rented();
    const assignment = await transaction(product.ctx, 'test.open', (tx) =>
      openAssignment(tx, server.serverId, { task: 'wipe', wipe: [] }, null),
    );
    await changed(server, 'suspend');
    expect(await findAssignment(product.ctx, assignment)).toMatchObject({ state: 'cancelled' });
  });
});

it('after a restore of the database nobody’s server is switched off before a person has looked', async () => {
  const server = await rented();
  server.bmc.failing = { silent: 'before' };
  await change(server, 'suspend');
  await waitsFor(server, 'dedicated.suspend');
  await sql(product, `insert into restores (made_at, restored_at) values (now(), now() + interval '1 day')`);
  await settleRestore(product.ctx, jobsOfCustomers, async () => undefined);
  server.bmc.failing = {};
  expect(await jobsOf(server, 'dedicated.suspend')).toMatchObject([{ state: 'stuck' }]);
  // Nor when it is tried again without that anybody has looked.
  const [stuck] = await sql<{ id: number }>(
    product,
    `select id from jobs where name = 'dedicated.suspend' and state = 'stuck'`,
  );
  const retried = await product.staff.post(`/staff/jobs/${stuck?.id}/retry`);
  expect(retried.status, JSON.stringify(retried.body)).toBe(200);
  await until(
    () => jobsOf(server, 'dedicated.suspend'),
    ([job]) => job?.state === 'failed' || job?.state === 'stuck' || job?.state === 'done',
    60_000,
  );
  expect([server.bmc.power, (await jobsOf(server, 'dedicated.suspend'))[0]?.state]).toEqual(['on', 'stuck']);
  // Also not by the look that is taken every minute.
  await sql(
    product,
    `update jobs set dismissed_at = now() where name = 'dedicated.suspend' and state in ('stuck', 'failed')`,
  );
  await product.periodic('dedicated.watchSuspended');
  await product.periodic('fleet.askBmcs');
  await settled(product);
  expect(server.bmc.power).toBe('on');
  await sql(product, 'update restores set released_at = now()');
  await product.periodic('dedicated.watchSuspended');
  await settled(product);
  await product.periodic('dedicated.watchSuspended');
  await settled(product);
  expect(server.bmc.power).toBe('off');
}, 120_000);
