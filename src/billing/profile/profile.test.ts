import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { plainTaxId } from './taxId.ts';

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct();
  customer = await newCustomer(product, { country: 'CZ' });
});
afterAll(() => product.stop());

const path = '/dashboard/billing/profile';
const company = {
  kind: 'company',
  consumer: false,
  name: 'Novák & Søn “Łódź” GmbH',
  address_line1: 'Lindenweg 7',
  address_line2: 'Hinterhaus',
  postal_code: '10115',
  city: 'Berlin',
  region: null,
  country: 'DE',
  declared_country: null,
  tax_id: 'DE136695976',
  language: 'de',
  email: 'billing@example.com',
  routing_id: '04011000-12345-34',
  order_number: 'PO-2026-17',
};

describe('a billing profile', () => {
  it('is a consumer of the organization’s name and country until somebody says more', async () => {
    const { body } = await customer.get(path);
    const nothing = Object.fromEntries(Object.keys(company).map((field) => [field, null]));
    expect(body.data.profile).toEqual({
      ...nothing,
      ...{ kind: 'person', consumer: true, name: 'A company', country: 'CZ', updated_at: null },
    });
  });

  it('keeps what is told, leaves the rest as it is, and gives up what is null', async () => {
    const person = await newCustomer(product);
    expect((await person.patch(path, company)).body.data.profile).toEqual({
      ...company,
      updated_at: expect.any(String),
    });
    await person.patch(path, { city: '  Potsdam ', routing_id: null });
    await person.patch(path, { name: null });
    const { body } = await person.get(path);
    expect(body.data.profile).toMatchObject({
      ...company,
      city: 'Potsdam',
      routing_id: null,
      name: 'A company',
    });
  });

  it('is what the organization shows, to its members and to staff', async () => {
    const person = await newCustomer(product, { country: 'NL' });
    const { organizationId } = person;
    const shown = async () => {
      const own = (await person.get('/dashboard/organizations')).body.data.organizations[0];
      const { organization } = (await product.staff.get(`/staff/organizations/${organizationId}`)).body.data;
      expect(own).toMatchObject({
        billing_address: organization.billing_address,
        tax_id: organization.tax_id,
      });
      return organization;
    };
    expect(await shown()).toMatchObject({ billing_address: null, tax_id: null, country: 'NL' });
    await person.patch(path, company);
    expect(await shown()).toMatchObject({
      billing_address: 'Lindenweg 7, Hinterhaus, 10115 Berlin, DE',
      tax_id: 'DE136695976',
      country: 'DE',
    });
  });

  it('decides the tax of the next invoice and changes none that exists', async () => {
    await sql(
      product,
      `insert into tax_rates (country, rate_basis_points) values ('SE', 2500) on conflict do nothing`,
    );
    const person = await newCustomer(product, { country: 'FI' });
    const taxOf = async (id: number) => {
      const { invoice } = (await person.get(`/dashboard/invoices/${id}`)).body.data;
      return [invoice.tax_country, invoice.tax_rate];
    };
    const before = await newInvoice(product, person);
    await person.patch(path, { country: 'SE' });
    const after = await newInvoice(product, person);
    expect([await taxOf(before), await taxOf(after)]).toEqual([
      ['FI', '0.00'],
      ['SE', '25.00'],
    ]);
  });

  it('has twenty mails a day sent to a stranger’s address, and all others to who orders', async () => {
    const [stranger, another] = ['stranger@example.net', 'another@example.net'];
    const mails = async (to: string) =>
      (await sql<{ body: string }>(product, 'select body from mails where recipient = $1', to)).length;
    const makeAndCancel = async (who: Person, times: number) => {
      for (let nth = 0; nth < times; nth += 1) {
        const id = await newInvoice(product, who);
        expect((await who.post(`/dashboard/invoices/${id}/cancel`)).status).toBe(200);
      }
    };
    const toAndFro = async (who: Person, times: number) => {
      await makeAndCancel(who, times);
      await settled(product);
    };
    const person = await newCustomer(product, { creditMinor: 1_000 });
    await person.patch(path, { email: stranger });
    await toAndFro(person, 9);
    const last = await newInvoice(product, person);
    await settled(product);
    // Two are looked at before one of them is written.
    const blocker = new pg.Client({ connectionString: product.databaseUrl });
    await blocker.connect();
    try {
      await blocker.query('begin; lock table mails in share row exclusive mode');
      expect((await person.post(`/dashboard/invoices/${last}/cancel`)).status).toBe(200);
      await makeAndCancel(person, 2);
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await until(
        () => sql(product, waiting),
        (found) => found.length >= 2,
      );
    } finally {
      await blocker.end();
    }
    await settled(product);
    expect([await mails(stranger), await mails(person.email)]).toEqual([20, 4]);
    // Neither another address of the same organization, nor the same of another one; nor the account's own for bills.
    await person.patch(path, { email: another });
    await toAndFro(person, 1);
    await person.patch(path, { email: null });
    await person.patch('/dashboard/account', { billing_email: another });
    await toAndFro(person, 1);
    const other = await newCustomer(product);
    await other.patch(path, { email: stranger });
    await toAndFro(other, 1);
    expect([await mails(stranger), await mails(another)]).toEqual([20, 0]);
    expect([await mails(person.email), await mails(other.email)]).toEqual([8, 2]);

    product.clock.travel(25 * 3_600_000);
    await toAndFro(person, 1);
    expect(await mails(another)).toBe(2);
    // Who has paid is somebody.
    await person.patch(path, { email: stranger });
    await person.patch('/dashboard/account', { billing_email: null });
    expect((await payByCredit(person, await newInvoice(product, person))).status).toBe(200);
    await settled(product);
    const before = await mails(stranger);
    await toAndFro(person, 12);
    expect(await mails(stranger)).toBe(before + 24);
  });

  it('is written down in the journal by the names of its fields, never by what is in them', async () => {
    const person = await newCustomer(product);
    await person.patch(path, { address_line1: 'Canary street 5', country: 'FR' });
    const [entry] = await sql<{ data: unknown }>(
      product,
      `select data from journal where organization_id = $1 and action = 'billing_profile.updated'`,
      person.organizationId,
    );
    expect(entry?.data).toEqual({ fields: ['address_line1', 'country'] });
  });

  it('is changed by who manages billing, and read by who may read bills', async () => {
    for (const [role, read, change] of [
      ['admin', 200, 200],
      ['billing', 200, 200],
      ['technical', 403, 403],
      ['support', 403, 403],
      ['viewer', 403, 403],
    ] as const) {
      const member = await newMember(product, customer.organizationId, role);
      const answers = [await member.get(path), await member.patch(path, { city: 'Brno' })];
      expect(
        answers.map(({ status }) => status),
        role,
      ).toEqual([read, change]);
    }
  });

  it('honours If-Match', async () => {
    const person = await newCustomer(product);
    const { headers } = await person.get(path);
    const tag = { 'if-match': String(headers.get('etag')) };
    expect((await person.request('PATCH', path, { city: 'Brno' }, tag)).status).toBe(200);
    expect((await person.request('PATCH', path, { city: 'Praha' }, tag)).status).toBe(412);
    expect((await person.get(path)).body.data.profile.city).toBe('Brno');
  });
});

