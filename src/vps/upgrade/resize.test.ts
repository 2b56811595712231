import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { HypervisorError } from '../../drivers/hypervisor/index.ts';
import { transaction } from '../../platform/index.ts';
import { resize } from './resize.ts';

let product: TestProduct;
let customer: Person;
let id: number;

beforeAll(async () => {
  product = await startTestProduct();
});
beforeEach(async () => {
  customer = await newCustomer(product, { creditMinor: 50_000 });
  ({ serviceId: id } = await runningVps(product, customer));
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => product.stop());

interface ResizeJob {
  state: string;
  attempts: number;
  error_code: string | null;
  payload: { actionId: number };
}

async function resizeJob(): Promise<ResizeJob | undefined> {
  const rows = await sql<ResizeJob>(
    product,
    `select state, attempts, error_code, payload from jobs
     where name = 'vps.resize' and (payload->>'serviceId')::bigint = $1 order by id desc`,
    id,
  );
  return rows[0];
}

const upgrade = (change: object) => customer.post(`/dashboard/services/${id}/upgrade-vps`, change);
const history = (actionId?: number) => customer.get(`/dashboard/service/${id}/vps/history/${actionId}`);

async function pay(change: object): Promise<void> {
  const { invoice_id } = (await upgrade(change)).body.data;
  await customer.post(`/dashboard/invoices/${invoice_id}/pay`, { method: 'credit' });
}

/** As if every pause were over, and `attempts` of them were behind us; once, however often it is asked for. */
const hurry = (attempts: number) =>
  sql(
    product,
    `update jobs set run_at = '2000-01-01', attempts = $2
     where name = 'vps.resize' and state = 'ready' and attempts < $2 and (payload->>'serviceId')::bigint = $1`,
    ...[id, attempts],
  );

describe('a resize', () => {
  it('that was paid waits for as long as another action is at work, and can be polled meanwhile', async () => {
    await sql(
      product,
      `insert into vps_actions (id, organization_id, service_id, command, status, initiator_type, created_at)
       values (floor(random() * 1e15), $1, $2, 'create_backup', 'running', 'system', now())`,
      ...[customer.organizationId, id],
    );
    await pay({ option1: 2 });
    await until(resizeJob, (job) => job?.error_code === 'locked');
    await until(
      async () => {
        await hurry(5_000);
        return resizeJob();
      },
      (job) => job?.state === 'failed' || (job?.attempts ?? 0) > 5_000,
    );
    expect(await resizeJob()).toMatchObject({ state: 'ready', error_code: 'locked' });

    const { actionId } = (await resizeJob())?.payload ?? {};
    const waiting = await history(actionId);
    expect(waiting.body.data?.action).toMatchObject({ id: actionId, command: 'resize', status: 'queued' });
    const overview = (await customer.get(`/dashboard/service/${id}/vps/overview`)).body.data.vps;
    expect(overview.current_action).toMatchObject({ command: 'create_backup', status: 'running' });
    const listed = (await customer.get(`/dashboard/service/${id}/vps/history`)).body.data.actions;
    expect(listed.map((action: { id: number }) => action.id)).toContain(actionId);
    const stranger = await newCustomer(product);
    expect((await stranger.get(`/dashboard/service/${id}/vps/history/${actionId}`)).status).toBe(403);
    expect((await history(4_242)).status).toBe(404);

    await sql(product, `delete from vps_actions where service_id = $1 and command = 'create_backup'`, id);
    await hurry(10_000);
    await settled(product);
    expect((await history(actionId)).body.data.action).toMatchObject({
      status: 'success',
      command: 'resize',
    });
  });

  it('that is stuck while it waits leaves the machine to the action that is at work on it', async () => {
    const stuck = (actionId: number) =>
      transaction(product.ctx, 'test.stuck', async (tx) => {
        const payload = { serviceId: id, organizationId: customer.organizationId, actionId };
        const failure = { step: 'open', code: 'internal', message: 'the database refuses it' };
        await resize.stuck?.(tx, payload, failure);
      });
    await pay({ option1: 2 });
    await until(resizeJob, (job) => job?.state === 'done');
    for (const state of ['running', 'restoring', 'resizing']) {
      await sql(product, `update machines set state = $2 where service_id = $1`, id, state);
      const actionId = Math.floor(Math.random() * 1e15);
      await sql(
        product,
        `insert into vps_actions (id, organization_id, service_id, command, status, waits, initiator_type, created_at)
         values ($1, $2, $3, 'resize', 'queued', true, 'system', now())`,
        ...[actionId, customer.organizationId, id],
      );
      await stuck(actionId);
      const [row] = await sql(product, 'select state from machines where service_id = $1', id);
      expect(row).toEqual({ state });
      expect((await history(actionId)).body.data.action.status).toBe('error');
    }
  });

  it('takes the power of a guest that ignores its button', async () => {
    vi.spyOn(product.hypervisor, 'shutdown').mockRejectedValue(
      new HypervisorError('shutdown_timeout', 'it still runs'),
    );
    const powerOff = vi.spyOn(product.hypervisor, 'powerOff');
    await pay({ option1: 2 });
    await until(resizeJob, (job) => job?.state === 'done');
    expect(powerOff).toHaveBeenCalledTimes(1);
  });

  it('that is interrupted while the guest shuts down leaves it its time', async () => {
    vi.spyOn(product.hypervisor, 'shutdown').mockRejectedValueOnce(
      new DOMException('the product stops', 'AbortError'),
    );
    const powerOff = vi.spyOn(product.hypervisor, 'powerOff');
    await pay({ option1: 2 });
    await until(resizeJob, (job) => job?.state === 'done');
    expect(powerOff).not.toHaveBeenCalled();
  });

  it('that fails tells the customer nothing of the inside', async () => {
    vi.spyOn(product.hypervisor, 'resize').mockRejectedValue(
      new HypervisorError('disk_failed', 'qemu-img resize /srv/x', { permanent: true }),
    );
    await pay({ option1: 2 });
    await until(resizeJob, (job) => job?.state === 'failed');
    const { actionId } = (await resizeJob())?.payload ?? {};
    const { error } = (await history(actionId)).body.data.action;
    expect(error.code).toBe('disk_failed');
    expect(error.message).not.toMatch(/qemu|srv/);
  });
});
