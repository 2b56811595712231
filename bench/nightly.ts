import { type Context, transaction } from '../src/platform/index.ts';
import { attendCalendar } from '../src/services/index.ts';
import { type Cpu, costSince, costText, cpuOf } from './cpu.ts';
import type { House } from './house.ts';
import { cpuMs, spreadOf } from './measure.ts';
import { type Access, firstId, type Person } from './people.ts';
import { asScript, recording, type Script, type Sent, type Variable } from './pgbench.ts';
import { type Figure, perSecond } from './table.ts';
import { type Volley, volley } from './wrk.ts';

export interface NightlyOptions {
  rounds: number;
  /** Services that are due in a small night, and in a large one. */
  few: number;
  many: number;
  /** How long pgbench writes the same rows in each round, and how long each look at the answers of the API is. */
  seconds: number;
}

interface Shop {
  /** It serves the API and runs no calendar of its own (`ROLE=api`). */
  house: House;
  access: Access;
  people: readonly Person[];
}

const connections = 8;
/** Ids of services are counted from here, a range for each fill. */
const firstService = 2 * firstId;
const range = 1_000_000;
const daysAhead = 10;

/** What a night took. */
interface Night {
  cpu: Cpu;
  seconds: number;
  /** Resident memory at its end, beyond what it was after the first tenth. */
  grownMib: number;
}

/**
 * The calendar's run of a night in which every service is to be invoiced for its next period, by one worker over one
 * connection. Its cost is CPU time, of the worker and of PostgreSQL, since the machine may be busy with other things; against the
 * statements that one service takes, sent by pgbench for one service after another; and against a small night. And what
 * customers notice of it.
 */
export async function measureNightly(shop: Shop, options: NightlyOptions): Promise<Figure[]> {
  const script = await scriptOfOne(shop);
  const readers = volley(
    shop.people.slice(0, 100).map((as) => ({ method: 'GET', path: '/api/dashboard/services', as })),
  );
  await night(shop, options.few); // compiled and optimized
  const rounds: Round[] = [];
  for (let nth = 0; nth < options.rounds; nth += 1) {
    const few = await night(shop, options.few);
    const many = await night(shop, options.many);
    rounds.push({ few, many, theirs: await withoutUs(shop, script, options) });
  }
  const figures = [
    costFigure(rounds, options, script),
    growthFigure(rounds, options),
    ...absolute(rounds, options),
  ];
  figures.push(await noticed(shop, readers, options));
  script.remove();
  readers.remove();
  return figures;
}

interface Round {
  few: Night;
  many: Night;
  /** CPU time of pgbench and PostgreSQL for a service. */
  theirs: Cpu & { perSecond: number };
}

const sumOf = ({ node, database }: Cpu) => node + database;
const inWords = (services: number) => services.toLocaleString('en');

function costFigure(rounds: readonly Round[], { many }: NightlyOptions, script: Script): Figure {
  return {
    name: `Renewals of a night, ${inWords(many)} services`,
    against: `the same statements a service by pgbench, prepared, ${connections} connections; CPU time of both`,
    value: spreadOf(rounds.map((round) => sumOf(round.many.cpu) / sumOf(round.theirs))),
    unit: 'ratio',
    target: { atMost: 2.5 },
    amounts:
      `${costText(rounds.map((round) => round.many.cpu))} a service, against ` +
      `${spreadOf(rounds.map(({ theirs }) => theirs.node)).median.toFixed(2)} ms pgbench, ` +
      `${spreadOf(rounds.map(({ theirs }) => theirs.database)).median.toFixed(2)} ms PostgreSQL; ` +
      `${script.statements} statements`,
    limit: 'one connection, which waits for each statement',
  };
}

function growthFigure(rounds: readonly Round[], { few, many }: NightlyOptions): Figure {
  return {
    name: `A service of a night of ${inWords(many)}`,
    against: `one of a night of ${inWords(few)}; CPU time`,
    value: spreadOf(rounds.map((round) => sumOf(round.many.cpu) / sumOf(round.few.cpu))),
    unit: 'ratio',
    target: { atMost: 1.3 },
    amounts: `${costText(rounds.map((round) => round.many.cpu))} against ${costText(rounds.map((round) => round.few.cpu))}`,
    limit: 'indexes that no longer fit into the cache',
  };
}

