import { cpuOf } from './cpu.ts';
import type { House } from './house.ts';
import { growthMib, nowMs, spreadOf } from './measure.ts';
import { type Access, firstId, type Person } from './people.ts';
import type { Figure } from './table.ts';

export interface MonthOptions {
  /** Invoices of the month, of one organization; another one has a thousand. */
  invoices: number;
  rounds: number;
  /** Requests of each kind a round. */
  requests: number;
}

interface Shop {
  house: House;
  access: Access;
  people: readonly Person[];
}

const small = 1_000;
const mostMib = 64;

/** A month of many invoices: listed, and sent to the bookkeeper, by a process that never has all of them. */
export async function measureMonth(shop: Shop, options: MonthOptions): Promise<Figure[]> {
  const { house, access, people } = shop;
  const [few, many] = people;
  if (few === undefined || many === undefined) throw new Error('nobody to invoice');
  const month = await lastMonth(access);
  await fillInvoices(access, few, { count: small, first: 5 * firstId, month });
  await fillInvoices(access, many, { count: options.invoices, first: 6 * firstId, month });
  await fillBooks(access, { count: options.invoices, month });
  const figures = [await firstPage(house, few, many, options)];
  const staff = { token: house.demo.staff.api_key };
  const own = { token: many.token, 'x-organization-id': String(many.organizationId) };
  const days = `from=${month}-01&to=${month}-28`;
  const exports: [string, string, Record<string, string>][] = [
    ["A customer's invoices of a month as CSV", `/dashboard/invoices/export?${days}`, own],
    ['All invoices of a month as CSV', `/staff/invoices/export?${days}`, staff],
    ['The books of a month as CSV', `/staff/bookkeeping/export?month=${month}`, staff],
    ['The books of a month for DATEV', `/staff/bookkeeping/export?month=${month}&format=datev`, staff],
  ];
  for (const [name, path, headers] of exports)
    figures.push(await exportFigure(house, name, path, headers, options.invoices));
  return figures;
}

async function lastMonth({ sql }: Access): Promise<string> {
  const { rows } = await sql(
    `select to_char(date_trunc('month', now()) - interval '1 day', 'YYYY-MM') as month`,
  );
  return (rows[0] as { month: string }).month;
}

interface Filling {
  count: number;
  month: string;
}

async function fillInvoices(
  { sql }: Access,
  { organizationId, userId }: Person,
  { count, first, month }: Filling & { first: number },
): Promise<void> {
  await sql(`insert into invoice_series (prefix, last) values ('M' || $1::bigint || '-', $2)`, [
    organizationId,
    count,
  ]);
  await sql(
    `insert into invoices (id, organization_id, position, user_id, series, sequence, number, issued_at, kind, status, currency,
       subtotal_minor, discount_minor, tax_minor, total_minor, paid_minor, tax_rate_basis_points, tax_exempt, expires_at,
       date_paid, created_at, buyer)
     select $1::bigint + i, $2, i + 1, $3, 'M' || $2::bigint || '-', i, 'M' || $2::bigint || '-' || i, at, 'renewal', 'paid', 'EUR', 300, 0, 57, 357,
       357, 1900, false, at, at, at, jsonb_build_object('name', 'Customer ' || i, 'country', 'DE', 'tax_id', null)
     from (select i, $4::date + i * interval '27 days' / $5::int as at from generate_series(1, $5::int) i) s`,
    [first, organizationId, userId, `${month}-01`, count],
  );
  await sql('vacuum analyze invoices');
}

/** A payment for each of them, in a month whose books are closed. */
async function fillBooks({ sql }: Access, { count, month }: Filling): Promise<void> {
  const day = `${month}-01`;
  await sql(
    `insert into settings (section, fields, changed_at) values ('bookkeeping', '{"consultant": 29098, "client": 55003}', now())`,
  );
  await sql(
    `insert into ledger_accounts (kind, currency) values ('bank', 'EUR'), ('revenue', 'EUR') on conflict do nothing`,
  );
  await sql(
    `with t as (
       insert into ledger_transactions (kind, description, created_at)
       select 'payment', 'Invoice ' || n, $1::date + n * interval '27 days' / $2::int from generate_series(1, $2::int) n
       returning id),
     kept as (insert into ledger_period_transactions (month, transaction_id) select $1::date, id from t)
     insert into ledger_entries (transaction_id, account_id, amount_minor)
     select t.id, a.id, case a.kind when 'bank' then 300 else -300 end
     from t, ledger_accounts a where a.organization_id is null and a.currency = 'EUR' and a.kind in ('bank', 'revenue')`,
    [day, count],
  );
  await sql(
    `insert into ledger_periods (month, state, reached, transactions, closed_at) values ($1::date, 'closed', 0, $2, now())`,
    [day, count],
  );
  await sql('vacuum analyze');
}

async function firstPage(
  house: House,
  few: Person,
  many: Person,
  { invoices, rounds, requests }: MonthOptions,
): Promise<Figure> {
  const ask = async ({ token, organizationId }: Person) => {
    const headers = { token, 'x-organization-id': String(organizationId) };
    const began = nowMs();
    for (let nth = 0; nth < requests; nth += 1) {
      const answer = await fetch(`${house.url}/api/dashboard/invoices?limit=25`, { headers });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`the list answered ${answer.status}`);
    }
    return (nowMs() - began) / requests;
  };
  await ask(few);
  const took: { few: number; many: number }[] = [];
  for (let round = 0; round < rounds; round += 1) took.push({ few: await ask(few), many: await ask(many) });
  const ms = (of: 'few' | 'many') => spreadOf(took.map((each) => each[of])).median.toFixed(2);
  return {
    name: 'List of invoices, first page',
    against: `${invoices.toLocaleString('en')} invoices in the organization against ${small.toLocaleString('en')}`,
    value: spreadOf(took.map((each) => each.many / each.few)),
    unit: 'ratio',
    target: { atMost: 1.3 },
    amounts: `${ms('many')} ms against ${ms('few')} ms`,
    limit: 'one level more of the index',
  };
}

async function exportFigure(
  house: House,
  name: string,
  path: string,
  headers: Record<string, string>,
  rows: number,
): Promise<Figure> {
  const read = async () => {
    const answer = await fetch(`${house.url}/api${path}`, { headers });
    if (answer.status !== 200 || answer.body === null)
      throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    let bytes = 0;
    for await (const chunk of answer.body) bytes += chunk.length;
    return bytes;
  };
  await read(); // what is loaded once is loaded
  const before = cpuOf(house);
  const began = nowMs();
  const { result: bytes, mib } = await growthMib(house.pid, read);
  const seconds = (nowMs() - began) / 1_000;
  const after = cpuOf(house);
  const cpu = (of: 'node' | 'database') => ((after[of] - before[of]) / 1_000).toFixed(1);
  return {
    name: `${name}: memory it takes at most`,
    against: 'the process before',
    value: spreadOf([mib]),
    unit: 'MiB',
    target: { atMost: mostMib },
    amounts:
      `${rows.toLocaleString('en')} rows, ${Math.round(bytes / 2 ** 20)} MiB in ${seconds.toFixed(1)} s; ` +
      `${cpu('node')} s of Node's CPU, ${cpu('database')} s of PostgreSQL's`,
    limit: 'garbage that is not collected yet; five hundred rows are held at a time',
  };
}
