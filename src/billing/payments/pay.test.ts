import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { broken, contents, settled, sql } from '../../../test/sql.ts';

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct();
  customer = await newCustomer(product, { creditMinor: 100_000 });
});
afterAll(() => product.stop());

const hoursMs = 3_600_000;
const year = () => product.clock.now().getUTCFullYear();

function transfer(id: number, change: Record<string, unknown> = {}) {
  const body = { amount: '3.00', reference: `R-${id}`, ...change };
  return product.staff.post(`/staff/invoices/${id}/payments`, body);
}

async function invoiceOf(person: Person, id: number) {
  return (await person.get(`/dashboard/invoices/${id}`)).body.data.invoice;
}

describe('legal numbers', () => {
  it('have no gap and no double, however many pay at once and whoever fails', async () => {
    const poor = await newCustomer(product);
    const people = [...Array(24).fill(customer), ...Array(12).fill(poor)] as Person[];
    // One after another: what is raced for here is the number, not who may order at once.
    const ids: number[] = [];
    for (const person of people) ids.push(await newInvoice(product, person));
    const answers = await Promise.all(
      people.map((person, at) =>
        // So many changes of one customer wait for each other, and on a busy machine some for too long: those come again.
        until(
          () => payByCredit(person, ids[at] ?? 0),
          ({ status }) => status !== 429,
        ),
      ),
    );
    expect(answers.filter((each) => each.status === 200)).toHaveLength(24);
    const rows = await sql<{ number: string; status: string }>(
      product,
      'select number, status from invoices where number is not null order by sequence',
    );
    const inOrder = (_: unknown, index: number) => `${year()}-${String(index + 1).padStart(6, '0')}`;
    expect(rows.map((row) => row.number)).toEqual(rows.map(inOrder));
    expect(rows.every((row) => row.status === 'paid')).toBe(true);
  });
});

describe('the ways to pay', () => {
  interface Way {
    method: string;
    allowed: boolean;
    code: string | null;
  }
  const waysOf = async (person: Person, id: number) => {
    const { body } = await person.get(`/dashboard/invoices/${id}`);
    return body.data.payment_ways as Way[];
  };
  const face = (ways: Way[]) => ways.map(({ method, allowed, code }) => [method, allowed, code]);

  it('are told with what speaks against each, as paying by them answers', async () => {
    const person = await newCustomer(product, { creditMinor: 299 });
    const id = await newInvoice(product, person);
    const ways = await waysOf(person, id);
    expect(ways).toMatchObject([{ amount: '2.99' }, { amount: '3.00', provider: null }, { amount: '3.00' }]);
    expect(face(ways)).toEqual([
      ['credit', false, 'insufficient_credit'],
      ['card', false, 'payment_provider_missing'],
      ['bank_transfer', false, 'payment_not_possible'],
    ]);
    for (const { method, code } of ways.slice(0, 2)) {
      const { body } = await person.post(`/dashboard/invoices/${id}/pay`, { method });
      expect([method, body.code]).toEqual([method, code]);
    }
    await product.staff.post(`/staff/organizations/${person.organizationId}/credit`, {
      ...{ amount: '0.01', currency: 'EUR', description: 'The rest' },
    });
    const company = { iban: 'NL91ABNA0417164300', name: 'Example Hosting B.V.' };
    expect((await product.staff.patch('/staff/settings', { company })).status).toBe(200);
    const open = await waysOf(person, id);
    expect(face(open)).toEqual([
      ['credit', true, null],
      ['card', false, 'payment_provider_missing'],
      ['bank_transfer', true, null],
    ]);
    expect(open.at(-1)).toMatchObject({ account: { iban: company.iban, holder: company.name } });
    expect((await payByCredit(person, id)).status).toBe(200);
    expect(new Set((await waysOf(person, id)).map(({ code }) => code))).toEqual(
      new Set(['invoice_not_payable']),
    );
    await product.staff.patch('/staff/settings', { company: { iban: null } });
  });

  it('do not have credit paid with credit', async () => {
    const person = await newCustomer(product, { creditMinor: 5_000 });
    const { body } = await person.post('/dashboard/credit/top-up', { amount: '10.00', currency: 'EUR' });
    const id = body.data.invoice_id;
    const [credit] = await waysOf(person, id);
    expect(credit).toMatchObject({ allowed: false, code: 'invoice_not_payable', amount: '0.00' });
    expect((await payByCredit(person, id)).body.code).toBe('invoice_not_payable');
  });
});

