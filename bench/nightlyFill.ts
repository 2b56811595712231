import type { House } from './house.ts';
import { type Access, firstId, type Person } from './people.ts';

export interface Shop {
  /** It serves the API and runs no calendar of its own (`ROLE=api`). */
  house: House;
  access: Access;
  people: readonly Person[];
}

/** What the calendar has to do with a service tonight. */
export const works = ['invoice', 'reminder', 'charge', 'suspend'] as const;
export type Work = (typeof works)[number];

/** How many of ten services of a night each of these is due for. */
export const parts: Record<Work, number> = { invoice: 4, reminder: 3, charge: 2, suspend: 1 };

/** Ids of services are counted from here, a range for each fill; their invoices from the middle of it. */
export const firstService = 2 * firstId;
export const range = 1_000_000;
export const firstInvoice = range / 2;

/** Days from today on which what waits for this is due, and what was done before, so many days ago. */
const waiting: Record<Exclude<Work, 'invoice'>, { due: number; step: string; warned: number }> = {
  reminder: { due: 3, step: 'invoice', warned: 11 },
  charge: { due: 0, step: 'reminder', warned: 3 },
  suspend: { due: -14, step: 'last_reminder', warned: 7 },
};
const daysAhead = 10;

/**
 * Services that something is due for, by the parts of a night or all for the same. `by hand`: nothing that we do takes them
 * up, since they are for pgbench.
 */
export async function fill(
  shop: Shop,
  first: number,
  count: number,
  only?: { work: Work; how: 'by hand' | 'tonight' },
): Promise<void> {
  const { access } = shop;
  await access.sql('begin');
  let at = 0;
  for (const work of only === undefined ? works : [only.work]) {
    const part = only === undefined ? Math.round((count * parts[work]) / 10) : count;
    await fillPart(shop, { first: first + at, count: part, work, isByHand: only?.how === 'by hand' });
    at += part;
  }
  await access.sql('commit');
  await access.sql('analyze services, service_calendar, invoices, invoice_items, service_renewals');
}

interface Part {
  first: number;
  count: number;
  work: Work;
  isByHand: boolean;
}

async function fillPart({ access, house, people }: Shop, part: Part): Promise<void> {
  const { first, count, work, isByHand } = part;
  const { due, step, warned } =
    work === 'invoice' ? { due: daysAhead, step: null, warned: null } : waiting[work];
  await access.sql(
    `insert into services (id, organization_id, position, user_id, product_id, invoice_id, status, provisioning_state,
       cycle, currency, first_price_minor, price_minor, duedate, period_start, anchor_day, options, holds_stock, created_at,
       calendar_on)
     select s.id, s.owner, s.id, s.owner, $3, 0, 'active', 'done', 'monthly', 'EUR', 300, 300, s.due, s.due - 30,
       extract(day from s.due), '{}', false, now(), case when $6 then s.due end
     from (select $1::bigint + i as id, $4::bigint + 1 + ($1::bigint + i) % $5::bigint as owner, current_date + $7::int as due
       from generate_series(0, $2::bigint - 1) i) s`,
    [first, count, house.demo.products.hosting, firstId, people.length, isByHand || step !== null, due],
  );
  const these = 'id >= $1 and id < $1::bigint + $2::bigint';
  if (step !== null) await fillInvoices(access, part);
  if (step !== null || isByHand)
    await access.sql(
      `insert into service_calendar (service_id, organization_id, due_on, look_on, step, warned_step, warned_on, invoice_id)
       select id, organization_id, duedate, case when $3 then 'infinity' else current_date end, $4, $4,
         current_date - $5::int, case when $4::text is not null then id + ${firstInvoice} end
       from services where ${these}`,
      [first, count, isByHand, step, warned],
    );
}

/** Renewals that were invoiced a fortnight before they are due, and not paid. */
async function fillInvoices({ sql }: Access, { first, count }: Part): Promise<void> {
  const these = 's.id >= $1 and s.id < $1::bigint + $2::bigint';
  await sql(
    `insert into invoices (id, organization_id, position, user_id, kind, status, currency, subtotal_minor, discount_minor,
       tax_minor, total_minor, tax_rate_basis_points, tax_exempt, expires_at, created_at)
     select s.id + ${firstInvoice}, s.organization_id, s.id, s.user_id, 'renewal', 'unpaid', 'EUR', 300, 0, 0, 300, 0, true,
       s.duedate + time '23:59:59.999', s.duedate - 14 from services s where ${these}`,
    [first, count],
  );
  await sql(
    `insert into invoice_items (invoice_id, ordinal, organization_id, product_id, service_id, description, price_minor,
       setup_fee_minor, discount_minor)
     select s.id + ${firstInvoice}, 1, s.organization_id, s.product_id, s.id, 'Web hosting, monthly', 300, 0, 0
     from services s where ${these}`,
    [first, count],
  );
  await sql(
    `insert into service_renewals (invoice_id, organization_id, service_id, cycle, price_minor, starts_on, ends_on, state,
       created_at)
     select s.id + ${firstInvoice}, s.organization_id, s.id, 'monthly', 300, s.duedate, (s.duedate + interval '1 month')::date,
       'waiting', now() from services s where ${these}`,
    [first, count],
  );
}

/** Everybody has saved a card at the payment provider, which renewals are charged to. */
export async function saveCards(
  { access, people }: Shop,
  cards: readonly { customer: string; method: string }[],
): Promise<void> {
  const values = [
    people.map(({ organizationId }) => organizationId),
    cards.map(({ customer }) => customer),
    cards.map(({ method }) => method),
  ];
  await access.sql(
    `insert into provider_customers (organization_id, driver, reference, created_at)
     select o, 'stripe', c, now() from unnest($1::bigint[], $2::text[]) as p(o, c)`,
    values.slice(0, 2),
  );
  await access.sql(
    `insert into payment_methods (id, organization_id, driver, reference, type, is_default, created_at)
     select o, o, 'stripe', m, 'card', true, now() from unnest($1::bigint[], $2::text[]) as p(o, m)`,
    [values[0], values[2]],
  );
}
