import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { newInvoice } from '../../../test/invoices.ts';
import { newCustomer } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { camt, type FileEntry, sendStatement } from '../../../test/statements.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';

let paid: PaidProduct;
beforeAll(async () => {
  paid = await startPaidProduct();
});
afterAll(async () => {
  await settled(paid.product);
  expect(await audit(paid.product.databaseUrl)).toEqual([]);
  expect(await account('provider')).toBe(paid.stripe.account.balance('eur'));
  await paid.stop();
});

/** What the ledger has of an account, in cents. */
async function account(kind: string): Promise<number> {
  const [row] = await sql<{ minor: number }>(
    paid.product,
    `select coalesce(sum(e.amount_minor), 0)::bigint as minor from ledger_entries e
     join ledger_accounts a on a.id = e.account_id where a.kind = $1 and a.currency = 'EUR'`,
    kind,
  );
  return Number(row?.minor);
}

const list = async () => (await paid.product.staff.get('/staff/payouts?limit=100')).body.data.payouts;
const payoutOf = async (reference: string) =>
  (await list()).find((each: { reference: string }) => each.reference === reference);
const becomes = (reference: string, state: string) =>
  until(
    () => payoutOf(reference),
    (payout) => payout?.state === state,
  );
const dayOf = (payout: { arrival_date: number }, plus = 0) =>
  new Date((payout.arrival_date + plus * 86_400) * 1_000).toISOString().slice(0, 10);

async function received(...entries: FileEntry[]) {
  const answer = await sendStatement(paid.product.staff, camt(entries));
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const { id } = answer.body.data.statements[0];
  await settled(paid.product);
  return async () =>
    (await paid.product.staff.get(`/staff/bank-statements/${id}/entries`)).body.data.bank_entries;
}

/** Each payout of a test is of an amount of its own. */
let next = 1_000;
const amountOf = (minor: number) => (minor / 100).toFixed(2);
const someAmount = () => {
  next += 1;
  return next;
};

describe('a payout', () => {
  it('moves money from the provider to the bank once it has arrived, with what it cost', async () => {
    const before = {
      bank: await account('bank'),
      fees: await account('fees'),
      provider: await account('provider'),
    };
    const minor = someAmount();
    const payout = paid.stripe.account.payOut(minor, 'eur', 15);
    expect(await becomes(payout.id, 'pending')).toMatchObject({ amount: amountOf(minor), fee: '0.15' });
    expect(await account('bank')).toBe(before.bank);
    paid.stripe.account.arrivePayout(payout.id);
    expect(await becomes(payout.id, 'paid')).toMatchObject({
      driver: 'stripe',
      amount: amountOf(minor),
      currency: 'EUR',
      fee: '0.15',
      arrives_on: dayOf(payout as never),
      failure: null,
      bank_entry: null,
    });
    expect(await account('bank')).toBe(before.bank + minor);
    expect(await account('fees')).toBe(before.fees + 15);
    expect(await account('provider')).toBe(before.provider - minor - 15);
  });

  it('told of many times, backwards and late has one effect', async () => {
    paid.stripe.events.hold();
    const minor = someAmount();
    const before = await account('bank');
    const payout = paid.stripe.account.payOut(minor, 'eur');
    paid.stripe.account.arrivePayout(payout.id);
    paid.product.clock.travel(60 * 3_600_000);
    expect(new Set(await paid.stripe.events.deliver(3, (events) => events.toReversed()))).toEqual(
      new Set([200]),
    );
    await becomes(payout.id, 'paid');
    for (const event of paid.stripe.events.events) await paid.stripe.events.send(event);
    await settled(paid.product);
    expect(await account('bank')).toBe(before + minor);
    expect((await list()).filter((each: { reference: string }) => each.reference === payout.id)).toHaveLength(
      1,
    );
    await paid.stripe.events.release();
  });

  it('that the bank gives back days after it seemed to arrive is taken back, and staff is told', async () => {
    const before = await account('bank');
    const payout = paid.stripe.account.payOut(someAmount(), 'eur');
    paid.stripe.account.arrivePayout(payout.id);
    await becomes(payout.id, 'paid');
    paid.stripe.account.failPayout(payout.id);
    expect(await becomes(payout.id, 'failed')).toMatchObject({
      failure: 'The bank account has been closed.',
    });
    expect(await account('bank')).toBe(before);
    const { concerns } = (await paid.product.staff.get('/staff/attention')).body.data;
    expect(concerns).toContainEqual(
      expect.objectContaining({
        kind: 'payout.failed',
        message: expect.stringContaining(
          `${payout.id} of stripe did not arrive: The bank account has been closed.`,
        ),
      }),
    );
    // What was told before that comes late, and says nothing new.
    for (const event of paid.stripe.events.events) await paid.stripe.events.send(event);
    await settled(paid.product);
    expect((await payoutOf(payout.id)).state).toBe('failed');
    expect(await account('bank')).toBe(before);
  });

  it('that nobody told us of is found in the night', async () => {
    const before = await account('bank');
    paid.stripe.events.hold();
    const minor = someAmount();
    const payout = paid.stripe.account.payOut(minor, 'eur');
    paid.stripe.events.lose();
    paid.stripe.account.arrivePayout(payout.id);
    paid.stripe.events.lose();
    await paid.product.clock.travel(25 * 3_600_000);
    await paid.product.periodic('billing.compareProvider');
    await becomes(payout.id, 'paid');
    expect(await account('bank')).toBe(before + minor);
    await paid.stripe.events.release();
  });

  it('is listed to those who look after money alone', async () => {
    const customer = await newCustomer(paid.product);
    expect((await customer.get('/staff/payouts')).status).toBe(403);
  });
});

