import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';

let product: TestProduct;
let booked = 0;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(async () => {
  await settled(product);
  expect(await audit(product.databaseUrl)).toEqual([]);
  await product.stop();
});

function book(person: Person, change: Record<string, unknown>) {
  booked += 1;
  const body = { amount: '3.00', currency: 'EUR', reference: `T-${booked}`, ...change };
  return product.staff.post(`/staff/organizations/${person.organizationId}/transfers`, body);
}

const old = (id: number, amount: string, reference = `O-${id}-${amount}`) =>
  product.staff.post(`/staff/invoices/${id}/payments`, { amount, reference });

async function invoiceOf(person: Person, id: number) {
  return (await person.get(`/dashboard/invoices/${id}`)).body.data.invoice;
}

async function creditOf(person: Person): Promise<string> {
  return (await person.get('/dashboard/invoices')).body.data.credit_balance;
}

/** What its services are, as staff and customers see them. */
async function delivered(invoiceId: number): Promise<boolean> {
  await settled(product);
  const rows = await sql<{ provisioning_state: string; status: string }>(
    product,
    'select status, provisioning_state from services where invoice_id = $1',
    invoiceId,
  );
  return rows.some((row) => row.provisioning_state !== 'queued' && row.status !== 'cancelled');
}

async function mailsTo(person: Person): Promise<{ subject: string; body: string }[]> {
  await settled(product);
  return sql(product, 'select subject, body from mails where recipient = $1 order by id', person.email);
}

async function lateInvoice(person: Person): Promise<number> {
  const id = await newInvoice(product, person);
  await expireAll(id);
  return id;
}

async function expireAll(...ids: number[]): Promise<void> {
  await sql(product, `update invoices set expires_at = created_at where id = any($1)`, ids);
  await product.periodic('billing.expire');
}

