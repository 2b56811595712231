import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { type StandInVies, startVies } from '../../drivers/vat/testbed.ts';
import { taxOf } from './taxOf.ts';

const frenchId = 'FR40303265045';
const ourId = 'DE136695976';
const day = 86_400_000;

let product: TestProduct;
let register: StandInVies;
beforeAll(async () => {
  register = await startVies([frenchId]);
  const proxied = { TRUSTED_PROXIES: '127.0.0.1', COUNTRY_HEADER: 'CF-IPCountry' };
  product = await startTestProduct({ env: { VAT: 'vies', VAT_URL: register.url, ...proxied } });
  await product.staff.patch('/staff/settings', {
    company: { country: 'DE', vat_id: 'DE 136 695 976' },
    tax: { one_stop_shop: true },
  });
  for (const [country, rate] of Object.entries({ DE: '19.00', FR: '20.00', HU: '27' }))
    await product.staff.post('/staff/tax/rates', { country, rate, valid_from: '2020-01-01' });
});
beforeEach(() => {
  register.mood = 'well';
  register.ids.add(frenchId);
  register.asked = [];
});
afterAll(async () => {
  await product.stop();
  await register.close();
});

const profile = '/dashboard/billing/profile';
const french = { kind: 'company', consumer: false, country: 'FR', tax_id: frenchId };

async function newBuyer(said: Record<string, unknown>): Promise<Person> {
  const person = await newCustomer(product, { creditMinor: 10_000 });
  const answer = await person.patch(profile, said);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  await settled(product);
  return person;
}

/** An invoice of 3.00 EUR without tax, as staff sees it. */
async function billed(person: Person, invoiceId?: number) {
  const id = invoiceId ?? (await newInvoice(product, person));
  return (await product.staff.get(`/staff/invoices/${id}`)).body.data.invoice;
}

const paid = async (person: Person) => {
  const id = await newInvoice(product, person);
  expect((await payByCredit(person, id)).status).toBe(200);
  return id;
};
const credit = async (person: Person) => (await person.get('/dashboard/invoices')).body.data.credit_balance;
const standing = async (person: Person) =>
  (await product.staff.get(`/staff/organizations/${person.organizationId}/tax`)).body.data.tax;
const bookedTax = async (invoiceId: number) => {
  const [row] = await sql<{ minor: number }>(
    product,
    `select coalesce(-sum(e.amount_minor), 0)::bigint as minor from ledger_entries e
     join ledger_accounts a on a.id = e.account_id and a.kind = 'tax'
     join ledger_transactions t on t.id = e.transaction_id where t.invoice_id = $1`,
    invoiceId,
  );
  return row?.minor;
};

/** So much later, the register is asked what is due, and what hung on it is corrected. */
async function later(days: number): Promise<void> {
  product.clock.travel(days * day);
  await product.periodic('billing.askTaxIds');
  await settled(product);
  await product.periodic('billing.correctTaxes');
  await settled(product);
}

