import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice } from '../../../test/invoices.ts';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, newStaff, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';

const changes = watchChanges();
const day = 86_400_000;

let paid: PaidProduct;
let person: Person;
beforeAll(async () => {
  paid = await startPaidProduct();
  person = await newCustomer(paid.product);
});
afterAll(() => paid.stop({ audited: true }));

/** As `innkeeper restore` leaves it, once a worker has settled it. */
async function noteRestore(): Promise<number> {
  const [row] = await sql<{ id: number }>(
    paid.product,
    `insert into restores (made_at, restored_at, settled_at) values ($1::timestamptz - interval '1 day', $1, $1)
     returning id::int`,
    paid.product.clock.now(),
  );
  return row?.id ?? 0;
}
const release = (id: number, as = paid.product.staff) => as.post(`/staff/restores/${id}/release`, {});
const statusOf = async (id: number) =>
  (await person.get(`/dashboard/invoices/${id}`)).body.data.invoice.status;
const held = async () =>
  (await paid.product.staff.get('/staff/attention')).body.data.concerns.filter(
    ({ kind }: { kind: string }) => kind === 'restore.held',
  );

describe('what a restore holds', () => {
  it('stays until the payment provider was compared and somebody who may has released it, and staff is told', async () => {
    const invoiceId = await newInvoice(paid.product, person);
    const id = await noteRestore();
    await paid.product.clock.travel(5 * day);
    await paid.product.periodic('billing.expire');
    expect(await statusOf(invoiceId)).toBe('unpaid');
    expect(await held()).toMatchObject([
      { subject: { type: 'restore', id }, message: expect.stringContaining('no order expires') },
    ]);
    // What a version before has settled has told nobody.
    expect(await held()).toMatchObject([
      { message: expect.stringContaining('nobody with API keys was told') },
    ]);

    const early = await release(id);
    expect([early.status, early.body.code]).toEqual([409, 'conflict']);
    expect(early.body.message).toContain('stripe');
    expect((await release(id, await newStaff(paid.product, 'support'))).status).toBe(403);

    // What the provider tells is looked at, and cannot be for now.
    const other = await newInvoice(paid.product, person);
    const { body } = await person.post(`/dashboard/invoices/${other}/pay`, { method: 'card' });
    paid.stripe.events.sendTo(null);
    await paid.click(body.data.redirect_url);
    paid.stripe.fail(/GET \/v1\/(checkout\/sessions|payment_intents)/, 'gone', 1_000);
    await paid.product.periodic('billing.compareProvider');
    const waiting = await until(
      () => release(id),
      ({ body: answer }) => /not booked yet/.test(answer.message ?? ''),
    );
    expect(waiting.status).toBe(409);
    await paid.product.periodic('billing.expire');
    expect(await statusOf(invoiceId)).toBe('unpaid');

    paid.stripe.heal();
    const answer = await until(
      () => release(id),
      ({ status }) => status !== 409,
      60_000,
    );
    expect([answer.status, answer.body.data]).toEqual([200, { released: true }]);
    expect(await statusOf(other)).toBe('paid');
    expect(await held()).toEqual([]);
    await paid.product.periodic('billing.expire');
    expect(await statusOf(invoiceId)).toBe('cancelled');
    expect((await release(id)).status).toBe(404);
    await settled(paid.product);
  }, 120_000);

  it('is compared with the provider at once, and not by what had begun before', async () => {
    await paid.product.periodic('billing.compareProvider');
    await settled(paid.product);
    const id = await noteRestore();
    // A comparison of the time of the backup goes on after it.
    await sql(
      paid.product,
      `insert into jobs (name, payload, run_at, created_at) values ('billing.compareWithProvider', '{"driver": "stripe"}', $1, $1)`,
      paid.product.clock.now(),
    );
    await settled(paid.product);
    expect((await release(id)).status).toBe(409);
    await paid.product.periodic('billing.compareProvider');
    await settled(paid.product);
    expect((await release(id)).status).toBe(200);
  }, 60_000);
});

describe('a change', () => changes.leaveEntries(() => paid.product, ['releaseRestore']));