describe('one transfer', () => {
  it('pays several invoices, the oldest first, all or nothing', async () => {
    const person = await newCustomer(product);
    const ids = [await newInvoice(product, person), await newInvoice(product, person, 2)];
    const answer = await book(person, { amount: '9.00', reference: 'BOTH', received_on: '2026-01-31' });
    expect(answer.status).toBe(200);
    expect(answer.body.data.transfer).toMatchObject({
      organization_id: person.organizationId,
      amount: '9.00',
      credited: '0.00',
      reference: 'BOTH',
      received_on: '2026-01-31',
    });
    expect(answer.body.data.invoices.map((invoice: { id: number }) => invoice.id)).toEqual(ids);
    for (const [at, amount] of ['3.00', '6.00'].entries()) {
      expect(await invoiceOf(person, ids[at] ?? 0)).toMatchObject({
        ...{ status: 'paid', amount_paid: amount, amount_due: '0.00', paid_with_credit: '0.00' },
        payments: [{ method: 'bank_transfer', reference: 'BOTH', amount, received_on: '2026-01-31' }],
      });
      expect(await delivered(ids[at] ?? 0)).toBe(true);
    }
  });

  it('is split as staff says, in the order in which staff names invoices', async () => {
    const person = await newCustomer(product);
    const [first, second] = [await newInvoice(product, person), await newInvoice(product, person)];
    const invoices = [{ invoice_id: second }, { invoice_id: first, amount: '1.00' }];
    const answer = await book(person, { amount: '4.00', invoices });
    expect(answer.body.data.invoices.map((invoice: { id: number }) => invoice.id)).toEqual([second, first]);
    expect(await invoiceOf(person, second)).toMatchObject({ status: 'paid' });
    expect(await invoiceOf(person, first)).toMatchObject({ status: 'unpaid', amount_due: '2.00' });
  });

  it('pays a part; the customer sees what is due, and nothing is delivered before it came', async () => {
    const person = await newCustomer(product, { creditMinor: 200 });
    const id = await newInvoice(product, person);
    const answer = await book(person, { amount: '1.00' });
    expect(answer.body.data.invoices).toMatchObject([
      { id, status: 'unpaid', number: null, amount_paid: '1.00', amount_due: '2.00', total: '3.00' },
    ]);
    expect(await invoiceOf(person, id)).toMatchObject({ amount_paid: '1.00', amount_due: '2.00' });
    expect(await delivered(id)).toBe(false);
    const told = (await mailsTo(person)).find(({ subject }) => subject.startsWith('A part of'));
    expect(told?.body).toMatch(/€1\.00.*€2\.00 are still due/s);
    const paid = await payByCredit(person, id);
    expect(paid.body.data.invoice).toMatchObject({
      ...{ status: 'paid', paid_with_credit: '2.00', amount_paid: '3.00', amount_due: '0.00' },
      payments: [
        { method: 'bank_transfer', amount: '1.00' },
        { method: 'credit', amount: '2.00' },
      ],
    });
    expect(await creditOf(person)).toBe('0.00');
    expect(await delivered(id)).toBe(true);
  });

  it('pays the rest of what another paid a part of', async () => {
    const person = await newCustomer(product);
    const id = await newInvoice(product, person);
    await book(person, { amount: '1.00' });
    const exact = await old(id, '3.00');
    expect([exact.status, exact.body.code]).toEqual([409, 'payment_mismatch']);
    expect(exact.body.message).toMatch(/2\.00 EUR are due.*transfers/);
    const rest = await old(id, '2.00');
    expect(rest.body.data).toMatchObject({ credited: null, invoice: { status: 'paid', amount_due: '0.00' } });
    expect(await delivered(id)).toBe(true);
  });

  it('of more than is due leaves the rest as credit, and the customer is told', async () => {
    const person = await newCustomer(product);
    const id = await newInvoice(product, person);
    const answer = await book(person, { amount: '10.00', reference: 'TOO MUCH' });
    expect(answer.body.data).toMatchObject({ transfer: { credited: '7.00' }, invoices: [{ id }] });
    expect(await creditOf(person)).toBe('7.00');
    const told = (await mailsTo(person)).filter(({ subject }) => /became credit/.test(subject));
    expect(told).toHaveLength(1);
    expect(told[0]?.body).toMatch(/TOO MUCH was €7\.00 more/);
    const nothingDue = await book(person, { amount: '1.00' });
    expect(nothingDue.body.data).toMatchObject({ transfer: { credited: '1.00' }, invoices: [] });
    expect(await creditOf(person)).toBe('8.00');
    expect((await mailsTo(person)).filter(({ subject }) => /became credit/.test(subject))).toHaveLength(2);
  });

  it('can be kept as credit whole, whatever is due', async () => {
    const person = await newCustomer(product);
    const id = await newInvoice(product, person);
    const answer = await book(person, { amount: '5.00', invoices: [] });
    expect(answer.body.data).toMatchObject({ transfer: { credited: '5.00' }, invoices: [] });
    expect(await invoiceOf(person, id)).toMatchObject({ amount_due: '3.00' });
  });

  it('for an invoice that is cancelled becomes credit with a mail; what it names beside is paid', async () => {
    const person = await newCustomer(product);
    const late = await lateInvoice(person);
    const open = await newInvoice(product, person);
    const invoices = [{ invoice_id: late, amount: '1.50' }, { invoice_id: open }];
    const answer = await book(person, { amount: '4.50', invoices });
    expect(answer.body.data).toMatchObject({
      transfer: { credited: '1.50' },
      invoices: [
        { id: late, status: 'cancelled', amount_paid: '0.00', amount_due: '0.00', credited: '1.50' },
        { id: open, status: 'paid', credited: '0.00' },
      ],
    });
    expect(await creditOf(person)).toBe('1.50');
    const told = (await mailsTo(person)).filter(({ subject }) => /became credit/.test(subject));
    expect(told.map(({ subject }) => subject)).toEqual([`Your payment for invoice ${late} became credit`]);
  });

  it('is booked once: the words say what it was booked as, and nothing changes', async () => {
    const person = await newCustomer(product);
    const other = await newCustomer(product);
    const [id, second] = [await newInvoice(product, person), await newInvoice(product, person)];
    await book(person, { amount: '3.00', reference: 'ONE' });
    await settled(product);
    const before = await contents(product);
    for (const again of [
      await book(person, { amount: '3.00', reference: 'ONE' }),
      await book(person, { amount: '3.00', reference: ' ONE ' }),
      await book(person, { amount: '4.00', reference: 'ONE' }),
      await book(other, { amount: '3.00', reference: 'ONE' }),
      await old(second, '3.00', 'ONE'),
    ]) {
      expect([again.status, again.body.code]).toEqual([409, 'conflict']);
      expect(again.body.message).toMatch(/reference ONE is booked already: 3\.00 EUR/);
      expect(again.body.message).toContain(`organization ${person.organizationId}`);
      expect(again.body.message).toContain(`invoice ${id}`);
    }
    expect(await contents(product)).toEqual(before);
  });

  it('is the same one however its reference was copied', async () => {
    const person = await newCustomer(product);
    expect((await book(person, { reference: 'RF 18 X' })).body.data.transfer.reference).toBe('RF 18 X');
    for (const reference of [' RF 18 X', 'RF\u00a018  X', 'RF 18\tX', 'RF 18 \u200bX\u0007', 'ＲＦ 18 X']) {
      expect((await book(person, { reference })).body.code).toBe('conflict');
    }
    const unseen = await book(person, { reference: '\u200b \u0007' });
    expect(unseen.body).toMatchObject({ code: 'invalid_request', details: [{ field: 'reference' }] });
  });

  it('sent ten times at once is booked once', async () => {
    const person = await newCustomer(product);
    await newInvoice(product, person);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => book(person, { amount: '5.00', reference: 'TEN' })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)]);
    expect(await creditOf(person)).toBe('2.00');
  });

  it('with one Idempotency-Key gets its first answer again', async () => {
    const person = await newCustomer(product);
    const body = { amount: '5.00', currency: 'EUR', reference: 'KEY' };
    const send = () =>
      product.staff.post(`/staff/organizations/${person.organizationId}/transfers`, body, {
        'idempotency-key': 'transfer-1',
      });
    const [first, second] = [await send(), await send()];
    expect(first.status).toBe(200);
    expect(second.body).toEqual(first.body);
  });

  it('meets a payment with credit at the same moment: paid once, and the rest is credit', async () => {
    const person = await newCustomer(product, { creditMinor: 900 });
    const ids = await Promise.all([1, 2, 3].map(() => newInvoice(product, person)));
    const [answer] = await Promise.all([
      book(person, { amount: '9.00' }),
      ...ids.map((id) => payByCredit(person, id)),
    ]);
    expect(answer.status).toBe(200);
    // 18.00 came in all, and 9.00 were due.
    expect(await creditOf(person)).toBe('9.00');
    for (const id of ids) expect(await invoiceOf(person, id)).toMatchObject({ status: 'paid' });
  });
});

