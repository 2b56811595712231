import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { payByCredit } from '../../../test/invoices.ts';
import { orderVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import type { SimulatorOptions } from '../../drivers/hypervisor/index.ts';

type Call = keyof NonNullable<SimulatorOptions['delaysMs']>;

let product: TestProduct;
let customer: Person;
/** While a machine is being made: what happens at which call to the node. */
let meanwhile: { at: Call; happens: () => void } | null = null;
const delaysMs: NonNullable<SimulatorOptions['delaysMs']> = {};
beforeAll(async () => {
  const failure = (call: Call) => {
    if (meanwhile?.at === call) meanwhile.happens();
    return null;
  };
  product = await startTestProduct({ simulator: { delaysMs, failure } });
  customer = await newCustomer(product, { creditMinor: 1_000_000 });
});
afterAll(() => product.stop());

const refund = (invoiceId: number) =>
  product.staff.post(`/staff/invoices/${invoiceId}/refund`, { method: 'credit', reason: 'a mistake' });
const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;

/** What staff is told that needs a person: nothing does once the money was given back. */
async function forStaff(): Promise<unknown[]> {
  const jobs = (await product.staff.get('/staff/jobs')).body.data.jobs;
  return [...jobs, ...(await product.staff.get('/staff/attention')).body.data.concerns];
}

describe('a refund while the machine is being made', () => {
  const calls: Call[] = ['ensureImage', 'createDisk', 'writeIdentity', 'start'];

  it.each(calls)('at the step that calls %s takes the machine back and leaves nothing behind', async (at) => {
    const { invoiceId, serviceId } = await orderVps(product, customer);
    const refunded = Promise.withResolvers<Awaited<ReturnType<typeof refund>>>();
    delaysMs[at] = 1_500;
    meanwhile = { at, happens: () => refunded.resolve(refund(invoiceId)) };
    await payByCredit(customer, invoiceId);
    expect((await refunded.promise).status).toBe(200);
    meanwhile = null;
    delete delaysMs[at];
    await settled(product);

    expect(await service(serviceId)).toMatchObject({ status: 'cancelled', primary_ip: null });
    expect((await product.hypervisor.list()).map(({ id }) => id)).not.toContain(`vps-${serviceId}`);
    const { actions } = (await customer.get(`/dashboard/service/${serviceId}/vps/history`)).body.data;
    expect(actions[0]).toMatchObject({ command: 'create', status: 'error', error: { code: 'not_wanted' } });
    expect(actions[0].error.message).toMatch(/refunded/);
    const told = `select 1 from journal where action = 'service.provisioned' and subject_id = $1`;
    expect(await sql(product, told, serviceId)).toEqual([]);
    expect(await forStaff()).toEqual([]);
    const failed = `select 1 from journal where action = 'service.failed' and subject_id = $1`;
    expect(await sql(product, failed, serviceId)).toEqual([]);
    expect(await audit(product.databaseUrl)).toEqual([]);
  });

  it('at the very end either takes the machine back, or comes after what was delivered', async () => {
    for (let round = 0; round < 12; round += 1) {
      const { invoiceId, serviceId } = await orderVps(product, customer);
      const refunded = Promise.withResolvers<Awaited<ReturnType<typeof refund>>>();
      const happens = () => refunded.resolve(sleep(2 * round).then(() => refund(invoiceId)));
      meanwhile = { at: 'start', happens };
      await payByCredit(customer, invoiceId);
      expect((await refunded.promise).status).toBe(200);
      meanwhile = null;
      await settled(product);

      const told = await sql<{ action: string }>(
        product,
        `select action from journal where subject_id in ($1, $2)
           and action in ('service.provisioned', 'invoice.refunded') order by id`,
        ...[invoiceId, serviceId],
      );
      const { status } = await service(serviceId);
      const delivered = ['service.provisioned', 'invoice.refunded'];
      expect(told.map(({ action }) => action)).toEqual(
        status === 'active' ? delivered : ['invoice.refunded'],
      );
      expect(['active', 'cancelled']).toContain(status);
    }
    expect(await forStaff()).toEqual([]);
    expect(await audit(product.databaseUrl)).toEqual([]);
  });
});
