import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { payByCredit } from '../../../test/invoices.ts';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, newStaff, type Person, signedIn } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';

const changes = watchChanges();

let paid: PaidProduct;
beforeAll(async () => {
  paid = await startPaidProduct();
});
afterAll(async () => {
  await settled(paid.product);
  expect(await audit(paid.product.databaseUrl)).toEqual([]);
  paid.product.clock.travel(86_400_000);
  await paid.product.periodic('billing.checkLedger');
  expect(await sql(paid.product, 'select message from ledger_differences')).toEqual([]);
  await paid.stop();
});

const text = (minor: number) => (minor / 100).toFixed(2);
const ask = (who: Person, body: object = {}) =>
  paid.product.staff.post(`/staff/organizations/${who.organizationId}/credit-returns`, {
    ...{ currency: 'EUR', reason: 'You close your account' },
    ...body,
  });
const shown = async (who: Person) => (await ask(who, { dry_run: true })).body.data.returnable;
const creditOf = async (who: Person) => (await who.get('/dashboard/invoices')).body.data.credit_balance;
let transfers = 0;

async function transferred(who: Person, minor: number): Promise<void> {
  transfers += 1;
  const body = { amount: text(minor), currency: 'EUR', reference: `OWN-${transfers}`, invoices: [] };
  const path = `/staff/organizations/${who.organizationId}/transfers`;
  const answer = await paid.product.staff.post(path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

async function given(who: Person, minor: number): Promise<void> {
  const body = { amount: text(minor), currency: 'EUR', description: 'A gift' };
  const path = `/staff/organizations/${who.organizationId}/credit`;
  expect((await paid.product.staff.post(path, body)).status).toBe(200);
}

/** Buys something from credit, which is never delivered; gives its invoice. */
async function spent(who: Person, minor: number): Promise<number> {
  const products = [{ id: await newHosting(paid.product, minor), cycle: 'monthly', type: 'Hosting' }];
  const { invoice_id: id } = (await who.post('/cart/checkout/invoice', { products })).body.data;
  expect((await payByCredit(who, id)).status).toBe(200);
  return id;
}

async function givenBack(id: number): Promise<void> {
  const body = { method: 'credit', reason: 'A test' };
  expect((await paid.product.staff.post(`/staff/invoices/${id}/refund`, body)).status).toBe(200);
}

it('what a customer paid goes back by bank transfer: shown, taken at once, marked as done, and told', async () => {
  const who = await newCustomer(paid.product);
  await transferred(who, 2_000);
  await given(who, 500);
  const preview = (await ask(who, { dry_run: true })).body.data;
  expect(preview).toMatchObject({ credit_balance: '25.00', returnable: '20.00', credit_return: null });
  expect(await creditOf(who)).toBe('25.00');
  expect((await ask(who, { amount: '20.01' })).body.code).toBe('invalid_amount');
  const answer = await ask(who, { amount: '12.50' });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const { credit_return: made } = answer.body.data;
  expect(made).toMatchObject({ state: 'open', amount: '12.50', paid_on: null });
  expect([await creditOf(who), await shown(who)]).toEqual(['12.50', '7.50']);
  const concerns = async () =>
    (await paid.product.staff.get('/staff/attention')).body.data.concerns.filter(
      ({ kind }: { kind: string }) => kind === 'credit_return.open',
    );
  expect(await concerns()).toMatchObject([{ subject: { type: 'credit_return', id: made.id } }]);
  const path = `/staff/credit-returns/${made.id}`;
  const done = await paid.product.staff.post(`${path}/done`, { paid_on: '2026-03-02' });
  expect(done.body.data.credit_return).toMatchObject({ state: 'done', paid_on: '2026-03-02' });
  expect(await concerns()).toEqual([]);
  for (const [what, body] of [
    ['done', { paid_on: '2026-03-03' }],
    ['cancel', { reason: 'Too late' }],
  ] as const)
    expect((await paid.product.staff.post(`${path}/${what}`, body)).status).toBe(409);
  await settled(paid.product);
  const { mails } = (await paid.product.staff.get(`/staff/mails?recipient=${encodeURIComponent(who.email)}`))
    .body.data;
  expect(mails.some(({ subject }: { subject: string }) => subject.includes('of your credit'))).toBe(true);
  const list = (await paid.product.staff.get(`/staff/credit-returns?organization_id=${who.organizationId}`))
    .body.data.credit_returns;
  expect(list).toEqual([done.body.data.credit_return]);
  const { transactions } = (await who.get('/dashboard/credit/transactions')).body.data;
  expect(transactions[0]).toMatchObject({ kind: 'credit_returned', amount: '-12.50' });
});

it('one that was not made is credit again, and can be paid out once more', async () => {
  const who = await newCustomer(paid.product);
  await transferred(who, 900);
  const { id } = (await ask(who)).body.data.credit_return;
  expect([await creditOf(who), await shown(who)]).toEqual(['0.00', '0.00']);
  expect((await ask(who)).body.code).toBe('conflict');
  const path = `/staff/credit-returns/${id}/cancel`;
  const answers = await Promise.all(
    [1, 2, 3].map(() => paid.product.staff.post(path, { reason: 'The account number was wrong' })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  expect([await creditOf(who), await shown(who)]).toEqual(['9.00', '9.00']);
});

it('never more than there is, by many at once and while it is spent', async () => {
  const who = await newCustomer(paid.product);
  await transferred(who, 1_000);
  const products = [{ id: await newHosting(paid.product, 400), cycle: 'monthly', type: 'Hosting' }];
  const { invoice_id: id } = (await who.post('/cart/checkout/invoice', { products })).body.data;
  const [bought, ...answers] = await Promise.all([
    payByCredit(who, id),
    ...Array.from({ length: 6 }, () => ask(who, { amount: '3.00' })),
  ]);
  const out = answers.filter(({ status }) => status === 200).length * 300;
  const left = 1_000 - out - (bought.status === 200 ? 400 : 0);
  expect(left).toBeGreaterThanOrEqual(0);
  expect(left).toBeLessThan(300);
  expect(await creditOf(who)).toBe(text(left));
});

it('a gift is not paid out, nor what it bought and was given back; nor what a bank holds', async () => {
  const who = await newCustomer(paid.product, { creditMinor: 700 });
  expect(await shown(who)).toBe('0.00');
  expect((await ask(who)).body.code).toBe('conflict');
  await givenBack(await spent(who, 600));
  expect([await creditOf(who), await shown(who)]).toEqual(['7.00', '0.00']);
  const { invoice_id: topUp } = (await who.post('/dashboard/credit/top-up', { amount: '5.00' })).body.data;
  const { body } = await who.post(`/dashboard/invoices/${topUp}/pay`, { method: 'card' });
  await paid.click(body.data.redirect_url);
  const { payments } = await until(
    async () => (await who.get(`/dashboard/invoices/${topUp}`)).body.data.invoice,
    ({ status }) => status === 'paid',
  );
  expect(await shown(who)).toBe('5.00');
  const { id: dispute } = paid.stripe.account.dispute(payments[0].reference);
  await until(
    () => shown(who),
    (returnable) => returnable === '0.00',
  );
  paid.stripe.account.closeDispute(dispute, 'won');
  await until(
    () => shown(who),
    (returnable) => returnable === '5.00',
  );
});

it('a gift that comes after something was bought does not turn what that cost into money', async () => {
  const who = await newCustomer(paid.product);
  await transferred(who, 500);
  await spent(who, 500);
  await given(who, 300);
  expect([await creditOf(who), await shown(who)]).toEqual(['3.00', '0.00']);
  // Nor what was bought by card and never was credit.
  const products = [{ id: await newHosting(paid.product, 900), cycle: 'monthly', type: 'Hosting' }];
  const { invoice_id: id } = (await who.post('/cart/checkout/invoice', { products })).body.data;
  const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card' });
  await paid.click(body.data.redirect_url);
  await until(
    async () => (await who.get(`/dashboard/invoices/${id}`)).body.data.invoice.status,
    (status) => status === 'paid',
  );
  expect([await creditOf(who), await shown(who)]).toEqual(['3.00', '0.00']);
});

it('does not bring back what was given up with an account, but what came since', async () => {
  const who = await newCustomer(paid.product);
  await transferred(who, 500);
  const here = await signedIn(paid.product, who);
  const closed = await here.post('/dashboard/account/close', { give_up_credit: true });
  expect(closed.status, JSON.stringify(closed.body)).toBe(200);
  expect((await ask(who)).body.code).toBe('conflict');
  await transferred(who, 300);
  const answer = await ask(who);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  expect(answer.body.data.credit_return.amount).toBe('3.00');
});

it('is for the company alone, of an organization that there is', async () => {
  const who = await newCustomer(paid.product);
  for (const by of [await newStaff(paid.product, 'support'), await newStaff(paid.product, 'operator'), who]) {
    const path = `/staff/organizations/${who.organizationId}/credit-returns`;
    expect((await by.post(path, { currency: 'EUR', reason: 'A', dry_run: true })).status).toBe(403);
  }
  const nobody = '/staff/organizations/4242/credit-returns';
  const answer = await paid.product.staff.post(nobody, { currency: 'EUR', reason: 'A' });
  expect(answer.body.code).toBe('not_found');
  for (const amount of ['0.00', '-1.00', '1.001', 'all'])
    expect((await ask(who, { amount })).body.code).toBe('invalid_amount');
  expect((await paid.product.staff.get('/staff/credit-returns/4242')).body.code).toBe('not_found');
});

const minor = fc.integer({ min: 100, max: 900 });
const step = fc.oneof(
  ...(['transfer', 'gift', 'spend', 'giveBack', 'payOut'] as const).map((kind) =>
    fc.record({ kind: fc.constant(kind), minor }),
  ),
);
const seed = Number(process.env.CREDIT_RETURNS_SEED ?? Date.now() % 2_147_483_647);

it(`whatever comes and goes, what is paid out was the customer's own, and gifts were used first (seed ${seed})`, async () => {
  await Promise.all(
    Array.from({ length: 4 }, async (_, lane) => {
      const who = await newCustomer(paid.product);
      const bought: { id: number; minor: number; byGifts: number }[] = [];
      let [own, gifts] = [0, 0];
      for (const each of fc.sample(step, { seed: seed + lane, numRuns: 12 })) {
        if (each.kind === 'transfer') {
          await transferred(who, each.minor);
          own += each.minor;
        }
        if (each.kind === 'gift') {
          await given(who, each.minor);
          gifts += each.minor;
        }
        if (each.kind === 'spend' && own + gifts >= each.minor) {
          const byGifts = Math.min(gifts, each.minor);
          bought.push({ id: await spent(who, each.minor), minor: each.minor, byGifts });
          gifts -= byGifts;
          own -= each.minor - byGifts;
        }
        const back = each.kind === 'giveBack' ? bought.shift() : undefined;
        if (back !== undefined) {
          await givenBack(back.id);
          gifts += back.byGifts;
          own += back.minor - back.byGifts;
        }
        if (each.kind === 'payOut') {
          const isThere = each.minor <= own;
          const answer = await ask(who, { amount: text(each.minor) });
          expect(answer.status, JSON.stringify(answer.body)).toBe(isThere ? 200 : 400);
          if (isThere) own -= each.minor;
        }
        expect([await creditOf(who), await shown(who)], JSON.stringify({ each, own, gifts })).toEqual([
          text(own + gifts),
          text(own),
        ]);
      }
    }),
  );
}, 120_000);

changes.leaveEntries(() => paid.product, ['returnCredit', 'finishCreditReturn', 'cancelCreditReturn']);