describe('the bank’s statement', () => {
  const stripes = (minor: number, day: string, more: FileEntry = {}): FileEntry => ({
    ...{ amount: amountOf(minor), day, name: 'STRIPE TECHNOLOGY EUROPE LTD', text: 'STRIPE A1B2C3' },
    ...more,
  });

  it('has the same money: the entry is found, linked and does not count again', async () => {
    const minor = someAmount();
    const payout = paid.stripe.account.payOut(minor, 'eur');
    paid.stripe.account.arrivePayout(payout.id);
    await becomes(payout.id, 'paid');
    const before = await account('bank');
    const [entry] = await (await received(stripes(minor, dayOf(payout as never, 2))))();
    expect(entry).toMatchObject({
      state: 'dismissed',
      outcome: `It is payout ${payout.id} of stripe, which is booked by itself`,
      transfer_id: null,
    });
    expect(await payoutOf(payout.id)).toMatchObject({ bank_entry: { id: entry.id } });
    expect(await account('bank')).toBe(before);
  });

  it('that comes before the provider tells waits for it, and is found then', async () => {
    const minor = someAmount();
    paid.stripe.events.hold();
    const payout = paid.stripe.account.payOut(minor, 'eur');
    const entries = await received(stripes(minor, dayOf(payout as never)));
    expect(await entries()).toMatchObject([
      {
        state: 'open',
        outcome: expect.stringMatching(/names stripe, and no payout of as much is known yet/),
      },
    ]);
    paid.stripe.account.arrivePayout(payout.id);
    await paid.stripe.events.release();
    await becomes(payout.id, 'paid');
    await settled(paid.product);
    expect(await entries()).toMatchObject([{ state: 'dismissed' }]);
    expect((await payoutOf(payout.id)).bank_entry).toMatchObject({ id: (await entries())[0].id });
  });

  it('has two of as much: each is one payout, and a third is none', async () => {
    const minor = someAmount();
    const both = [paid.stripe.account.payOut(minor, 'eur'), paid.stripe.account.payOut(minor, 'eur')];
    for (const payout of both) paid.stripe.account.arrivePayout(payout.id);
    for (const payout of both) await becomes(payout.id, 'paid');
    const day = dayOf(both[0] as never);
    const entries = await (await received(stripes(minor, day), stripes(minor, day), stripes(minor, day)))();
    expect(entries.map(({ state }: { state: string }) => state).toSorted()).toEqual([
      'dismissed',
      'dismissed',
      'open',
    ]);
    const linked = await Promise.all(both.map(async ({ id }) => (await payoutOf(id)).bank_entry.id));
    expect(new Set(linked).size).toBe(2);
  });

  it('has as much of somebody else: a person decides, and is told of the payout', async () => {
    const minor = someAmount();
    const payout = paid.stripe.account.payOut(minor, 'eur');
    paid.stripe.account.arrivePayout(payout.id);
    await becomes(payout.id, 'paid');
    const entry = stripes(minor, dayOf(payout as never), { name: 'A PAYER', text: 'for something' });
    expect(await (await received(entry))()).toMatchObject([
      {
        state: 'open',
        outcome: expect.stringContaining(`as much is payout ${payout.id} of stripe: dismiss it if`),
      },
    ]);
    expect((await payoutOf(payout.id)).bank_entry).toBeNull();
  });

  it('that names an invoice pays it, whatever payouts there are', async () => {
    const who = await newCustomer(paid.product);
    const id = await newInvoice(paid.product, who);
    const payout = paid.stripe.account.payOut(300, 'eur');
    paid.stripe.account.arrivePayout(payout.id);
    await becomes(payout.id, 'paid');
    const entry = { amount: '3.00', day: dayOf(payout as never), text: `Invoice ${id}`, name: 'Ada' };
    expect(await (await received(entry))()).toMatchObject([{ state: 'booked' }]);
    expect((await who.get(`/dashboard/invoices/${id}`)).body.data.invoice.status).toBe('paid');
  });

  it('and the provider at one moment leave one of each, and the night heals what missed the other', async () => {
    const minor = someAmount();
    paid.stripe.events.hold();
    const payout = paid.stripe.account.payOut(minor, 'eur');
    paid.stripe.account.arrivePayout(payout.id);
    const [entries] = await Promise.all([
      received(stripes(minor, dayOf(payout as never))),
      paid.stripe.events.release(),
    ]);
    await becomes(payout.id, 'paid');
    await settled(paid.product);
    await paid.product.clock.travel(25 * 3_600_000);
    await paid.product.periodic('billing.compareProvider');
    await settled(paid.product);
    expect(await entries()).toMatchObject([{ state: 'dismissed' }]);
  });
});

describe('an event about a payout', () => {
  it('of another account, another mode or signed by somebody else changes nothing', async () => {
    paid.stripe.events.hold();
    const payout = paid.stripe.account.payOut(someAmount(), 'eur');
    const event = paid.stripe.events.events.at(-1) ?? {};
    paid.stripe.events.lose();
    await settled(paid.product);
    const before = await contents(paid.product);
    for (const other of [{ account: 'acct_other' }, { livemode: true }])
      expect(await paid.stripe.events.send({ ...event, ...other, id: 'evt_other' })).toBe(200);
    expect(await paid.stripe.events.send(event, { secret: 'whsec_other' })).toBe(400);
    expect(await paid.stripe.events.send(event, { agedS: 3_600 })).toBe(400);
    expect(await contents(paid.product)).toEqual(before);
    await paid.stripe.events.release();
    await paid.stripe.events.send(event);
    await becomes(payout.id, 'pending');
    paid.stripe.account.arrivePayout(payout.id);
    await becomes(payout.id, 'paid');
  });
});
