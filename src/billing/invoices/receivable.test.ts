/** Invoices that count since they were issued: owed, cleared by their payment, taken back when they are given up. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';

let product: TestProduct;
let person: Person;
beforeAll(async () => {
  product = await startTestProduct({ env: { INVOICE_NUMBERING: 'issue' } });
  await sql(product, `insert into tax_rates (country, rate_basis_points) values ('CZ', 2100)`);
  person = await newCustomer(product, { country: 'CZ', creditMinor: 1_000_000 });
});
afterAll(async () => {
  await settled(product);
  expect(await audit(product.databaseUrl)).toEqual([]);
  await product.stop();
});

/** What each account holds by the entries of one invoice; debits positive. */
async function booked(invoiceId: number): Promise<Record<string, number>> {
  const rows = await sql<{ kind: string; minor: number }>(
    product,
    `select a.kind, sum(e.amount_minor)::bigint as minor from ledger_transactions t
     join ledger_entries e on e.transaction_id = t.id join ledger_accounts a on a.id = e.account_id
     where t.invoice_id = $1 group by a.kind having sum(e.amount_minor) <> 0 order by a.kind`,
    invoiceId,
  );
  return Object.fromEntries(rows.map(({ kind, minor }) => [kind, minor]));
}

async function checked(): Promise<string[]> {
  product.clock.travel(86_400_000);
  await product.periodic('billing.checkLedger');
  return (await sql<{ message: string }>(product, 'select message from ledger_differences')).map(
    ({ message }) => message,
  );
}

describe('an invoice that is numbered when it is issued', () => {
  it('is owed at once, net as service and tax to the state, and its payment clears it', async () => {
    const id = await newInvoice(product, person, 2);
    expect(await booked(id)).toEqual({ receivable: 726, deferred: -600, tax: -126 });
    await payByCredit(person, id);
    expect(await booked(id)).toEqual({ credit: 726, deferred: -600, tax: -126 });
  });

  it('that is paid in part is owed whole until the rest is there', async () => {
    const id = await newInvoice(product, person, 2);
    const transfer = {
      amount: '2.26',
      currency: 'EUR',
      reference: `Part of ${id}`,
      invoices: [{ invoice_id: id }],
    };
    await product.staff.post(`/staff/organizations/${person.organizationId}/transfers`, transfer);
    expect(await booked(id)).toEqual({ bank: 226, parts: -226, receivable: 726, deferred: -600, tax: -126 });
    await payByCredit(person, id);
    expect(await booked(id)).toEqual({ bank: 226, credit: 500, deferred: -600, tax: -126 });
  });

  it.each(['given up by its customer', 'not paid in time'])('and is %s is owed no more', async (how) => {
    const id = await newInvoice(product, person);
    if (how === 'not paid in time') {
      product.clock.travel(97 * 3_600_000);
      await product.periodic('billing.expire');
    } else expect((await person.post(`/dashboard/invoices/${id}/cancel`)).status).toBe(200);
    expect(await booked(id)).toEqual({});
    const left = await sql(
      product,
      'select amount_minor - returned_minor as minor, earns_on from deferrals where invoice_id = $1',
      id,
    );
    expect(left).toEqual([{ minor: 0, earns_on: null }]);
  });

  it('and buys credit is not owed', async () => {
    const { body } = await person.post('/dashboard/credit/top-up', { amount: '5.00' });
    expect(await booked(body.data.invoice_id)).toEqual({});
  });

  it('counts in the tax report of the quarter it was issued in, and what is given up goes back', async () => {
    product.clock.set(new Date('2031-01-10T12:00:00Z'));
    const [paid, open, given] = [
      await newInvoice(product, person),
      await newInvoice(product, person),
      await newInvoice(product, person),
    ];
    const report = async (quarter: string) =>
      (await product.staff.get(`/staff/tax/report?quarter=${quarter}`)).body.data;
    await person.post(`/dashboard/invoices/${given}/cancel`);
    expect(await report('2031-Q1')).toMatchObject({
      rows: [{ country: 'CZ', invoices: 3, net: '9.00', tax: '1.89', returned_net: '3.00', tax_due: '1.26' }],
      totals: [{ tax_due: '1.26', ledger: '1.26', difference: '0.00' }],
    });
    product.clock.set(new Date('2031-04-02T12:00:00Z'));
    await payByCredit(person, paid);
    expect((await report('2031-Q2')).rows).toEqual([]);
    await person.post(`/dashboard/invoices/${open}/cancel`);
    expect(await report('2031-Q2')).toMatchObject({
      rows: [{ invoices: 0, returned_tax: '0.63', tax_due: '-0.63' }],
      totals: [{ difference: '0.00' }],
    });
  });
});

describe('whatever happens to invoices that count', () => {
  const what = fc.constantFrom('pay', 'part', 'cancel', 'expire', 'refund', 'deliver', 'terminate', 'leave');

  it('what customers owe by the ledger is what is open of them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(what, fc.integer({ min: 1, max: 3 })), { minLength: 3, maxLength: 8 }),
        async (acts) => {
          const ids: number[] = [];
          for (const [act, pieces] of acts) {
            const id = await newInvoice(product, person, pieces);
            ids.push(id);
            const to = `/staff/organizations/${person.organizationId}/transfers`;
            const part = {
              amount: '1.00',
              currency: 'EUR',
              reference: `R${id}`,
              invoices: [{ invoice_id: id }],
            };
            if (act === 'part') await product.staff.post(to, part);
            if (act === 'cancel') await person.post(`/dashboard/invoices/${id}/cancel`);
            if (['pay', 'refund', 'deliver', 'terminate'].includes(act)) await payByCredit(person, id);
            if (act === 'refund')
              await product.staff.post(`/staff/invoices/${id}/refund`, {
                reason: 'x',
                method: 'credit',
                amount: '0.77',
              });
            if (act !== 'deliver' && act !== 'terminate') continue;
            await settled(product);
            for (const row of await sql<{ id: number }>(
              product,
              'select id from services where invoice_id = $1',
              id,
            )) {
              await product.staff.post(`/staff/services/${row.id}/deliver`);
              if (act === 'terminate')
                await product.staff.post(`/staff/services/${row.id}/terminate`, { reason: 'x' });
            }
          }
          if (acts.some(([act]) => act === 'expire')) {
            product.clock.travel(97 * 3_600_000);
            await product.periodic('billing.expire');
          }
          await product.periodic('billing.earn');
          await settled(product);
          const open = await sql<{ id: number; total_minor: number }>(
            product,
            `select id, total_minor from invoices where status = 'unpaid' and id = any($1)`,
            ids,
          );
          for (const id of ids)
            expect((await booked(id)).receivable ?? 0).toBe(
              open.find((each) => each.id === id)?.total_minor ?? 0,
            );
          expect(await checked()).toEqual([]);
        },
      ),
      { numRuns: 6 },
    );
  }, 180_000);
});