describe('paying', () => {
  it('takes the credit once, however often it is asked for at once', async () => {
    const person = await newCustomer(product, { creditMinor: 1_000 });
    const id = await newInvoice(product, person);
    const answers = await Promise.all(Array.from({ length: 6 }, () => payByCredit(person, id)));
    expect(answers.map((each) => each.status).toSorted()).toEqual([200, 409, 409, 409, 409, 409]);
    const list = (await person.get('/dashboard/invoices')).body.data;
    expect(list.credit_balance).toBe('7.00');
    expect(list.last_credit_transaction).toMatchObject({ amount: '-3.00', currency: 'EUR' });
    const invoice = await invoiceOf(person, id);
    expect(invoice).toMatchObject({ status: 'paid', paid_with_credit: '3.00', overdue: false });
    expect(invoice.payments).toMatchObject([{ method: 'credit', amount: '3.00' }]);
  });

  it('without enough credit changes nothing', async () => {
    const poor = await newCustomer(product, { creditMinor: 299 });
    const id = await newInvoice(product, poor);
    await settled(product);
    const before = await contents(product);
    const answer = await payByCredit(poor, id);
    expect([answer.status, answer.body.code]).toEqual([409, 'insufficient_credit']);
    expect(await contents(product)).toEqual(before);
  });

  it('again with one Idempotency-Key gets the first answer again', async () => {
    const id = await newInvoice(product, customer);
    const pay = () =>
      customer.post(
        `/dashboard/invoices/${id}/pay`,
        { method: 'credit' },
        { 'idempotency-key': `pay-${id}` },
      );
    const [first, second] = [await pay(), await pay()];
    expect(second.body).toEqual(first.body);
    expect(second.status).toBe(200);
  });

  it('takes a method that there is', async () => {
    const id = await newInvoice(product, customer);
    const answer = await customer.post(`/dashboard/invoices/${id}/pay`, { method: 'seashells' });
    expect([answer.status, answer.body.details[0].field]).toEqual([400, 'method']);
  });
});

describe('a bank transfer', () => {
  it('of the whole amount pays the invoice, with what the bank says', async () => {
    const id = await newInvoice(product, customer);
    const paid = await transfer(id, { reference: 'STATEMENT 7', received_on: '2026-01-31' });
    expect(paid.body.data.invoice).toMatchObject({
      status: 'paid',
      paid_with_credit: '0.00',
      payments: [
        { method: 'bank_transfer', reference: 'STATEMENT 7', received_on: '2026-01-31', amount: '3.00' },
      ],
    });
  });

  it.each(['2.99', '3.01', '300', '0', '-3.00', 'three', '3.000'])('of %j does not', async (amount) => {
    const id = await newInvoice(product, customer);
    const answer = await transfer(id, { amount });
    expect([answer.status, answer.body.code]).toEqual([409, 'payment_mismatch']);
    expect((await invoiceOf(customer, id)).status).toBe('unpaid');
  });

  it('is booked once: the same reference is refused for another invoice, and nothing changes', async () => {
    const [first, second] = [await newInvoice(product, customer), await newInvoice(product, customer)];
    await transfer(first, { reference: 'ONCE' });
    const before = await sql(product, 'select last from invoice_series');
    const answer = await transfer(second, { reference: 'ONCE' });
    expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
    expect((await invoiceOf(customer, second)).status).toBe('unpaid');
    expect(await sql(product, 'select last from invoice_series')).toEqual(before);
  });

  it('does not pay twice', async () => {
    const id = await newInvoice(product, customer);
    await payByCredit(customer, id);
    const answer = await transfer(id);
    expect([answer.status, answer.body.code]).toEqual([409, 'invoice_not_payable']);
  });

  it.each([
    ['received_on', '2026-02-30'],
    ['received_on', 'yesterday'],
    ['received_on', '0000-01-01'],
    ['received_on', '1999-12-31'],
    ['received_on', '2999-01-01'],
    ['reference', ''],
    ['amount', 3],
  ])('with %s %j is no transfer', async (field, value) => {
    const answer = await transfer(await newInvoice(product, customer), { [field]: value });
    expect([answer.status, answer.body.details[0].field]).toEqual([400, field]);
  });

  it('for an invoice that is not there is not found', async () => {
    expect((await transfer(4_242)).status).toBe(404);
  });
});