function absolute(rounds: readonly Round[], { many }: NightlyOptions): Figure[] {
  const seconds = spreadOf(rounds.map((round) => round.many.seconds));
  return [
    {
      name: `A night of ${inWords(many)} services`,
      against: 'nothing',
      value: seconds,
      unit: 's',
      target: { atMost: 300 },
      amounts: `${perSecond(many / seconds.median)}`,
      limit: 'one core',
    },
    {
      name: 'Memory of the worker',
      against: 'itself after a tenth of the night',
      value: spreadOf(rounds.map((round) => round.many.grownMib)),
      unit: 'MiB',
      target: { atMost: 32 },
      amounts: 'growth',
      limit: 'a batch at a time',
    },
  ];
}

/** How long customers wait for their list of services while a night is under way. */
async function noticed(shop: Shop, readers: Volley, { many, seconds }: NightlyOptions): Promise<Figure> {
  const p95 = async () => (await readers.fire(shop.house.url, seconds, 1)).p95Ms;
  await p95();
  const calm = [await p95(), await p95(), await p95()];
  const meanwhile: number[] = [];
  let isOver = false;
  const looking = async () => {
    while (!isOver || meanwhile.length === 0) meanwhile.push(await p95());
  };
  await Promise.all([
    night(shop, many).finally(() => {
      isOver = true;
    }),
    looking(),
  ]);
  const [before, during] = [spreadOf(calm).median, spreadOf(meanwhile)];
  return {
    name: "p95 of a customer's GET in a night",
    against: 'on a calm product',
    value: { median: during.median / before, min: during.min / before, max: during.max / before },
    unit: 'ratio',
    target: { atMost: 2 },
    amounts: `${during.median.toFixed(1)} ms against ${before.toFixed(1)} ms`,
    limit: 'cores that the night and its customers share',
  };
}

let fills = 0;

/** Fills in so many services that are due soon, and has the calendar do all that is to be done. */
async function night(shop: Shop, services: number): Promise<Night> {
  const { house, access } = shop;
  fills += 1;
  const first = firstService + fills * range;
  await fill(shop, first, services);
  const before = cpuOf(house, process.pid);
  const began = performance.now();
  let early = 0;
  await runNight(access.ctx, (attended) => {
    if (early === 0 && attended > services / 10) early = process.memoryUsage().rss;
  });
  const seconds = (performance.now() - began) / 1_000;
  const cpu = costSince(before, cpuOf(house, process.pid), services);
  await requireInvoiced(access, first, services);
  return { cpu, seconds, grownMib: early === 0 ? 0 : (process.memoryUsage().rss - early) / 2 ** 20 };
}

/** The statements of one service, over and over, without us. */
async function withoutUs(shop: Shop, script: Script, { many, seconds }: NightlyOptions) {
  const { house } = shop;
  fills += connections;
  const first = firstService + fills * range;
  for (let client = 0; client < connections; client += 1)
    await fill(shop, first + client * range, Math.ceil((many * 3) / connections), 'taken up');
  fills += connections;
  const children = () => cpuMs(process.pid, true) - cpuMs(process.pid);
  const before = cpuOf(house);
  const childrenBefore = children();
  const rate = await script.run(house, seconds, connections, { n: first });
  const count = rate * seconds;
  const { database } = costSince(before, cpuOf(house), count);
  return { node: (children() - childrenBefore) / count, database, perSecond: rate };
}

/** What the periodic job does until nothing is left to do. */
async function runNight(ctx: Context, onBatch: (attended: number) => void): Promise<void> {
  let answer: 'more' | 'done';
  let batches = 0;
  do {
    answer = await transaction(ctx, 'services.calendar', attendCalendar);
    batches += 1;
    onBatch(batches * 50);
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

/** What the calendar reads last for all services of a batch at once; from there on each is by itself. */
const lastOfBatch = 'services.calendarRows';

/** Has one service invoiced, and makes a script of everything that this alone asked of the database. */
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
  const ofBatch = sent.findIndex(({ name }) => name === lastOfBatch);
  if (ofBatch < 0) throw new Error(`the calendar sent no ${lastOfBatch}`);
  return asScript(access, [...sent.slice(0, 1), ...sent.slice(ofBatch + 1)], variables);
}