it('one that bought credit cannot be taken back once that is spent, and nothing is changed', async () => {
  const person = await newCustomer(product);
  const { invoice_id: topUp } = (await person.post('/dashboard/credit/top-up', { amount: '5.00' })).body.data;
  const { transfer } = (await book(person, { amount: '5.00', invoices: [{ invoice_id: topUp }] })).body.data;
  expect((await payByCredit(person, await newInvoice(product, person))).status).toBe(200);
  const answer = await product.staff.post(`/staff/transfers/${transfer.id}/take-back`, { reason: 'A slip' });
  expect([answer.status, answer.body.code], JSON.stringify(answer.body)).toEqual([409, 'conflict']);
  expect(answer.body.message).toContain('it was spent');
  expect([(await invoiceOf(person, topUp)).status, await creditOf(person)]).toEqual(['paid', '2.00']);
});

describe('a transfer that cannot be booked changes nothing', () => {
  it.each([
    ['of nothing', { amount: '0.00' }, 400, 'invalid_amount'],
    ['of less than nothing', { amount: '-1.00' }, 400, 'invalid_amount'],
    ['of half a cent', { amount: '1.005' }, 400, 'invalid_amount'],
    ['in no currency', { currency: 'euro' }, 400, 'invalid_request'],
    ['without a reference', { reference: '  ' }, 400, 'invalid_request'],
    ['of a day to come', { received_on: '2999-01-01' }, 400, 'invalid_request'],
    ['for an invoice that is not there', { invoices: [{ invoice_id: 4_242 }] }, 400, 'invalid_request'],
  ])('%s', async (_, change, status, code) => {
    const person = await newCustomer(product);
    await newInvoice(product, person);
    await settled(product);
    const before = await contents(product);
    const answer = await book(person, change);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(await contents(product)).toEqual(before);
  });

  it('when the split does not fit', async () => {
    const person = await newCustomer(product, { creditMinor: 300 });
    const other = await newInvoice(product, await newCustomer(product));
    const [id, paid] = [await newInvoice(product, person), await newInvoice(product, person)];
    await payByCredit(person, paid);
    await settled(product);
    const before = await contents(product);
    const splits: [object[], string, number, string, RegExp][] = [
      [[{ invoice_id: id, amount: '3.01' }], '9.00', 409, 'payment_mismatch', /3\.00 EUR are due/],
      [[{ invoice_id: id, amount: '2.00' }], '1.00', 409, 'payment_mismatch', /1\.00 EUR/],
      [[{ invoice_id: id, amount: '0' }], '1.00', 400, 'invalid_amount', /invoices\[0\]/],
      [[{ invoice_id: id }, { invoice_id: id }], '6.00', 400, 'invalid_request', /./],
      [[{ invoice_id: other }], '3.00', 400, 'invalid_request', /./],
      [[{ invoice_id: paid }], '3.00', 409, 'invoice_not_payable', /is paid/],
    ];
    for (const [invoices, amount, status, code, words] of splits) {
      const answer = await book(person, { amount, invoices });
      expect([answer.status, answer.body.code]).toEqual([status, code]);
      expect(answer.body.message).toMatch(words);
    }
    expect(await contents(product)).toEqual(before);
  });

  it('to nobody', async () => {
    const answer = await product.staff.post('/staff/organizations/4242/transfers', {
      ...{ amount: '3.00', currency: 'EUR', reference: 'NOBODY' },
    });
    expect(answer.status).toBe(404);
  });
});

