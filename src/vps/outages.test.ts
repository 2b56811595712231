import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { payByCredit } from '../../test/invoices.ts';
import { orderVps, runningVps } from '../../test/orders.ts';
import { newCustomer, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';
import { settled, sql } from '../../test/sql.ts';
import { HypervisorError } from '../drivers/hypervisor/index.ts';

let product: TestProduct;
let customer: Person;
/** Calls of the node's driver that fail. */
let failing = /^$/;
beforeAll(async () => {
  const failure = (call: string) =>
    failing.test(call) ? new HypervisorError('disk_failed', 'the disk is full') : null;
  product = await startTestProduct({ simulator: { failure } });
});
beforeEach(async () => {
  failing = /^$/;
  customer = await newCustomer(product, { creditMinor: 100_000 });
});
afterAll(() => product.stop());

const serviceOf = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;
/** Until the job has been tried often enough; the pauses pass at once. */
async function ends(name: string, how: 'failed' | 'stuck' = 'failed'): Promise<void> {
  await until(
    async () => {
      product.clock.travel(31_000);
      return sql<{ state: string }>(
        product,
        'select state from jobs where name = $1 order by id desc limit 1',
        name,
      );
    },
    ([job]) => job?.state === how,
  );
}
async function anHourLater(): Promise<void> {
  product.clock.travel(61 * 60_000);
  await product.periodic('jobs.heal');
  await settled(product);
}
const failed = () => sql(product, `select name from jobs where state in ('failed', 'stuck')`);

describe('while the disk of a node is full', () => {
  it('a paid order waits, is tried every hour, and is delivered without a hand once there is room', async () => {
    const { serviceId, invoiceId } = await orderVps(product, customer);
    failing = /createDisk/;
    await payByCredit(customer, invoiceId);
    await ends('vps.provision');
    expect(await serviceOf(serviceId)).toMatchObject({ status: 'pending', provisioning_state: 'failed' });
    await anHourLater();
    expect(await serviceOf(serviceId)).toMatchObject({ status: 'pending', provisioning_state: 'failed' });
    failing = /^$/;
    await anHourLater();
    expect(await serviceOf(serviceId)).toMatchObject({ status: 'active', provisioning_state: 'done' });
    expect(await failed()).toEqual([]);
  });

  it('it is also when it failed by a clock that was ahead', async () => {
    const { serviceId, invoiceId } = await orderVps(product, customer);
    failing = /createDisk/;
    product.clock.travel(400 * 86_400_000);
    await payByCredit(customer, invoiceId);
    await ends('vps.provision');
    product.clock.travel(-400 * 86_400_000);
    failing = /^$/;
    await anHourLater();
    expect(await serviceOf(serviceId)).toMatchObject({ status: 'active' });
  });

  it('one whose money was given back meanwhile is not', async () => {
    const { serviceId, invoiceId } = await orderVps(product, customer);
    failing = /createDisk/;
    await payByCredit(customer, invoiceId);
    await ends('vps.provision');
    const back = { reason: 'It takes too long', method: 'credit' };
    expect((await product.staff.post(`/staff/invoices/${invoiceId}/refund`, back)).status).toBe(200);
    await settled(product);
    failing = /^$/;
    await anHourLater();
    expect(await serviceOf(serviceId)).toMatchObject({ status: 'cancelled' });
    expect(await product.hypervisor.list()).not.toContainEqual(
      expect.objectContaining({ id: `vps-${serviceId}` }),
    );
    expect(await failed()).toEqual([]);
  });

  it('what could not even be taken away is, and goes on from there', async () => {
    const { serviceId, invoiceId } = await orderVps(product, customer);
    failing = /createDisk|destroy/;
    await payByCredit(customer, invoiceId);
    await ends('vps.provision', 'stuck');
    await anHourLater();
    await ends('vps.provision', 'stuck');
    failing = /^$/;
    await anHourLater();
    await anHourLater();
    expect(await serviceOf(serviceId)).toMatchObject({ status: 'active' });
    expect(await failed()).toEqual([]);
  });

  it.each([
    ['suspend', 'stopped'],
    ['terminate', 'absent'],
  ])('the machine of a service that staff has to %s goes once its node can', async (what, power) => {
    const { serviceId } = await runningVps(product, customer);
    failing = /shutdown|powerOff|destroy/;
    const asked = await product.staff.post(`/staff/services/${serviceId}/${what}`, {
      reason: 'It sends spam',
    });
    expect(asked.status, JSON.stringify(asked.body)).toBe(200);
    await ends(`vps.${what}`);
    failing = /^$/;
    await anHourLater();
    expect((await product.hypervisor.inspect(`vps-${serviceId}`)).power).toBe(power);
    expect(await failed()).toEqual([]);
  });
});
