import { afterAll, beforeAll, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';

// Cards of the stand-in are Dutch.
let paid: PaidProduct;
beforeAll(async () => {
  const env = { TRUSTED_PROXIES: '127.0.0.1', COUNTRY_HEADER: 'CF-IPCountry' };
  paid = await startPaidProduct({ env });
  await paid.product.staff.patch('/staff/settings', { company: { country: 'NL' } });
  await paid.product.staff.post('/staff/tax/rates', {
    country: 'NL',
    rate: '21.00',
    valid_from: '2020-01-01',
  });
});
afterAll(() => paid.stop());

async function american(said: object = {}, creditMinor = 0): Promise<Person> {
  const person = await newCustomer(paid.product, { creditMinor });
  const { status } = await person.patch('/dashboard/billing/profile', { country: 'US', ...said });
  expect(status).toBe(200);
  return person;
}

async function byCard(person: Person, id: number): Promise<void> {
  const { body } = await person.post(`/dashboard/invoices/${id}/pay`, { method: 'card' });
  await paid.click(body.data.redirect_url);
  await until(
    () => person.get(`/dashboard/invoices/${id}`),
    ({ body: answer }) => answer.data.invoice.status === 'paid',
  );
  await settled(paid.product);
}

/** Pays 3.00 without tax, from credit, asked for from somewhere. */
async function fromCredit(person: Person, country: string): Promise<void> {
  const item = { id: paid.product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const headers = { 'x-forwarded-for': '198.51.100.7', 'cf-ipcountry': country };
  const { body } = await person.post('/cart/checkout/invoice', { products: [item] }, headers);
  expect((await payByCredit(person, body.data.invoice_id)).status).toBe(200);
}

interface Seen {
  kind: string;
  subject: { id: number };
  message: string;
}
const concern = async ({ organizationId }: Person) =>
  ((await paid.product.staff.get('/staff/attention')).body.data.concerns as Seen[]).find(
    ({ kind, subject }) => kind === 'tax.elsewhere' && subject.id === organizationId,
  );
async function unproven(): Promise<number> {
  const now = paid.product.clock.now();
  const quarter = `${now.getUTCFullYear()}-Q${Math.floor(now.getUTCMonth() / 3) + 1}`;
  const { rows } = (await paid.product.staff.get(`/staff/tax/report?quarter=${quarter}`)).body.data;
  return rows
    .filter(({ treatment }: { treatment: string }) => treatment === 'outside')
    .reduce((sum: number, row: { unproven: number }) => sum + row.unproven, 0);
}

it.each([
  ['a consumer', {}],
  ['a company', { kind: 'company', consumer: false }],
])(
  '%s who names a country without tax and pays by a card of one with it is shown to staff',
  async (_who, said) => {
    const before = await unproven();
    const person = await american(said);
    const id = await newInvoice(paid.product, person);
    expect((await person.get(`/dashboard/invoices/${id}`)).body.data.invoice.tax).toBe('0.00');
    expect(await concern(person)).toBeUndefined();
    await byCard(person, id);
    expect((await concern(person))?.message).toContain('as of US, while cards, banks or requests are of NL');
    expect(await unproven()).toBe(before + 1);
    // Staff has looked at it, and it is right.
    const tax = `/staff/organizations/${person.organizationId}/tax`;
    expect((await paid.product.staff.patch(tax, { exempt_reason: 'Seen: an embassy' })).status).toBe(200);
    expect(await concern(person)).toBeUndefined();
  },
);

it('credit that was bought with such a card shows it as well', async () => {
  const person = await american();
  const { body } = await person.post('/dashboard/credit/top-up', { amount: '10.00' });
  await byCard(person, body.data.invoice_id);
  expect(await concern(person)).toBeUndefined();
  await fromCredit(person, 'US');
  expect(await concern(person)).toBeDefined();
});

it('where a request came from counts, until a card of the country that was named says better', async () => {
  const [there, here] = [await american({}, 1_000), await american({}, 1_000)];
  await fromCredit(there, 'US');
  await fromCredit(here, 'NL');
  expect(await concern(there)).toBeUndefined();
  expect(await concern(here)).toBeDefined();
  await sql(
    paid.product,
    `insert into tax_evidence (invoice_id, organization_id, kind, country, noted_at)
     select id, organization_id, 'card', 'US', $2 from invoices where organization_id = $1`,
    ...[here.organizationId, paid.product.clock.now()],
  );
  expect(await concern(here)).toBeUndefined();
});

it('who says where they are after all pays from then on, and is not shown any more', async () => {
  const person = await american({}, 1_000);
  await fromCredit(person, 'NL');
  expect(await concern(person)).toBeDefined();
  await person.patch('/dashboard/billing/profile', { country: 'NL' });
  expect(await concern(person)).toBeUndefined();
});