describe('an invoice of which a part is paid', () => {
  async function partPaid(person: Person): Promise<number> {
    const id = await newInvoice(product, person);
    expect((await book(person, { amount: '1.00', invoices: [{ invoice_id: id }] })).status).toBe(200);
    return id;
  }

  it('gives the part back as credit when it expires, and the mail says so', async () => {
    const person = await newCustomer(product);
    const id = await partPaid(person);
    await expireAll(id);
    expect(await invoiceOf(person, id)).toMatchObject({
      ...{ status: 'cancelled', amount_paid: '0.00', amount_due: '0.00', credited: '1.00', number: null },
    });
    expect(await creditOf(person)).toBe('1.00');
    expect(await mailsTo(person)).toContainEqual(
      expect.objectContaining({ body: expect.stringMatching(/The €1\.00 that you paid .* credit/) }),
    );
    // What comes later for it becomes credit as well.
    const late = await book(person, { amount: '2.00', invoices: [{ invoice_id: id }] });
    expect(late.body.data.invoices).toMatchObject([{ id, credited: '3.00' }]);
    expect(await creditOf(person)).toBe('3.00');
  });

  it('gives it back when its customer cancels it', async () => {
    const person = await newCustomer(product);
    const id = await partPaid(person);
    const cancelled = await person.post(`/dashboard/invoices/${id}/cancel`);
    expect(cancelled.body.data.invoice).toMatchObject({ status: 'cancelled', credited: '1.00' });
    expect(await creditOf(person)).toBe('1.00');
    expect(await mailsTo(person)).toContainEqual(
      expect.objectContaining({ body: expect.stringMatching(/The €1\.00 that you paid .* credit/) }),
    );
  });

  it('gives back what staff refunds, and can still be paid in full', async () => {
    const person = await newCustomer(product);
    const id = await partPaid(person);
    const refund = (amount?: string) =>
      product.staff.post(`/staff/invoices/${id}/refund`, { reason: 'A slip', method: 'credit', amount });
    const tooMuch = await refund('1.01');
    expect([tooMuch.status, tooMuch.body.code]).toEqual([400, 'invalid_amount']);
    expect(tooMuch.body.message).toMatch(/1\.00 EUR/);
    expect((await refund('0.40')).body.data.invoice).toMatchObject({
      ...{ status: 'unpaid', amount_paid: '0.60', amount_due: '2.40', credited: '0.40', refunded: '0.00' },
    });
    expect((await refund()).body.data.invoice).toMatchObject({ amount_due: '3.00', credited: '1.00' });
    expect((await refund()).status).toBe(409);
    expect(await creditOf(person)).toBe('1.00');
    const told = (await mailsTo(person)).filter(({ body }) => body.includes('A slip'));
    expect(told.some(({ body }) => /€0\.60/.test(body))).toBe(true);
    expect(told).toHaveLength(2);
    expect((await book(person, { amount: '3.00' })).body.data.invoices).toMatchObject([{ status: 'paid' }]);
    const back = await product.staff.post(`/staff/invoices/${id}/refund`, { reason: 'x', method: 'credit' });
    expect(back.body.data.invoice).toMatchObject({ status: 'refunded', refunded: '3.00' });
    expect(await creditOf(person)).toBe('4.00');
  });

  it('is either paid in full or cancelled when both happen at once', async () => {
    const person = await newCustomer(product);
    const ids = await Promise.all(Array.from({ length: 6 }, () => partPaid(person)));
    await sql(product, 'update invoices set expires_at = created_at where id = any($1)', ids);
    const rest = (id: number) => book(person, { amount: '2.00', invoices: [{ invoice_id: id }] });
    const [, ...answers] = await Promise.all([product.periodic('billing.expire'), ...ids.map(rest)]);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    await product.periodic('billing.expire');
    const invoices = await Promise.all(ids.map((id) => invoiceOf(person, id)));
    const cancelled = invoices.filter(({ status }) => status === 'cancelled').length;
    expect(invoices.filter(({ status }) => status === 'paid')).toHaveLength(6 - cancelled);
    expect(await creditOf(person)).toBe(`${cancelled * 3}.00`);
  });
});
