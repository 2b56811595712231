import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';
import { settled, sql } from '../../../test/sql.ts';
import { formatMoney } from '../../platform/index.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
  await sql(product, `insert into tax_rates (country, rate_basis_points) values ('CZ', 2100)`);
});
afterAll(() => product.stop());

function grant(organizationId: number, amountMinor: number) {
  return product.staff.post(`/staff/organizations/${organizationId}/credit`, {
    ...{ amount: formatMoney(amountMinor, 'EUR'), currency: 'EUR', description: 'A gift' },
  });
}

async function balanceOf(person: Person): Promise<string> {
  return (await person.get('/dashboard/invoices')).body.data.credit_balance;
}

/** What must hold in the ledger whatever has happened. */
async function checkLedger(): Promise<void> {
  const wrong = await sql(
    product,
    `select 'unbalanced' as what, transaction_id as id from ledger_entries group by transaction_id
       having sum(amount_minor) <> 0
     union all
     select 'balance is not the sum of the entries so far', e.account_id from ledger_entries e
       where e.sequence is not null and e.balance_minor <> (select -sum(b.amount_minor) from ledger_entries b
         where b.account_id = e.account_id and b.sequence <= e.sequence)
     union all
     select 'gap in an account', account_id from ledger_entries where sequence is not null
       group by account_id having max(sequence) <> count(*)
     union all
     select 'credit without a balance', e.account_id from ledger_entries e join ledger_accounts a on a.id = e.account_id
       where (a.kind = 'credit') <> (e.balance_minor is not null)
     union all
     select 'paid without a payment', i.id from invoices i
       where i.status = 'paid' and (select sum(p.amount_minor) from payments p where p.invoice_id = i.id) <> i.total_minor`,
  );
  expect(wrong).toEqual([]);
  await settled(product);
  expect(await audit(product.databaseUrl)).toEqual([]);
}

