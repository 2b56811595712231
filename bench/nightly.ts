import { type Context, transaction } from '../src/platform/index.ts';
import { attendCalendar } from '../src/services/index.ts';
import type { House } from './house.ts';
import { type Pair, ratiosOf, spreadOf } from './measure.ts';
import { type Access, firstId, type Person } from './people.ts';
import { asScript, recording, type Sent, type Variable } from './pgbench.ts';
import { type Figure, perSecond } from './table.ts';

export interface NightlyOptions {
  rounds: number;
  /** Services that are due in each round. */
  services: number;
  /** How long pgbench writes the same rows in each round. */
  seconds: number;
}

interface Shop {
  house: House;
  access: Access;
  people: readonly Person[];
}

const connections = 8;
const atMost = 2.5;
/** Ids of services are counted from here, a range for each round and each connection of pgbench. */
const firstService = 2 * firstId;
const range = 1_000_000;
const daysAhead = 10;

/**
 * The calendar's run of a night in which every service is to be invoiced for its next period, against the statements
 * that one of them takes, sent by pgbench for one service after another.
 */
export async function measureNightly(shop: Shop, options: NightlyOptions): Promise<Figure[]> {
  const { house, access } = shop;
  process.kill(house.pid, 'SIGSTOP'); // its own calendar would take the work away
  try {
    return [await compare(shop, options)];
  } finally {
    await access.sql(`delete from jobs where state = 'ready'`);
    process.kill(house.pid, 'SIGCONT');
  }
}

async function compare(shop: Shop, { rounds, services, seconds }: NightlyOptions): Promise<Figure> {
  const { house, access } = shop;
  const script = await scriptOfOne(shop);
  const pairs: Pair[] = [];
  const times: number[] = [];
  let grownMib = 0;
  for (let round = 0; round < rounds; round += 1) {
    await fill(shop, firstService + (round + 1) * range, services);
    const before = process.memoryUsage().rss;
    const began = performance.now();
    await runNight(access.ctx);
    const tookS = (performance.now() - began) / 1_000;
    grownMib = Math.max(grownMib, (process.memoryUsage().rss - before) / 2 ** 20);
    await requireInvoiced(access, firstService + (round + 1) * range, services);
    for (let client = 0; client < connections; client += 1)
      await fill(shop, firstOf(round, client), Math.ceil((services * 3) / connections), 'taken up');
    const rate = await script.run(house, seconds, connections, { n: firstOf(round, 0) });
    times.push(tookS);
    pairs.push({ ours: rate, theirs: services / tookS }); // so that more is slower
  }
  script.remove();
  const rateOf = (key: keyof Pair) => perSecond(spreadOf(pairs.map((pair) => pair[key])).median);
  return {
    name: `Renewals of a night, ${services.toLocaleString('en')} services`,
    against: `the same statements a service by pgbench, prepared, ${connections} connections`,
    value: ratiosOf(pairs),
    unit: 'ratio',
    target: { atMost },
    amounts:
      `${rateOf('theirs')} against ${rateOf('ours')}; ${spreadOf(times).median.toFixed(1)} s in all; ` +
      `${script.statements} statements; memory grew by ${Math.round(grownMib)} MiB`,
    limit: 'one connection, which waits for each statement',
  };
}

function firstOf(round: number, client: number): number {
  return firstService + (100 + round * connections + client) * range;
}

/** What the periodic job does until nothing is left to do. */
async function runNight(ctx: Context): Promise<void> {
  let answer: 'more' | 'done';
  do {
    answer = await transaction(ctx, 'services.calendar', attendCalendar);
  } while (answer === 'more');
}

/** Services that are due soon; `taken up`: as the calendar's row for them says already. */
async function fill(
  { access, house, people }: Shop,
  first: number,
  count: number,
  how?: 'taken up',
): Promise<void> {
  await access.sql(
    `insert into services (id, organization_id, position, user_id, product_id, invoice_id, status, provisioning_state,
       cycle, currency, first_price_minor, price_minor, duedate, period_start, anchor_day, options, holds_stock, created_at,
       calendar_on)
     select s.id, s.owner, s.id, s.owner, $3, 0, 'active', 'done', 'monthly', 'EUR', 300, 300, s.due, s.due - 30,
       extract(day from s.due), '{}', false, now(), case when $6 then s.due end
     from (select $1::bigint + i as id, $4::bigint + 1 + ($1::bigint + i) % $5::bigint as owner, current_date + $7::int as due
       from generate_series(0, $2::bigint - 1) i) s`,
    [first, count, house.demo.products.hosting, firstId, people.length, how === 'taken up', daysAhead],
  );
  // Not to be looked at by us: these are for pgbench.
  if (how === 'taken up')
    await access.sql(
      `insert into service_calendar (service_id, organization_id, due_on, look_on)
       select id, organization_id, duedate, 'infinity' from services where id >= $1 and id < $1::bigint + $2::bigint`,
      [first, count],
    );
  await access.sql('analyze services, service_calendar');
}

async function requireInvoiced({ sql }: Access, first: number, count: number): Promise<void> {
  const { rows } = await sql(
    'select count(*)::int as count from service_renewals where service_id >= $1 and service_id < $1::bigint + $2::bigint',
    [first, count],
  );
  const seen = (rows[0] as { count: number }).count;
  if (seen !== count) throw new Error(`${seen} of ${count} services were invoiced`);
}

/** Has one service invoiced, and makes a script of everything that this asked of the database. */
async function scriptOfOne(shop: Shop) {
  const { access, people } = shop;
  await fill(shop, firstService, 1, 'taken up');
  await access.sql('update service_calendar set look_on = current_date where service_id = $1', [
    firstService,
  ]);
  const sent: Sent[] = [];
  const db = recording(access.ctx.db, sent);
  await transaction({ ...access.ctx, db }, 'services.calendar', attendCalendar);
  const { rows } = await access.sql(
    'select invoice_id as invoice, organization_id as organization from service_calendar where service_id = $1',
    [firstService],
  );
  const { invoice, organization } = rows[0] as { invoice: string; organization: string };
  const variables: Variable[] = [
    { name: 'n', was: Number.NaN, is: ':n + 1' },
    { name: 'service', was: firstService, is: `:n + :client_id * ${range}` },
    { name: 'organization', was: Number(organization), is: `${firstId} + 1 + :service % ${people.length}` },
    { name: 'invoice', was: Number(invoice), is: 'random(1, 9007199254740991)' },
  ];
  return asScript(access, sent, variables);
}
