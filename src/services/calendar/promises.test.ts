import { afterAll, beforeAll, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { newCustomer, newStaff, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled } from '../../../test/sql.ts';

let product: TestProduct;
let customer: Person;
let id: number;
beforeAll(async () => {
  product = await startTestProduct();
  product.clock.set(new Date('2027-04-01T09:30:00Z'));
  customer = await newCustomer(product, { creditMinor: 100_000 });
  const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const { data } = (await customer.post('/cart/checkout/invoice', { products: [item] })).body;
  [id] = data.service_ids;
  await payByCredit(customer, data.invoice_id);
  await settled(product);
});
afterAll(() => product.stop());

const ofService = async (by = product.staff) =>
  (await by.get(`/staff/services/${id}/promise`)).body.data.promise;
const ofAll = async () =>
  (await product.staff.get(`/staff/organizations/${customer.organizationId}/promise`)).body.data.promise;
const own = async () => (await customer.get(`/dashboard/services/${id}/promise`)).body.data.promise;
const shown = async () => (await customer.get(`/dashboard/services/${id}`)).body.data.service.promised_until;
const promise = (until: string | null, note?: string) =>
  product.staff.post(`/staff/services/${id}/promise`, { until, ...(note && { note }) });
const promiseAll = (until: string | null) =>
  product.staff.post(`/staff/organizations/${customer.organizationId}/promise`, { until });

it('a promise is read by staff and customer, shown on the service, and over after its last day', async () => {
  expect([await ofService(), await own(), await shown()]).toEqual([null, null, null]);
  await promise('2027-04-10', 'By telephone, sounded ill');
  const whole = { organization_id: customer.organizationId, service_id: id, until: '2027-04-10' };
  expect(await ofService()).toEqual({ ...whole, note: 'By telephone, sounded ill' });
  expect(await ofAll()).toBeNull();
  // What staff noted is for staff.
  expect(await own()).toEqual({ service_id: id, until: '2027-04-10' });
  expect(await shown()).toBe('2027-04-10');

  product.clock.set(new Date('2027-04-10T23:59:59Z'));
  expect([await shown(), (await own())?.until]).toEqual(['2027-04-10', '2027-04-10']);
  product.clock.set(new Date('2027-04-11T00:00:00Z'));
  expect([await ofService(), await own(), await shown()]).toEqual([null, null, null]);
});

it('of a promise for a service and one for all of them the longer one counts', async () => {
  await promise('2027-04-20');
  await promiseAll('2027-04-25');
  expect(await own()).toEqual({ service_id: null, until: '2027-04-25' });
  expect(await ofService()).toMatchObject({ service_id: null, until: '2027-04-25' });
  expect(await ofAll()).toMatchObject({ service_id: null, until: '2027-04-25' });
  expect(await shown()).toBe('2027-04-25');
  await promiseAll(null);
  expect([(await own())?.until, await ofAll(), await shown()]).toEqual(['2027-04-20', null, '2027-04-20']);
  await promise(null);
  expect([await own(), await shown()]).toEqual([null, null]);
});

it('is nobody else’s to read, and of nothing there is none', async () => {
  const stranger = await newCustomer(product, {});
  expect((await stranger.get(`/dashboard/services/${id}/promise`)).status).toBe(403);
  expect((await customer.get('/dashboard/services/4242/promise')).status).toBe(404);
  expect((await product.staff.get('/staff/services/4242/promise')).status).toBe(404);
  expect((await product.staff.get('/staff/organizations/4242/promise')).status).toBe(404);
  expect((await (await newStaff(product, 'operator')).get(`/staff/services/${id}/promise`)).status).toBe(403);
  expect((await (await newStaff(product, 'support')).get(`/staff/services/${id}/promise`)).status).toBe(200);
});