describe('an invoice that nobody pays', () => {
  it('can be paid until the end of the day it names, and is then cancelled for good', async () => {
    const id = await newInvoice(product, customer);
    const { duedate, created_at } = await invoiceOf(customer, id);
    expect(duedate).toBe(new Date(Date.parse(created_at) + 72 * hoursMs).toISOString().slice(0, 10));
    const endsAt = Date.parse(duedate) + 24 * hoursMs;
    product.clock.travel(endsAt - product.clock.now().getTime() - 60_000);
    await product.periodic('billing.expire');
    expect(await invoiceOf(customer, id)).toMatchObject({ status: 'unpaid', overdue: false });
    product.clock.travel(60_000);
    await product.periodic('billing.expire');
    expect(await invoiceOf(customer, id)).toMatchObject({ status: 'cancelled', number: null });
    const answer = await payByCredit(customer, id);
    expect([answer.status, answer.body.code]).toEqual([409, 'invoice_not_payable']);
  });

  it('leaves a transfer that comes too late as credit, booked once', async () => {
    const person = await newCustomer(product);
    const [id, other] = [await newInvoice(product, person), await newInvoice(product, person)];
    product.clock.travel(97 * hoursMs);
    await product.periodic('billing.expire');
    const booked = await transfer(id, { reference: 'LATE' });
    expect(booked.body.data).toMatchObject({
      invoice: { status: 'cancelled', number: null, date_paid: null },
      credited: '3.00',
    });
    expect(booked.body.data.invoice.payments).toMatchObject([{ reference: 'LATE', amount: '3.00' }]);
    const list = (await person.get('/dashboard/invoices')).body.data;
    expect(list.credit_balance).toBe('3.00');
    expect(list.last_credit_transaction.description).toMatch(`invoice ${id}`);
    const accounts = `select a.kind, e.amount_minor from ledger_entries e join ledger_accounts a on a.id = e.account_id
      join ledger_transactions t on t.id = e.transaction_id where t.invoice_id = $1 order by a.kind`;
    const entries = [
      { kind: 'bank', amount_minor: 300 },
      { kind: 'credit', amount_minor: -300 },
    ];
    expect(await sql(product, accounts, id)).toEqual(entries);
    for (const again of [id, other]) {
      const answer = await transfer(again, { reference: 'LATE' });
      expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
    }
    expect(await sql(product, accounts, id)).toEqual(entries);
  });

  it('and that cannot be cancelled keeps none of the others waiting; staff sees it, and it is tried again', async () => {
    const [id, other] = [await newInvoice(product, customer), await newInvoice(product, customer)];
    await broken(product, 'invoices', id);
    product.clock.travel(97 * hoursMs);
    await product.periodic('billing.expire');
    expect(await invoiceOf(customer, other)).toMatchObject({ status: 'cancelled' });
    expect(await invoiceOf(customer, id)).toMatchObject({ status: 'unpaid' });
    const list = async () => {
      const { data } = (await product.staff.get('/staff/attention')).body;
      return data.concerns.filter(({ kind }: { kind: string }) => kind === 'job.set_aside');
    };
    expect(await list()).toMatchObject([{ subject: { id }, organization_id: customer.organizationId }]);
    await sql(product, 'drop trigger is_broken on invoices');
    await product.periodic('billing.expire');
    expect(await invoiceOf(customer, id)).toMatchObject({ status: 'unpaid' });
    product.clock.travel(hoursMs);
    await product.periodic('billing.expire');
    expect(await invoiceOf(customer, id)).toMatchObject({ status: 'cancelled' });
    expect(await list()).toEqual([]);
  });

  it('is either paid or cancelled when both happen at once, and its services follow', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => newInvoice(product, customer)));
    product.clock.travel(97 * hoursMs);
    await Promise.all([...ids.map((id) => payByCredit(customer, id)), product.periodic('billing.expire')]);
    await product.periodic('billing.expire');
    await settled(product);
    const wrong = await sql(
      product,
      `select i.id, i.status, s.status as service from invoices i join services s on s.invoice_id = i.id
       where (i.status = 'cancelled') <> (s.status = 'cancelled') and i.status <> 'unpaid'`,
    );
    expect(wrong).toEqual([]);
  });
});
