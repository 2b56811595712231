import { afterAll, beforeAll, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { rentedServer } from '../../../test/rack/metered.ts';
import { newServerProduct } from '../../../test/rack/stock.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';

let paid: PaidProduct;
let who: Person;
beforeAll(async () => {
  paid = await startPaidProduct({ env: { HYPERVISOR: 'simulator', NETWORK4: '10.85.0.0/24' } });
  who = await newCustomer(paid.product, { creditMinor: 1_000 });
});
afterAll(() => paid.stop({ audited: true }));

const terms = { billing: 'total', included: 1, price_minor: 200, direction: 'greater' };
const invoiceOf = async (id: number) => (await who.get(`/dashboard/invoices/${id}`)).body.data.invoice;
const creditOf = async () => (await who.get('/dashboard/invoices')).body.data.credit_balance;

/** A month that was reckoned, and that nobody asks for yet. */
const reckoned = (id: number, month: string) =>
  sql(
    paid.product,
    `insert into service_traffic (service_id, organization_id, month, currency, terms, used_bytes, over_thousandths, amount_minor, settled_at)
     values ($1, $2, $4, 'EUR', $3::text::jsonb, 3e12, 2000, 400, now())`,
    ...[id, who.organizationId, JSON.stringify(terms), `${month}-01`],
  );

/** A service that has ended and whose month of traffic is asked for by a last invoice. */
async function ended(): Promise<number> {
  const { product } = paid;
  const traffic = { billing: 'total', included: 1, price: '2.00' };
  const { id } = await rentedServer(product, who, await newServerProduct(product, { traffic }));
  await reckoned(id, '2020-01');
  const { status } = await product.staff.post(`/staff/services/${id}/terminate`, { reason: 'For a test' });
  expect(status).toBe(200);
  await settled(product);
  return id;
}

async function askedBy(serviceId: number): Promise<number> {
  const [row] = await sql<{ id: number }>(
    paid.product,
    'select invoice_id::int8 as id from service_traffic where service_id = $1',
    serviceId,
  );
  return Number(row?.id);
}

/** Pays by card; gives how a bank decides about it. */
async function byCard(id: number) {
  const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card' });
  await paid.click(body.data.redirect_url);
  const { payments } = await until(
    () => invoiceOf(id),
    ({ status }) => status === 'paid',
  );
  await settled(paid.product);
  const card = payments.find(({ method }: { method: string }) => method === 'stripe');
  const dispute = paid.stripe.account.dispute(card.reference).id;
  return async (outcome: 'won' | 'lost') => {
    paid.stripe.account.closeDispute(dispute, outcome);
    await until(
      () => sql<{ state: string }>(paid.product, 'select state from disputes where reference = $1', dispute),
      ([row]) => row?.state === outcome,
    );
    await settled(paid.product);
  };
}

it('a last invoice that a bank took back and gave again asks once, whoever wins in the end', async () => {
  const serviceId = await ended();
  const first = await askedBy(serviceId);
  const decided = await byCard(first);
  await decided('lost');
  const second = await askedBy(serviceId);
  expect([(await invoiceOf(first)).status, (await invoiceOf(second)).status]).toEqual(['refunded', 'unpaid']);
  await decided('won');
  expect([(await invoiceOf(first)).status, (await invoiceOf(second)).status]).toEqual(['paid', 'cancelled']);
  expect([await askedBy(serviceId), await creditOf()]).toEqual([first, '10.00']);

  // And once more, and this time it is paid otherwise meanwhile.
  await decided('lost');
  const third = await askedBy(serviceId);
  expect([first, second]).not.toContain(third);
  await payByCredit(who, third);
  await settled(paid.product);
  await decided('won');
  expect([(await invoiceOf(third)).status, await askedBy(serviceId)]).toEqual(['paid', third]);
  expect(await creditOf()).toBe('10.00');
  for (const outcome of ['lost', 'won'] as const) await decided(outcome);
  expect([await askedBy(serviceId), await creditOf()]).toEqual([third, '10.00']);
});

it('what else the withdrawn invoice asked for is asked for by another one', async () => {
  const serviceId = await ended();
  const first = await askedBy(serviceId);
  const decided = await byCard(first);
  await reckoned(serviceId, '2020-02');
  await decided('lost');
  await decided('won');
  const asked = await sql<{ month: string; id: number }>(
    paid.product,
    `select to_char(month, 'YYYY-MM') as month, invoice_id::int8 as id from service_traffic where service_id = $1 order by month`,
    serviceId,
  );
  expect(asked[0]).toEqual({ month: '2020-01', id: first });
  expect((await invoiceOf(first)).status).toBe('paid');
  expect(asked[1]?.month).toBe('2020-02');
  expect((await invoiceOf(Number(asked[1]?.id))).status).toBe('unpaid');
});
