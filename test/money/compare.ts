import { expect } from 'vitest';
import { sql } from '../sql.ts';
import { type Customer, dueDateOf, type Invoice, isAnew } from './books.ts';
import { minorOf } from './rules.ts';
import type { Shop } from './shop.ts';

/** What each account of the ledger holds, debits positive. */
export async function accountsOf(shop: Shop): Promise<Record<string, number>> {
  const rows = await sql<{ kind: string; minor: number }>(
    shop.product,
    `select a.kind, sum(e.amount_minor)::bigint as minor from ledger_entries e
     join ledger_accounts a on a.id = e.account_id where a.currency = 'EUR' group by a.kind`,
  );
  return Object.fromEntries(rows.map(({ kind, minor }) => [kind, minor]));
}

/** Holds every invoice, service, balance and account of the ledger against the model. */
export async function compare(shop: Shop, before: Record<string, number>): Promise<void> {
  const { seed, customers, books } = shop;
  for (const customer of customers) await compareCustomer(shop, customer);
  const now = await accountsOf(shop);
  const moved = (kind: string) => (now[kind] ?? 0) - (before[kind] ?? 0);
  const parts = customers
    .flatMap(({ invoices }) => invoices)
    .reduce((sum, { status, paidMinor }) => sum + (status === 'unpaid' ? paidMinor : 0), 0);
  const credit = customers.reduce((sum, { creditMinor }) => sum + creditMinor, 0);
  const open = countedOpen(shop);
  const receivable = open.reduce((sum, { totalMinor }) => sum + totalMinor, 0);
  const taxOfOpen = open.reduce((sum, { taxMinor }) => sum + taxMinor, 0);
  const tax = books.tax + taxOfOpen;
  const sold = books.sold + receivable - taxOfOpen;
  const owed = (...kinds: string[]) => kinds.reduce((sum, kind) => sum - moved(kind), 0);
  const found = {
    ...{ bank: moved('bank'), provider: moved('provider'), disputes: moved('disputes') },
    ...{ goodwill: moved('goodwill'), losses: moved('losses'), fees: moved('fees') },
    ...{ tax: owed('tax'), parts: owed('parts') },
    ...{ credit: owed('credit'), sold: owed('deferred', 'revenue'), receivable: moved('receivable') },
  };
  expect(found, `seed ${seed}`).toEqual({ ...books, tax, sold, receivable, parts, credit });
  expect(shop.paid.stripe.account.balance('eur'), `seed ${seed}`).toBe(books.provider);
}

/** Where invoices count since they were issued, what is not paid is owed, and sold already. */
function countedOpen({ product, customers }: Shop): Invoice[] {
  if (product.ctx.config.invoiceNumbering !== 'issue') return [];
  return customers
    .flatMap(({ invoices }) => invoices)
    .filter(({ status, kind }) => status === 'unpaid' && kind !== 'top_up');
}

async function compareCustomer(shop: Shop, { person, creditMinor, invoices, services }: Customer) {
  const { seed } = shop;
  const { credit_balance } = (await person.get('/dashboard/invoices?limit=1')).body.data;
  expect(minorOf(credit_balance), `seed ${seed}`).toBe(creditMinor);
  const rows = await sql(
    shop.product,
    `select id, paid_minor, refunded_minor, status from invoices
     where organization_id = $1 and kind <> 'credit_note' order by position`,
    person.organizationId,
  );
  expect(rows, `seed ${seed}`).toEqual(
    invoices.map(({ id, paidMinor, refundedMinor, totalMinor, status }) => ({
      ...{ id, paid_minor: paidMinor, refunded_minor: refundedMinor },
      status: refundedMinor === 0 ? status : refundedMinor === totalMinor ? 'refunded' : 'partially_refunded',
    })),
  );
  const running = await sql(
    shop.product,
    `select id, status, duedate::text, price_minor, product_id from services where organization_id = $1 order by id`,
    person.organizationId,
  );
  expect(running, `seed ${seed}`).toEqual(
    services
      .map((service) => ({
        ...{ id: service.id, status: service.status, duedate: dueDateOf(service) },
        ...{ price_minor: service.priceMinor, product_id: shop.goods[service.product].id },
      }))
      .toSorted((one, other) => one.id - other.id),
  );
}

/** What has come of it all, for the line that a run prints: a model in which nothing happens proves nothing. */
export function tally({ customers }: Shop): string {
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  for (const { invoices, services, transfers, charges } of customers) {
    for (const { kind, status, refundedMinor } of invoices)
      count(`${kind} ${refundedMinor > 0 ? 'given back' : status}`);
    for (const service of services) {
      const { status, periods, changes } = service;
      count(`service ${status}`);
      if (isAnew(service)) count('service of years');
      for (const _ of periods.slice(1)) count('period renewed');
      for (const _ of changes) count('upgrade paid');
    }
    for (const { isTakenBack } of transfers) count(isTakenBack ? 'transfer taken back' : 'transfer');
    for (const { dispute } of charges) count(dispute ? `charge disputed, ${dispute.state}` : 'charge');
  }
  return [...counts]
    .toSorted()
    .map(([what, times]) => `${what}: ${times}`)
    .join(', ');
}