describe('a company of another country of the union', () => {
  it('with a valid VAT id owes the tax itself, and the proof stays with the invoice', async () => {
    const person = await newBuyer(french);
    expect(register.asked).toEqual([{ vatId: frenchId, requester: ourId }]);
    expect(await standing(person)).toMatchObject({
      treatment: 'reverse_charge',
      tax_id: { state: 'valid', checked_by: 'register', registered_name: 'BEISPIEL GMBH', failure: null },
    });
    // Told again as it is, nobody is asked anew.
    await person.patch(profile, { ...french, tax_id: ` ${frenchId.toLowerCase()} ` });
    await settled(product);
    expect(register.asked).toHaveLength(1);
    const quote = await person.post('/cart/quote', {
      products: [{ id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' }],
    });
    const invoice = await billed(person);
    expect(quote.body.data.total).toBe(invoice.total);
    expect(invoice).toMatchObject({
      ...{ total: '3.00', tax: '0.00', tax_rate: '0.00', tax_country: 'FR', tax_exempt: true },
      ...{ tax_treatment: 'reverse_charge', tax_reason: null, tax_consumer: false, tax_awaits: false },
      tax_evidence: [],
    });
    expect(invoice.tax_proof).toEqual({
      tax_id: frenchId,
      state: 'valid',
      checked_at: expect.stringMatching(/^\d{4}-/),
      consultation_number: expect.stringMatching(/^WAPI/),
    });
  });

  it('with an id that nobody has is taxed, and told so by mail once', async () => {
    register.ids.delete(frenchId);
    const person = await newBuyer(french);
    const invoice = await billed(person);
    expect(invoice).toMatchObject({ total: '3.60', tax_country: 'FR', tax_awaits: false });
    expect(invoice.tax_proof.state).toBe('invalid');
    await later(2);
    const mails = await sql<{ subject: string }>(
      product,
      `select subject from mails where organization_id = $1 and template = 'tax_id.checked'`,
      person.organizationId,
    );
    expect(mails.map(({ subject }) => subject)).toEqual([`The VAT id ${frenchId} is not valid`]);
  });

  it('is sold to while the register is away for a week, taxed, and given the tax back once it answers', async () => {
    register.mood = 'down';
    const person = await newBuyer(french);
    const id = await paid(person);
    expect(await billed(person, id)).toMatchObject({
      ...{ total: '3.60', tax: '0.60', tax_treatment: 'taxed', tax_awaits: true },
      tax_proof: { state: 'unknown', checked_at: null, consultation_number: null },
    });
    for (let days = 0; days < 7; days += 1) await later(1);
    expect(await standing(person)).toMatchObject({ tax_id: { state: 'unknown', tries: expect.any(Number) } });
    const { concerns } = (await product.staff.get('/staff/attention')).body.data;
    expect(JSON.stringify(concerns)).toContain('tax_id.unknown');
    expect(await credit(person)).toBe('96.40');

    register.mood = 'well';
    await later(1);
    expect(await credit(person)).toBe('97.00');
    expect(await bookedTax(id)).toBe(0);
    expect(await billed(person, id)).toMatchObject({
      ...{ total: '3.60', refunded: '0.60', status: 'partially_refunded', tax_awaits: false },
      tax_proof: { state: 'valid', consultation_number: expect.stringMatching(/^WAPI/) },
    });
    await later(1);
    expect(await credit(person)).toBe('97.00');
    expect(await billed(person)).toMatchObject({ total: '3.00', tax_treatment: 'reverse_charge' });
  });

  it('that has the tax back gets what is left of a service that it cancels, and no tax a second time', async () => {
    register.mood = 'down';
    const person = await newBuyer(french);
    const id = await newInvoice(product, person, 2);
    expect((await payByCredit(person, id)).status).toBe(200);
    register.mood = 'well';
    await later(1);
    expect(await billed(person, id)).toMatchObject({ total: '7.20', refunded: '1.20' });
    const [one, other] = (await billed(person, id)).items.map(
      ({ service_id }: { service_id: number }) => service_id,
    );
    const cancel = async (service: number) =>
      (await person.post(`/dashboard/services/${service}/cancel`, { type: 'immediate' })).body.data.refund;
    expect(await cancel(one)).toMatchObject({ because: 'not_delivered', total: '3.00' });
    expect(await cancel(other)).toMatchObject({ total: '3.00' });
    expect(await credit(person)).toBe('100.00');
  });

  it('that pays after the answer came gets the tax back then', async () => {
    register.mood = 'state_away';
    const person = await newBuyer(french);
    const id = await newInvoice(product, person);
    register.mood = 'well';
    await later(0.5);
    expect(await billed(person, id)).toMatchObject({ status: 'unpaid', tax_awaits: true, refunded: '0.00' });
    await payByCredit(person, id);
    await later(0);
    expect(await credit(person)).toBe('97.00');
    expect(await bookedTax(id)).toBe(0);
  });

  it.each([
    ['before', '1.80'],
    ['after', '1.50'],
  ])('with a refund %s the correction gets back what it paid and not a cent more', async (when, part) => {
    const person = await newCustomer(product, { creditMinor: 10_000 });
    register.mood = 'too_many';
    await person.patch(profile, french);
    await settled(product);
    const id = await paid(person);
    const refund = (amount?: string) =>
      product.staff.post(`/staff/invoices/${id}/refund`, { amount, reason: 'A part', method: 'credit' });
    if (when === 'before') expect((await refund(part)).status).toBe(200);
    register.mood = 'well';
    await later(1);
    if (when === 'after') expect((await refund(part)).status).toBe(200);
    expect((await refund()).status).toBe(200);
    expect(await credit(person)).toBe('100.00');
    expect(await bookedTax(id)).toBe(0);
    expect(await billed(person, id)).toMatchObject({ status: 'refunded', refunded: '3.60' });
  });

  it('is trusted where the provider says so, and staff is told when that was wrong', async () => {
    await product.staff.patch('/staff/settings', { tax: { unknown_tax_id: 'reverse_charge' } });
    register.mood = 'garbage';
    register.ids.delete(frenchId);
    const person = await newBuyer(french);
    await product.staff.patch('/staff/settings', { tax: { unknown_tax_id: 'tax' } });
    expect(await billed(person)).toMatchObject({ tax_treatment: 'taxed' });
    await product.staff.patch('/staff/settings', { tax: { unknown_tax_id: 'reverse_charge' } });
    const id = await paid(person);
    await product.staff.patch('/staff/settings', { tax: { unknown_tax_id: 'tax' } });
    expect(await billed(person, id)).toMatchObject({
      total: '3.00',
      tax_treatment: 'reverse_charge',
      tax_awaits: true,
    });
    register.mood = 'well';
    await later(1);
    const { concerns } = (await product.staff.get('/staff/attention')).body.data;
    expect(concerns).toContainEqual(
      expect.objectContaining({ kind: 'tax.missing', subject: { type: 'invoice', id } }),
    );
  });

  it('whose id ends is taxed from the next invoice on', async () => {
    const person = await newBuyer(french);
    expect(await billed(person)).toMatchObject({ tax_treatment: 'reverse_charge' });
    register.ids.delete(frenchId);
    await later(31);
    expect(await billed(person)).toMatchObject({ tax_treatment: 'taxed', tax_proof: { state: 'invalid' } });
  });

  it('that was valid stays so while the register is away', async () => {
    const person = await newBuyer(french);
    register.mood = 'down';
    await later(31);
    await later(7);
    expect(await billed(person)).toMatchObject({ tax_treatment: 'reverse_charge', tax_awaits: false });
  });

  it('is looked up by staff where the register cannot', async () => {
    register.mood = 'down';
    const person = await newBuyer(french);
    const path = `/staff/organizations/${person.organizationId}/tax`;
    const proof = { tax_id_state: 'valid', consultation_number: 'by phone, 17 March' };
    expect((await product.staff.patch(path, proof)).body.data.tax).toMatchObject({
      treatment: 'reverse_charge',
      tax_id: {
        state: 'valid',
        checked_by: 'staff',
        consultation_number: 'by phone, 17 March',
        next_ask_at: null,
      },
    });
    expect((await billed(person)).tax_proof.consultation_number).toBe('by phone, 17 March');
    // Nothing is asked behind staff's back, until staff says so.
    await later(40);
    expect(register.asked.filter(({ vatId }) => vatId === frenchId).length).toBeGreaterThan(0);
    register.mood = 'well';
    register.asked = [];
    await product.staff.patch(path, { tax_id_state: 'unknown' });
    await settled(product);
    expect(register.asked).toEqual([{ vatId: frenchId, requester: ourId }]);
  });

  it('that has told no VAT id is none that staff could speak of', async () => {
    const person = await newBuyer({ country: 'US', consumer: false, tax_id: '12-3456789' });
    const path = `/staff/organizations/${person.organizationId}/tax`;
    // Whatever the journeys of the clock made due is done by now, and not meanwhile.
    await product.periodic('billing.expire');
    await settled(product);
    const before = await contents(product);
    const answer = await product.staff.patch(path, { tax_id_state: 'valid' });
    expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
    expect(await contents(product)).toEqual(before);
  });
});

describe('a consumer', () => {
  it('is taxed where it lives, and what shows it is kept with the invoice', async () => {
    const person = await newBuyer({ country: 'HU', address_line1: 'Fő utca 1', declared_country: 'HU' });
    const order = {
      products: [{ id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' }],
    };
    const headers = { 'x-forwarded-for': '198.51.100.7', 'cf-ipcountry': 'hu' };
    const { body } = await person.post('/cart/checkout/invoice', order, headers);
    expect(body.data.total).toBe('3.81');
    const invoice = await billed(person, body.data.invoice_id);
    expect(invoice).toMatchObject({
      tax_country: 'HU',
      tax_rate: '27.00',
      tax_consumer: true,
      tax_proof: null,
    });
    expect(invoice.tax_evidence.map(({ kind, country }: Record<string, string>) => [kind, country])).toEqual([
      ['address', 'HU'],
      ['declaration', 'HU'],
      ['ip', 'HU'],
    ]);
  });

  it.each([
    ['no proxy forwarded', { 'cf-ipcountry': 'AT' }],
    ['is no country', { 'x-forwarded-for': '198.51.100.7', 'cf-ipcountry': 'T1' }],
    ['is text', { 'x-forwarded-for': '198.51.100.7', 'cf-ipcountry': "A'" }],
  ])('is nowhere by a country that %s', async (_, headers) => {
    const person = await newBuyer({ country: 'HU' });
    const order = { products: [{ id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' }] };
    const { body } = await person.post('/cart/checkout/invoice', order, headers);
    expect((await billed(person, body.data.invoice_id)).tax_evidence).toEqual([]);
  });
});

describe('an exemption', () => {
  it('takes the tax off, and its reason stands on the invoice', async () => {
    const person = await newBuyer({ country: 'DE' });
    const path = `/staff/organizations/${person.organizationId}/tax`;
    expect((await billed(person)).total).toBe('3.57');
    await product.staff.patch(path, { exempt_reason: 'Embassy' });
    const { invoice } = (await person.get(`/dashboard/invoices/${await newInvoice(product, person)}`)).body
      .data;
    expect(invoice).toMatchObject({
      total: '3.00',
      tax_treatment: 'exempt',
      tax_reason: 'Embassy',
      tax_country: 'DE',
    });
    await product.staff.patch(path, { exempt_reason: null });
    expect((await billed(person)).total).toBe('3.57');
  });
});

describe('a rate', () => {
  it('is that of the day of supply', async () => {
    const today = product.clock.now();
    const on = (days: number) => new Date(today.getTime() + days * day).toISOString().slice(0, 10);
    const added = await product.staff.post('/staff/tax/rates', {
      country: 'SE',
      rate: '25',
      valid_from: on(-100),
    });
    await product.staff.post('/staff/tax/rates', { country: 'SE', rate: '26.5', valid_from: on(10) });
    const { body } = await product.staff.get(`/staff/tax/rates/${added.body.data.rate.id}`);
    expect(body.data.rate).toMatchObject({ rate: '25.00', valid_from: on(-100), valid_until: on(9) });
    const person = await newBuyer({ country: 'SE' });
    const rateOn = async (suppliedOn: string) => {
      const tax = await taxOf(product.ctx, person.organizationId, { lock: false, suppliedOn });
      return [tax.treatment, tax.country, tax.rateBasisPoints];
    };
    expect([await rateOn(on(9)), await rateOn(on(10)), await rateOn(on(-101))]).toEqual([
      ['taxed', 'SE', 2_500],
      ['taxed', 'SE', 2_650],
      ['taxed', 'DE', 1_900],
    ]);
    expect((await billed(person)).tax_rate).toBe('25.00');
  });

  it('ends on a day, after which another may begin', async () => {
    const rate = { country: 'NO', rate: '25.00', valid_from: '2024-01-01' };
    const { id } = (await product.staff.post('/staff/tax/rates', rate)).body.data.rate;
    const end = (valid_until: string) => product.staff.post(`/staff/tax/rates/${id}/end`, { valid_until });
    expect((await end('2023-12-31')).body.details[0].field).toBe('valid_until');
    expect((await end('2024-06-30')).body.data.rate).toMatchObject({ valid_until: '2024-06-30' });
    expect((await end('2024-06-30')).status).toBe(409);
    const again = await product.staff.post('/staff/tax/rates', {
      ...rate,
      rate: '20',
      valid_from: '2024-07-01',
    });
    expect(again.status).toBe(200);
    const { rates } = (await product.staff.get('/staff/tax/rates?country=NO&sort=valid_from')).body.data;
    expect(rates.map((each: Record<string, unknown>) => [each.rate, each.valid_until])).toEqual([
      ['25.00', '2024-06-30'],
      ['20.00', null],
    ]);
  });

  it('is taken back only before it counts', async () => {
    const add = async (valid_from: string) =>
      (await product.staff.post('/staff/tax/rates', { country: 'CH', rate: '8.1', valid_from })).body.data
        .rate.id;
    const [counts, waits] = [await add('2024-01-01'), await add('2098-01-01')];
    expect((await product.staff.delete(`/staff/tax/rates/${counts}`)).status).toBe(409);
    expect((await product.staff.delete(`/staff/tax/rates/${waits}`)).status).toBe(200);
    expect((await product.staff.get(`/staff/tax/rates/${waits}`)).status).toBe(404);
  });

  it.each([
    ['a country that is none', { country: 'XX' }],
    ['more than all', { rate: '100.01' }],
    ['less than nothing', { rate: '-1' }],
    ['too many digits', { rate: '19.125' }],
    ['a number', { rate: 19 }],
    ['no day', { valid_from: '2024-02-30' }],
  ])('of %s is refused, and nothing changes', async (_, change) => {
    await settled(product);
    const before = await contents(product);
    const rate = { country: 'IT', rate: '22.00', valid_from: '2024-01-01', ...change };
    expect((await product.staff.post('/staff/tax/rates', rate)).status).toBe(400);
    expect(await contents(product)).toEqual(before);
  });

  it('of a day that has one is refused', async () => {
    const rate = { country: 'BE', rate: '21.00', valid_from: '2024-01-01' };
    const answers = await Promise.all([1, 2, 3].map(() => product.staff.post('/staff/tax/rates', rate)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  });
});

describe('prices with the tax inside', () => {
  it('are what everybody pays, and the tax is what is inside of them', async () => {
    await product.staff.patch('/staff/settings', { tax: { prices: 'gross' } });
    const cart = { products: [{ id: await newHosting(product, 1_190), cycle: 'monthly', type: 'Hosting' }] };
    for (const [said, tax] of [
      [{ country: 'DE' }, '1.90'],
      [{ country: 'HU' }, '2.53'],
      [{ country: 'US' }, '0.00'],
    ] as const) {
      const person = await newBuyer(said);
      const quote = (await person.post('/cart/quote', cart)).body.data;
      const { invoice_id: id, ...order } = (await person.post('/cart/checkout/invoice', cart)).body.data;
      expect(order).toMatchObject({ subtotal: '11.90', tax, total: '11.90' });
      expect([quote.subtotal, quote.tax, quote.total]).toEqual([order.subtotal, order.tax, order.total]);
      await payByCredit(person, id);
      expect(await billed(person, id)).toMatchObject({
        tax_included: true,
        total: '11.90',
        tax,
        status: 'paid',
      });
      expect(await bookedTax(id)).toBe(Math.round(Number(tax) * 100));
    }
    await product.staff.patch('/staff/settings', { tax: { prices: 'net' } });
  });
});

describe('a visitor', () => {
  it('is quoted with the tax of the provider’s country', async () => {
    const cart = { products: [{ id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' }] };
    expect((await product.nobody.post('/cart/quote', cart)).body.data).toMatchObject({
      tax: '0.57',
      total: '3.57',
    });
  });
});