describe('what a billing profile cannot be', () => {
  const wrong: [string, Record<string, unknown>, string][] = [
    ['a country that is none', { country: 'XX' }, 'country'],
    ['a country in small letters', { country: 'de' }, 'country'],
    ['no country any more', { country: null }, 'country'],
    ['a company that is a consumer', { kind: 'company', consumer: true }, 'consumer'],
    ['a consumer with a tax id', { tax_id: 'CZ25123891' }, 'tax_id'],
    [
      'a VAT id with a wrong check digit',
      { consumer: false, country: 'DE', tax_id: 'DE136695977' },
      'tax_id',
    ],
    ['a VAT id of another country', { consumer: false, country: 'AT', tax_id: 'DE136695976' }, 'tax_id'],
    ['a VAT id without its country', { consumer: false, country: 'DE', tax_id: '136695976' }, 'tax_id'],
    ['a declared country that is not that of the address', { declared_country: 'SK' }, 'declared_country'],
    ['a name of two lines', { name: 'A\nB' }, 'name'],
    ['a name that turns the line around', { name: 'A\u202eB' }, 'name'],
    ['a name that nobody sees', { name: '\u200b' }, 'name'],
    ['half a character', { city: '\ud800' }, 'city'],
    ['a blank name', { name: '  ' }, 'name'],
    ['a name without end', { name: 'a'.repeat(201) }, 'name'],
    ['two addresses', { email: 'a@example.com,b@example.com' }, 'email'],
    ['a header after the address', { email: 'a@example.com\r\nbcc:b@example.com' }, 'email'],
    ['a language that is none', { language: 'german' }, 'language'],
    ['a number for a text', { city: 5 }, 'city'],
    ['a field that it has not', { street: 'x' }, 'street'],
  ];
  it.each(wrong)('%s is refused, and nothing changes', async (_, body, field) => {
    await settled(product);
    const before = await contents(product);
    const answer = await customer.patch(path, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.details.map((each: { field: string }) => each.field)).toContain(field);
    expect(await contents(product)).toEqual(before);
  });

  it('a move to another country without the tax id of that one', async () => {
    const person = await newCustomer(product);
    await person.patch(path, company);
    expect((await person.patch(path, { country: 'FR' })).body.details[0].field).toBe('tax_id');
    expect(
      (await person.patch(path, { country: 'FR', tax_id: 'FR 40 303 265 045' })).body.data.profile.tax_id,
    ).toBe('FR40303265045');
  });
});

describe('a tax id', () => {
  // Ids that companies print on their own pages.
  it.each([
    ['DE', 'DE136695976'],
    ['FR', 'FR40303265045'],
    ['NL', 'NL004495445B01'],
    ['GR', 'EL094259216'],
    ['MC', 'FR40303265045'],
    ['IE', 'IE6388047V'],
    ['CZ', 'CZ25123891'],
    ['BE', 'BE0411905847'],
    ['BE', 'BE1000341796'],
  ])('of %s is taken in its form and with its check digits: %s', (country, taxId) => {
    expect(plainTaxId(taxId, country)).toBe(taxId);
    expect(
      plainTaxId(` ${taxId.slice(0, 2)} ${taxId.slice(2, 5)}.${taxId.slice(5).toLowerCase()}`, country),
    ).toBe(taxId);
  });

  it('with any one digit changed is none any more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 10 }), fc.integer({ min: 1, max: 9 }), (at, by) => {
        const digits = [...'DE136695976'];
        digits[at] = String((Number(digits[at]) + by) % 10);
        return plainTaxId(digits.join(''), 'DE') === null;
      }),
    );
  });

  it.each(['BE1000341797', 'BE2000341796', 'BE100034179'])(
    'is not %s, which is no number of Belgium',
    (taxId) => {
      expect(plainTaxId(taxId, 'BE')).toBeNull();
    },
  );

  it.each(['US', 'CH', 'GB', 'NO'])('of %s is any number, since no check of ours knows better', (country) => {
    expect(plainTaxId('12-345.678 x', country)).toBe('12345678X');
    expect(plainTaxId('<b>', country)).toBeNull();
    expect(plainTaxId('1'.repeat(31), country)).toBeNull();
  });
});