describe('the ledger', () => {
  const amount = fc.integer({ min: 1, max: 2_000 });
  const step = fc.oneof(
    amount.map((amountMinor) => ({ kind: 'grant' as const, amountMinor })),
    fc.integer({ min: 1, max: 4 }).map((pieces) => ({ kind: 'credit' as const, pieces })),
    fc.integer({ min: 1, max: 4 }).map((pieces) => ({ kind: 'transfer' as const, pieces })),
  );
  const country = fc.constantFrom('CZ', null);

  it('knows what every customer has, after whatever happened', async () => {
    let transfers = 0;
    await fc.assert(
      fc.asyncProperty(country, fc.array(step, { minLength: 1, maxLength: 8 }), async (where, steps) => {
        const person = await newCustomer(product, { country: where });
        let expected = 0;
        for (const each of steps) {
          if (each.kind === 'grant') {
            expect((await grant(person.organizationId, each.amountMinor)).status).toBe(200);
            expected += each.amountMinor;
          } else {
            const id = await newInvoice(product, person, each.pieces);
            const due = each.pieces * (where === 'CZ' ? 363 : 300);
            if (each.kind === 'transfer') {
              transfers += 1;
              const transfer = { amount: formatMoney(due, 'EUR'), reference: `T-${transfers}` };
              const paid = await product.staff.post(`/staff/invoices/${id}/payments`, transfer);
              expect(paid.body.data.invoice.status).toBe('paid');
            } else {
              const paid = await payByCredit(person, id);
              expect(paid.status).toBe(due <= expected ? 200 : 409);
              if (due <= expected) expected -= due;
              else expect(paid.body.code).toBe('insufficient_credit');
            }
          }
          expect(await balanceOf(person)).toBe(formatMoney(expected, 'EUR'));
        }
      }),
      { numRuns: 12 },
    );
    await checkLedger();
  });

  it('keeps every cent of every transfer, and delivers nothing that is not paid in full', async () => {
    const minor = fc.integer({ min: 1, max: 900 });
    const which = fc.nat(5);
    const move = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant('order' as const), pieces: fc.integer({ min: 1, max: 2 }) }),
      },
      {
        weight: 5,
        arbitrary: fc.record({
          kind: fc.constant('transfer' as const),
          minor,
          to: fc.option(fc.uniqueArray(which, { maxLength: 3 })),
          part: fc.option(minor),
        }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('pay', 'cancel', 'expire'), which }) },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('refund' as const), which, part: fc.option(minor) }),
      },
    );
    let transfers = 0;
    await fc.assert(
      fc.asyncProperty(country, fc.array(move, { minLength: 3, maxLength: 14 }), async (where, moves) => {
        const person = await newCustomer(product, { country: where });
        const ids: number[] = [];
        let cameIn = 0;
        for (const each of moves) {
          const id = 'which' in each ? ids[each.which] : undefined;
          if (each.kind === 'order') ids.push(await newInvoice(product, person, each.pieces));
          else if (each.kind === 'transfer') {
            transfers += 1;
            const amount = each.part === null ? undefined : formatMoney(each.part, 'EUR');
            const named = each.to?.flatMap((at) =>
              ids[at] === undefined ? [] : [{ invoice_id: ids[at], amount }],
            );
            const answer = await product.staff.post(
              `/staff/organizations/${person.organizationId}/transfers`,
              {
                ...{ amount: formatMoney(each.minor, 'EUR'), currency: 'EUR', reference: `P-${transfers}` },
                ...(named && { invoices: named }),
              },
            );
            expect([200, 409]).toContain(answer.status);
            if (answer.status === 200) cameIn += each.minor;
          } else if (id === undefined) continue;
          else if (each.kind === 'pay') await payByCredit(person, id);
          else if (each.kind === 'cancel') await person.post(`/dashboard/invoices/${id}/cancel`);
          else if (each.kind === 'expire') {
            await sql(product, 'update invoices set expires_at = created_at where id = $1', id);
            await product.periodic('billing.expire');
          } else if (each.kind === 'refund') {
            const amount = each.part === null ? undefined : formatMoney(each.part, 'EUR');
            const body = { reason: 'A test', method: 'credit', amount };
            await product.staff.post(`/staff/invoices/${id}/refund`, body);
          }
        }
        const invoices = await Promise.all(
          ids.map(async (id) => (await person.get(`/dashboard/invoices/${id}`)).body.data.invoice),
        );
        const minorOf = (text: string) => Math.round(Number(text) * 100);
        const kept = invoices.reduce((sum, one) => sum + minorOf(one.amount_paid) - minorOf(one.refunded), 0);
        expect(minorOf(await balanceOf(person)) + kept).toBe(cameIn);
        await settled(product);
        const wrong = await sql(
          product,
          `select s.id, s.status, s.provisioning_state, i.status from services s join invoices i on i.id = s.invoice_id
           where i.organization_id = $1 and i.number is null and
             (s.status <> (case i.status when 'cancelled' then 'cancelled' else 'pending' end)
               or s.provisioning_state = 'running' or s.provisioning_state = 'done')`,
          person.organizationId,
        );
        expect(wrong).toEqual([]);
      }),
      { numRuns: 25 },
    );
    await checkLedger();
  }, 120_000);

  it('never lets a balance go below zero, however many pay at once', async () => {
    const person = await newCustomer(product, { creditMinor: 1_000 });
    const ids = await Promise.all(Array.from({ length: 6 }, () => newInvoice(product, person)));
    const answers = await Promise.all(ids.map((id) => payByCredit(person, id)));
    expect(answers.filter((each) => each.status === 200)).toHaveLength(3);
    for (const each of answers.filter((one) => one.status !== 200))
      expect([each.status, each.body.code]).toEqual([409, 'insufficient_credit']);
    expect(await balanceOf(person)).toBe('1.00');
    await checkLedger();
  });

  it('adds up when staff grants at once what the customer spends', async () => {
    const person = await newCustomer(product, { creditMinor: 600 });
    const ids = [await newInvoice(product, person), await newInvoice(product, person)];
    await Promise.all([
      ...ids.map((id) => payByCredit(person, id)),
      ...Array.from({ length: 8 }, () => grant(person.organizationId, 25)),
    ]);
    expect(await balanceOf(person)).toBe('2.00');
    await checkLedger();
  });

  it('opens the first account of a customer once when two grants come at once', async () => {
    const person = await newCustomer(product);
    const grants = await Promise.all(Array.from({ length: 4 }, () => grant(person.organizationId, 100)));
    expect(grants.map((each) => each.status)).toEqual([200, 200, 200, 200]);
    expect(await balanceOf(person)).toBe('4.00');
  });

  it('moves between the right accounts', async () => {
    const person = await newCustomer(product, { country: 'CZ', creditMinor: 1_000 });
    const id = await newInvoice(product, person);
    await payByCredit(person, id);
    const entries = await sql(
      product,
      `select a.kind, e.amount_minor from ledger_entries e join ledger_accounts a on a.id = e.account_id
       join ledger_transactions t on t.id = e.transaction_id where t.invoice_id = $1 order by a.kind`,
      id,
    );
    expect(entries).toEqual([
      { kind: 'credit', amount_minor: 363 },
      { kind: 'deferred', amount_minor: -300 },
      { kind: 'tax', amount_minor: -63 },
    ]);
  });

  it.each(['ledger_entries', 'ledger_transactions', 'journal'])('cannot be rewritten: %s', async (table) => {
    await expect(sql(product, `delete from ${table}`)).rejects.toThrow('append-only');
    const column = table === 'ledger_entries' ? 'amount_minor' : 'organization_id';
    await expect(sql(product, `update ${table} set ${column} = ${column}`)).rejects.toThrow('append-only');
  });

  it('takes no transaction that does not balance', async () => {
    const unbalanced = `insert into ledger_entries (transaction_id, account_id, amount_minor)
      select (select min(transaction_id) from ledger_entries), id, 1 from ledger_accounts where kind = 'bank'`;
    await expect(sql(product, unbalanced)).rejects.toThrow('does not balance');
  });
});

describe('credit in two currencies', () => {
  it('is told in the first one that there was, and a grant in its own', async () => {
    const person = await newCustomer(product);
    for (const amountMinor of [100, 100, 100]) await grant(person.organizationId, amountMinor);
    await newHosting(product, 500, { currency: 'JPY' });
    const body = { amount: '500', currency: 'JPY', description: 'A gift' };
    const path = `/staff/organizations/${person.organizationId}/credit`;
    const granted = await product.staff.post(path, body);
    expect(granted.body.data).toEqual({ credit_balance: '500', currency: 'JPY' });
    const told = async () => {
      const { data } = (await person.get('/dashboard/invoices')).body;
      const account = (await person.get('/dashboard/account')).body.data.user.credit;
      return [data.credit_balance, data.last_credit_transaction.currency, account];
    };
    expect(await told()).toEqual(['3.00', 'EUR', '3.00']);
    expect((await grant(person.organizationId, 50)).body.data.credit_balance).toBe('3.50');
    expect(await told()).toEqual(['3.50', 'EUR', '3.50']);
  });
});

describe('a grant', () => {
  it.each(['0', '0.00', '-1.00', '1.005', 'much', ''])('of %j is refused', async (amount) => {
    const { organization_id } = product.demo.customer;
    const body = { amount, currency: 'EUR', description: 'A gift' };
    const answer = await product.staff.post(`/staff/organizations/${organization_id}/credit`, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_amount']);
  });

  it('to nobody is refused', async () => {
    expect((await grant(4_242, 100)).status).toBe(404);
  });
});
