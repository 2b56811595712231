import { afterAll, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { HypervisorError } from '../../drivers/hypervisor/index.ts';

let product: TestProduct;
let isBroken = false;
beforeAll(async () => {
  product = await startTestProduct();
  const { hypervisor } = product;
  const { createSnapshot, deleteSnapshot } = hypervisor;
  const refuse = (message: string, permanent: boolean) => {
    if (isBroken) throw new HypervisorError('snapshot_failed', message, { permanent });
  };
  hypervisor.createSnapshot = async (...given) => {
    refuse('the disk is full', true);
    return createSnapshot(...given);
  };
  hypervisor.deleteSnapshot = async (...given) => {
    refuse('the disk does not answer', false);
    return deleteSnapshot(...given);
  };
});
afterAll(() => product.stop());

const at = (serviceId: number, path: string) => `/dashboard/service/${serviceId}/vps/${path}`;
const listed = async () => (await product.staff.get('/staff/jobs')).body.data.jobs;

it('an action whose way back keeps failing lets go of the machine, and staff brings it to its end', async () => {
  const { serviceId } = await runningVps(product, product.customer);
  isBroken = true;
  const { body } = await product.customer.post(at(serviceId, 'snapshots'), { name: 'one' });
  const [stuck] = await until(
    async () => {
      product.clock.travel(31_000);
      return listed();
    },
    ([job]) => job?.state === 'stuck',
  );
  expect(stuck).toMatchObject({ name: 'vps.create_snapshot', error_code: 'snapshot_failed' });
  expect(stuck.stuck_reason).toContain('keep: the disk does not answer');
  const { action } = (await product.customer.get(at(serviceId, `history/${body.data.action.id}`))).body.data;
  expect(action).toMatchObject({ status: 'error', error: { code: 'snapshot_failed' } });
  const { snapshots } = (await product.customer.get(at(serviceId, 'snapshots'))).body.data;
  expect(snapshots).toMatchObject([{ name: 'one', state: 'error' }]);

  // Nothing holds the machine any more.
  isBroken = false;
  expect((await product.customer.post(at(serviceId, 'restart'), {})).status).toBe(200);
  expect((await product.staff.post(`/staff/jobs/${stuck.id}/retry`)).status).toBe(200);
  await until(listed, ([job]) => job?.state === 'failed');
  const told = await sql(product, `select 1 from journal where action = 'vps.action.failed'`);
  expect(told).toHaveLength(1);
});

it('a stuck action that staff retries leaves alone what was made of the machine since', async () => {
  const { serviceId } = await runningVps(product, product.customer);
  const change = async (method: 'POST' | 'DELETE', path: string, body?: object) => {
    const answer = await product.customer.request(method, at(serviceId, path), body);
    return until(
      async () =>
        (await product.customer.get(at(serviceId, `history/${answer.body.data.action.id}`))).body.data.action,
      (action) => action.status === 'success' || action.status === 'error',
    );
  };
  const stuckJob = async () => {
    product.clock.travel(31_000);
    return (await listed()).find((job: { state: string }) => job.state === 'stuck');
  };
  isBroken = true;
  await product.customer.post(at(serviceId, 'snapshots'), { name: 'again' });
  const stuck = await until(stuckJob, (job) => job !== undefined);
  isBroken = false;
  expect(await change('DELETE', 'snapshots/again')).toMatchObject({ status: 'success' });
  expect(await change('POST', 'snapshots', { name: 'again' })).toMatchObject({ status: 'success' });

  await product.staff.post(`/staff/jobs/${stuck.id}/retry`);
  await until(listed, (jobs) =>
    jobs.some(({ id, state }: typeof stuck) => id === stuck.id && state === 'failed'),
  );
  expect(await change('POST', 'snapshots/again/restore', {})).toMatchObject({ status: 'success' });
});

it("an action on a machine of a node that is away waits, and is in staff's list", async () => {
  const { serviceId } = await runningVps(product, product.customer);
  const [node] = await sql<{ id: number }>(
    product,
    `insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, seen_at, created_at)
     values ('away', 'elsewhere', 1, 1, 1, now(), now()) returning id::int`,
  );
  await sql(product, 'update machines set node_id = $2 where service_id = $1', serviceId, node?.id);
  const { body } = await product.customer.post(at(serviceId, 'stop'), {});
  const waiting = await until(
    async () => (await listed()).filter((job: { state: string }) => job.state === 'waiting'),
    (jobs) => jobs.length > 0,
  );
  expect(waiting).toMatchObject([{ name: 'vps.stop', node_id: node?.id, error_code: null }]);
  const { action } = (await product.customer.get(at(serviceId, `history/${body.data.action.id}`))).body.data;
  expect(action).toMatchObject({ status: 'queued', error: null });
});
