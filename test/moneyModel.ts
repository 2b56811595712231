import fc from 'fast-check';
import { expect } from 'vitest';
import type { Response } from './client.ts';
import { newInvoice, payByCredit } from './invoices.ts';
import { newCustomer, type Person } from './people.ts';
import type { TestProduct } from './product.ts';
import { settled, sql } from './sql.ts';

/** One thing that somebody does with money. `which` picks among what there is, the oldest first. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('order' as const), pieces: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('grant' as const), minor: fc.integer({ min: 1, max: 900 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('transfer' as const),
      minor: fc.integer({ min: 1, max: 1_500 }),
      /** Names an invoice, or pays what is due; `credit` keeps all of it. */
      to: fc.oneof(fc.nat(50), fc.constantFrom('due' as const, 'credit' as const)),
      twice: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('pay' as const), which: fc.nat(50), twice: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('refund' as const),
      which: fc.nat(50),
      minor: fc.option(fc.integer({ min: 1, max: 700 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(50) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('deliver' as const), which: fc.nat(50) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('terminate' as const), which: fc.nat(50) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('takeBack' as const), which: fc.nat(20) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface ModelInvoice {
  id: number;
  serviceIds: number[] | null;
  totalMinor: number;
  taxMinor: number;
  paidMinor: number;
  refundedMinor: number;
  status: 'unpaid' | 'paid' | 'cancelled';
}

interface ModelTransfer {
  id: number;
  minor: number;
  parts: { invoice: ModelInvoice; minor: number }[];
  isTakenBack: boolean;
}

/** The same books, kept in memory by rules written down a second time. */
class Customer {
  readonly person: Person;
  readonly hasTax: boolean;
  creditMinor = 0;
  readonly invoices: ModelInvoice[] = [];
  readonly transfers: ModelTransfer[] = [];
  constructor(person: Person, hasTax: boolean) {
    this.person = person;
    this.hasTax = hasTax;
  }
}

interface Books {
  bank: number;
  goodwill: number;
  tax: number;
  /** Earned, or owed as service. */
  sold: number;
}

const minorOf = (text: string) => Math.round(Number(text) * 100);
const textOf = (minor: number) => (minor / 100).toFixed(2);
const taxWithin = ({ taxMinor, totalMinor }: ModelInvoice, refundedMinor: number) =>
  totalMinor === 0 ? 0 : Math.floor((2 * taxMinor * refundedMinor + totalMinor) / (2 * totalMinor));

/**
 * Does so many random things with money, many customers at once, and holds the product against the model: what each answer
 * should be, and at the end every balance, invoice and account of the ledger. Time passes in between.
 */
export async function runMoneyModel(
  product: TestProduct,
  options: { steps: number; customers: number; seed: number },
) {
  const { steps, customers: count, seed } = options;
  const books: Books = { bank: 0, goodwill: 0, tax: 0, sold: 0 };
  await sql(
    product,
    `insert into tax_rates (country, rate_basis_points) values ('CZ', 2100) on conflict do nothing`,
  );
  const before = await accountsOf(product);
  const customers: Customer[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const hasTax = nth % 2 === 0;
    customers.push(new Customer(await newCustomer(product, { country: hasTax ? 'CZ' : null }), hasTax));
  }
  const all = fc.sample(step, { numRuns: steps, seed });
  const perRound = count * 10;
  for (let at = 0; at < all.length; at += perRound) {
    const round = all.slice(at, at + perRound);
    await Promise.all(
      customers.map(async (customer, lane) => {
        for (let index = lane; index < round.length; index += count) {
          await take(product, customer, books, round[index] as Step, `${seed}-${at + index}`);
        }
      }),
    );
    await passTime(product, customers, (at / perRound) % 3 === 2 ? 5 : 1);
  }
  await settled(product);
  await compare(product, customers, books, before, seed);
}

async function take(
  product: TestProduct,
  customer: Customer,
  books: Books,
  what: Step,
  name: string,
): Promise<void> {
  const say = (answer: Response) => `${name} ${JSON.stringify(what)}: ${JSON.stringify(answer.body)}`;
  const { person, invoices } = customer;
  const invoice = 'which' in what ? invoices[what.which % Math.max(1, invoices.length)] : undefined;
  const dueOf = (one: ModelInvoice) => (one.status === 'unpaid' ? one.totalMinor - one.paidMinor : 0);
  const pays = (one: ModelInvoice, minor: number) => {
    one.paidMinor += minor;
    if (one.paidMinor < one.totalMinor) return;
    one.status = 'paid';
    books.tax += one.taxMinor;
    books.sold += one.totalMinor - one.taxMinor;
  };
  switch (what.kind) {
    case 'order': {
      const netMinor = what.pieces * 300;
      const taxMinor = customer.hasTax ? Math.round(netMinor * 0.21) : 0;
      const id = await newInvoice(product, person, what.pieces);
      const sums = { totalMinor: netMinor + taxMinor, taxMinor, paidMinor: 0, refundedMinor: 0 };
      invoices.push({ id, serviceIds: null, ...sums, status: 'unpaid' });
      return;
    }
    case 'grant': {
      const body = { amount: textOf(what.minor), currency: 'EUR', description: 'A gift' };
      const answer = await product.staff.post(`/staff/organizations/${person.organizationId}/credit`, body);
      expect(answer.status, say(answer)).toBe(200);
      customer.creditMinor += what.minor;
      books.goodwill += what.minor;
      return;
    }
    case 'transfer': {
      const named =
        typeof what.to === 'number' ? invoices[what.to % Math.max(1, invoices.length)] : undefined;
      const isRefused = named !== undefined && named.status === 'paid';
      const body = {
        ...{ amount: textOf(what.minor), currency: 'EUR', reference: `M-${name}` },
        ...(named && { invoices: [{ invoice_id: named.id }] }),
        ...(what.to === 'credit' && { invoices: [] }),
      };
      const send = () => product.staff.post(`/staff/organizations/${person.organizationId}/transfers`, body);
      const answers = await Promise.all(what.twice ? [send(), send()] : [send()]);
      const done = answers.filter(({ status }) => status === 200);
      expect(done.length, answers.map(say).join()).toBe(isRefused ? 0 : 1);
      if (isRefused) return;
      books.bank += what.minor;
      let leftMinor = what.minor;
      const parts: ModelTransfer['parts'] = [];
      const wanted =
        what.to === 'credit' ? [] : named ? [named] : invoices.filter((one) => one.status === 'unpaid');
      for (const one of wanted) {
        const minor = Math.min(one.status === 'cancelled' ? one.totalMinor : dueOf(one), leftMinor);
        if (minor === 0) continue;
        leftMinor -= minor;
        parts.push({ invoice: one, minor });
        if (one.status === 'cancelled') customer.creditMinor += minor;
        else pays(one, minor);
      }
      customer.creditMinor += leftMinor;
      customer.transfers.push({
        id: done[0]?.body.data.transfer.id,
        minor: what.minor,
        parts,
        isTakenBack: false,
      });
      return;
    }
    case 'pay': {
      if (invoice === undefined) return;
      const dueMinor = dueOf(invoice);
      const isPaid = invoice.status === 'unpaid' && customer.creditMinor >= dueMinor;
      const answers = await Promise.all(
        Array.from({ length: what.twice ? 2 : 1 }, () => payByCredit(person, invoice.id)),
      );
      expect(answers.filter(({ status }) => status === 200).length, answers.map(say).join()).toBe(
        isPaid ? 1 : 0,
      );
      if (!isPaid) return;
      customer.creditMinor -= dueMinor;
      pays(invoice, dueMinor);
      return;
    }
    case 'refund': {
      if (invoice === undefined) return;
      const mostMinor =
        invoice.status === 'paid'
          ? invoice.totalMinor - invoice.refundedMinor
          : invoice.status === 'unpaid'
            ? invoice.paidMinor
            : 0;
      const minor = what.minor ?? mostMinor;
      const answer = await product.staff.post(`/staff/invoices/${invoice.id}/refund`, {
        ...{ reason: 'A test', method: 'credit' },
        ...(what.minor !== null && { amount: textOf(what.minor) }),
      });
      const isGiven = mostMinor > 0 && minor <= mostMinor;
      expect(answer.status === 200, say(answer)).toBe(isGiven);
      if (!isGiven) return;
      customer.creditMinor += minor;
      if (invoice.status === 'unpaid') invoice.paidMinor -= minor;
      else givesBack(invoice, minor, books);
      return;
    }
    case 'cancel': {
      if (invoice === undefined) return;
      const answer = await person.post(`/dashboard/invoices/${invoice.id}/cancel`);
      expect(answer.status === 200, say(answer)).toBe(invoice.status === 'unpaid');
      if (invoice.status === 'unpaid') cancels(customer, invoice);
      return;
    }
    case 'deliver':
    case 'terminate': {
      if (invoice === undefined) return;
      invoice.serviceIds ??= (
        await sql<{ id: number }>(
          product,
          'select id from services where invoice_id = $1 order by id',
          invoice.id,
        )
      ).map(({ id }) => id);
      const [serviceId] = invoice.serviceIds;
      // What it is worth is the ledger's to know; whether it may be done depends on jobs that are on their way.
      const answer = await product.staff.post(`/staff/services/${serviceId}/${what.kind}`, {
        ...(what.kind === 'terminate' && { reason: 'A test' }),
      });
      expect([200, 409], say(answer)).toContain(answer.status);
      return;
    }
    case 'takeBack': {
      const transfer = customer.transfers[what.which % Math.max(1, customer.transfers.length)];
      if (transfer === undefined) return;
      const answer = await product.staff.post(`/staff/transfers/${transfer.id}/take-back`, {
        reason: 'A test',
      });
      const taken = transfer.parts.map(({ invoice: one, minor }) => ({
        one,
        minor: Math.min(minor, one.status === 'paid' ? one.totalMinor - one.refundedMinor : one.paidMinor),
      }));
      const creditMinor = transfer.minor - taken.reduce((sum, { minor }) => sum + minor, 0);
      const isDone = !transfer.isTakenBack && customer.creditMinor >= creditMinor;
      expect(answer.status, say(answer)).toBe(isDone ? 200 : 409);
      if (!isDone) return;
      transfer.isTakenBack = true;
      customer.creditMinor -= creditMinor;
      books.bank -= transfer.minor;
      for (const { one, minor } of taken) {
        if (one.status === 'paid') givesBack(one, minor, books);
        else one.paidMinor -= minor;
      }
    }
  }
}

function givesBack(invoice: ModelInvoice, minor: number, books: Books): void {
  const taxMinor =
    taxWithin(invoice, invoice.refundedMinor + minor) - taxWithin(invoice, invoice.refundedMinor);
  invoice.refundedMinor += minor;
  books.tax -= taxMinor;
  books.sold -= minor - taxMinor;
}

function cancels(customer: Customer, invoice: ModelInvoice): void {
  customer.creditMinor += invoice.paidMinor;
  invoice.paidMinor = 0;
  invoice.status = 'cancelled';
}

/** Days go by: what nobody paid expires after a few of them, and what is paid is earned. */
async function passTime(product: TestProduct, customers: Customer[], days: number): Promise<void> {
  await settled(product);
  product.clock.travel(days * 86_400_000);
  await product.periodic('billing.expire');
  await product.periodic('billing.earn');
  if (days < 4) {
    // Those whose day has come, as the product says: when that is has tests of its own.
    const expired = await sql<{ id: number }>(product, `select id from invoices where status = 'cancelled'`);
    const ids = new Set(expired.map(({ id }) => id));
    for (const customer of customers)
      for (const invoice of customer.invoices)
        if (invoice.status === 'unpaid' && ids.has(invoice.id)) cancels(customer, invoice);
    return;
  }
  for (const customer of customers)
    for (const invoice of customer.invoices) if (invoice.status === 'unpaid') cancels(customer, invoice);
}

async function accountsOf(product: TestProduct): Promise<Record<string, number>> {
  const rows = await sql<{ kind: string; minor: number }>(
    product,
    `select a.kind, sum(e.amount_minor)::bigint as minor from ledger_entries e
     join ledger_accounts a on a.id = e.account_id where a.currency = 'EUR' group by a.kind`,
  );
  return Object.fromEntries(rows.map(({ kind, minor }) => [kind, minor]));
}

async function compare(
  product: TestProduct,
  customers: Customer[],
  books: Books,
  before: Record<string, number>,
  seed: number,
): Promise<void> {
  for (const { person, creditMinor, invoices } of customers) {
    const { credit_balance } = (await person.get('/dashboard/invoices?limit=1')).body.data;
    expect(minorOf(credit_balance), `seed ${seed}`).toBe(creditMinor);
    const rows = await sql<{ id: number; paid_minor: number; refunded_minor: number; status: string }>(
      product,
      `select id, paid_minor, refunded_minor, status from invoices
       where organization_id = $1 and kind <> 'credit_note' order by position`,
      person.organizationId,
    );
    const expected = invoices.map(({ id, paidMinor, refundedMinor, totalMinor, status }) => ({
      ...{ id, paid_minor: paidMinor, refunded_minor: refundedMinor },
      status: refundedMinor === 0 ? status : refundedMinor === totalMinor ? 'refunded' : 'partially_refunded',
    }));
    expect(rows, `seed ${seed}`).toEqual(expected);
  }
  const now = await accountsOf(product);
  const moved = (kind: string) => (now[kind] ?? 0) - (before[kind] ?? 0);
  const parts = customers
    .flatMap(({ invoices }) => invoices)
    .reduce((sum, { status, paidMinor }) => sum + (status === 'unpaid' ? paidMinor : 0), 0);
  const credit = customers.reduce((sum, { creditMinor }) => sum + creditMinor, 0);
  const found = {
    ...{ bank: moved('bank'), goodwill: moved('goodwill'), tax: -moved('tax'), parts: -moved('parts') },
    ...{ credit: -moved('credit'), sold: -(moved('deferred') + moved('revenue')) },
  };
  expect(found, `seed ${seed}`).toEqual({ ...books, parts, credit });
}
