import { stripePayments } from '../src/drivers/payments/index.ts';
import { type Context, connect, type Drivers, startWorker, transaction } from '../src/platform/index.ts';
import { attendCalendar } from '../src/services/index.ts';
import { allJobs } from '../src/worker.ts';
import { type StripeStandIn, startStripe } from '../test/stripe/standIn.ts';
import { type Cpu, costSince, costText, cpuOf } from './cpu.ts';
import { undo } from './house.ts';
import { cpuMs, spreadOf } from './measure.ts';
import {
  fill,
  firstInvoice,
  firstService,
  parts,
  range,
  type Shop,
  saveCards,
  type Work,
  works,
} from './nightlyFill.ts';
import { type Access, firstId } from './people.ts';
import { asScript, recording, type Script, type Sent, type Variable } from './pgbench.ts';
import { type Figure, perSecond } from './table.ts';
import { type Volley, volley } from './wrk.ts';

export interface NightlyOptions {
  rounds: number;
  /** Services that are due in a small night, and in a large one. */
  few: number;
  many: number;
  /** Services of the night whose customers look at the API meanwhile, and how long each of their looks is. */
  noticed: number;
  seconds: number;
}

/** As many as the calendar has: invoices of one organization would get the same number from two. */
const connections = 1;
/** Services of each kind that pgbench writes for in a round. */
const written = 1_000;

/** What a night took. */
interface Night {
  cpu: Cpu;
  seconds: number;
  /** Resident memory at its end, beyond what it was after the first tenth. */
  grownMib: number;
}

/**
 * The calendar's run of a night with something to do for every service: invoices for the next period, reminders, charges of saved
 * cards, suspensions; by one worker over one connection. Its cost is CPU time, of the worker and of PostgreSQL, since the
 * machine may be busy with other things; against what it writes for one service, sent by pgbench for one service after another without
 * anything that it reads; and against a small night. And what customers notice of it, and the charges that it asked for.
 */
export async function measureNightly(shop: Shop, options: NightlyOptions): Promise<Figure[]> {
  const stripe = await startStripe();
  undo.push(() => stripe.close());
  stripe.events.hold(); // they would only say again what the jobs know
  await saveCards(shop, () => newCard(stripe));
  const scripts = new Map<Work, Script>();
  for (const work of works) scripts.set(work, await scriptOf(shop, work));
  const readers = volley(
    shop.people.slice(0, 100).map((as) => ({ method: 'GET', path: '/api/dashboard/services', as })),
  );
  await night(shop, options.few); // compiled and optimized
  const rounds: Round[] = [];
  for (let nth = 0; nth < options.rounds; nth += 1) {
    const few = await night(shop, options.few);
    const many = await night(shop, options.many);
    rounds.push({ few, many, theirs: await withoutUs(shop, scripts) });
  }
  const figures = [...absolute(rounds, options), costFigure(rounds, options), growthFigure(rounds, options)];
  figures.push(await noticed(shop, readers, options));
  figures.push(await charged(shop, stripe));
  for (const script of scripts.values()) script.remove();
  readers.remove();
  return figures;
}

interface Round {
  few: Night;
  many: Night;
  /** CPU time of pgbench and PostgreSQL for a service of a night. */
  theirs: Cpu;
}

const sumOf = ({ node, database }: Cpu) => node + database;
const inWords = (services: number) => services.toLocaleString('en');
const mixture = 'of ten 4 invoiced, 3 reminded, 2 charged, 1 suspended';

function costFigure(rounds: readonly Round[], { many }: NightlyOptions): Figure {
  const theirs = (of: keyof Cpu) => spreadOf(rounds.map((round) => round.theirs[of])).median.toFixed(2);
  return {
    name: `A service of a night of ${inWords(many)}`,
    against:
      'what is written for it, sent by pgbench service by service, without what is read; CPU time of both',
    value: spreadOf(rounds.map((round) => sumOf(round.many.cpu) / sumOf(round.theirs))),
    unit: 'ratio',
    target: { atMost: 2.5 },
    amounts:
      `${costText(rounds.map((round) => round.many.cpu))}, against ` +
      `${theirs('node')} ms pgbench, ${theirs('database')} ms PostgreSQL`,
    limit: 'PostgreSQL, which writes about ten rows and forty entries of indexes a service',
  };
}

function growthFigure(rounds: readonly Round[], { few, many }: NightlyOptions): Figure {
  return {
    name: `The same service of a night of ${inWords(many)}`,
    against: `of a night of ${inWords(few)}; CPU time`,
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
      name: `The calendar's night of ${inWords(many)} services`,
      against: 'nothing',
      value: seconds,
      unit: 's',
      target: { atMost: 300 },
      amounts: `${perSecond(many / seconds.median)}; ${mixture}`,
      limit: 'one connection of PostgreSQL',
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
async function noticed(shop: Shop, readers: Volley, options: NightlyOptions): Promise<Figure> {
  const p95 = async () => (await readers.fire(shop.house.url, options.seconds, 1)).p95Ms;
  await p95();
  const calm = [await p95(), await p95(), await p95()];
  const meanwhile: number[] = [];
  let isOver = false;
  const looking = async () => {
    while (!isOver || meanwhile.length === 0) meanwhile.push(await p95());
  };
  await Promise.all([
    night(shop, options.noticed).finally(() => {
      isOver = true;
    }),
    looking(),
  ]);
  // The last look saw the night end.
  if (meanwhile.length > 1) meanwhile.pop();
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
const nextRange = (ranges = 1) => {
  const first = firstService + fills * range;
  fills += ranges;
  return first;
};

/** Fills in so many services that something is due for, and has the calendar do all of it. */
async function night(shop: Shop, services: number): Promise<Night> {
  const { house, access } = shop;
  const first = nextRange();
  await fill(shop, first, services);
  const before = cpuOf(house, process.pid);
  const began = performance.now();
  let early = 0;
  await runNight(access.ctx, () => {
    if (early === 0 && performance.now() - began > 2_000) early = process.memoryUsage().rss;
  });
  const seconds = (performance.now() - began) / 1_000;
  const cpu = costSince(before, cpuOf(house, process.pid), services);
  await requireDone(access, first, services);
  return { cpu, seconds, grownMib: early === 0 ? 0 : (process.memoryUsage().rss - early) / 2 ** 20 };
}

/** What the periodic job does until nothing is left to do. */
async function runNight(ctx: Context, onBatch: () => void): Promise<void> {
  let answer: 'more' | 'done';
  do {
    answer = await transaction(ctx, 'services.calendar', attendCalendar);
    onBatch();
  } while (answer === 'more');
}

async function requireDone({ sql }: Access, first: number, services: number): Promise<void> {
  const { rows } = await sql(
    `select step, count(*)::int as count from service_calendar_steps
     where service_id >= $1 and service_id < $1::bigint + $2::bigint group by step`,
    [first, services],
  );
  const seen = new Map((rows as { step: Work; count: number }[]).map(({ step, count }) => [step, count]));
  for (const work of works) {
    const wanted = Math.round((services * parts[work]) / 10);
    if (seen.get(work) !== wanted) throw new Error(`${work}: ${seen.get(work)} of ${wanted} services`);
  }
}

/** What is written for a service of a night, without us: of each kind, and of all by their parts. */
async function withoutUs(shop: Shop, scripts: ReadonlyMap<Work, Script>): Promise<Cpu> {
  const { house } = shop;
  const cpu: Cpu = { node: 0, database: 0 };
  for (const [work, script] of scripts) {
    const first = nextRange(connections);
    for (let client = 0; client < connections; client += 1)
      await fill(shop, first + client * range, written + 1, { work, how: 'by hand' });
    const children = () => cpuMs(process.pid, true) - cpuMs(process.pid);
    const before = cpuOf(house);
    const childrenBefore = children();
    await script.run(house, { times: written }, connections, { n: first });
    const count = written * connections;
    const part = parts[work] / 10;
    cpu.database += part * costSince(before, cpuOf(house), count).database;
    cpu.node += (part * (children() - childrenBefore)) / count;
  }
  return cpu;
}

/** What the calendar reads last for all services of a batch at once; from there on each is by itself. */
const lastOfBatch = 'services.calendarRows';
const writes = /\b(insert into|delete from|(?<!\bfor |\bfor no key )update) \w/;

/** Has the calendar do one thing for one service, and makes a script of everything that this alone wrote. */
async function scriptOf(shop: Shop, work: Work): Promise<Script> {
  const { access, people } = shop;
  const service = nextRange();
  await fill(shop, service, 1, { work, how: 'tonight' });
  const sent: Sent[] = [];
  const db = recording(access.ctx.db, sent);
  const once = () => transaction({ ...access.ctx, db }, 'services.calendar', attendCalendar);
  while (!sent.some(({ name }) => name === lastOfBatch)) {
    sent.length = 0;
    await once();
  }
  const { rows } = await access.sql(
    `select c.invoice_id as invoice, c.organization_id as organization, h.id as charge from service_calendar c
     left join charges h on h.invoice_id = c.invoice_id where c.service_id = $1`,
    [service],
  );
  const { invoice, organization, charge } = rows[0] as Record<string, string | null>;
  const made = 'random(1, 9007199254740991)';
  const variables: Variable[] = [
    { name: 'n', was: Number.NaN, is: ':n + 1' },
    { name: 'service', was: service, is: `:n + :client_id * ${range}` },
    { name: 'organization', was: Number(organization), is: `${firstId} + 1 + :service % ${people.length}` },
    {
      name: 'invoice',
      was: Number(invoice),
      is: work === 'invoice' ? made : `:service + ${firstInvoice}`,
    },
    ...(charge === null || charge === undefined ? [] : [{ name: 'charge', was: Number(charge), is: made }]),
  ];
  const ofOne = sent.slice(sent.findIndex(({ name }) => name === lastOfBatch) + 1);
  const written = ofOne.filter(({ name, text }) => name === 'commit' || writes.test(text));
  return asScript(access, [...sent.slice(0, 1), ...written], variables);
}

function newCard({ account }: StripeStandIn) {
  const customer = account.makeCustomer({});
  return { customer: customer.id, method: account.attach('pm_card_visa', customer.id).id };
}

/** The jobs that the nights have left to take money from cards, and what follows from each payment; not the mails. */
async function charged(shop: Shop, stripe: StripeStandIn): Promise<Figure> {
  const { access, house } = shop;
  const left = async () => {
    const { rows } = await access.sql(
      `select count(*)::int as count from jobs where state in ('ready', 'running') and name not like 'mail%'`,
    );
    return (rows[0] as { count: number }).count;
  };
  const paid = async () => {
    const { rows } = await access.sql(
      `select count(*)::int as count from invoices where kind = 'renewal' and status = 'paid'`,
    );
    return (rows[0] as { count: number }).count;
  };
  const all = await left();
  const payments = stripePayments({
    secretKey: stripe.secretKey,
    webhookSecret: stripe.webhookSecret,
    url: stripe.url,
  });
  const began = performance.now();
  // As many connections as the product has.
  const db = connect(house.databaseUrl, {
    log: access.ctx.log,
    poolSize: access.ctx.config.databasePoolSize,
  });
  const worker = startWorker({ ...access.ctx, db }, house.databaseUrl, {
    sagas: allJobs.filter(({ name }) => !name.startsWith('mail')),
    drivers: { payments } as unknown as Drivers,
  });
  const longest = 60_000;
  while ((await left()) > 0 && performance.now() - began < longest)
    await new Promise((resolve) => setTimeout(resolve, 250));
  const seconds = (performance.now() - began) / 1_000;
  const count = await paid();
  await worker.stop();
  await Promise.all([db.close(), payments.close()]);
  return {
    name: 'Saved cards charged by jobs',
    against: 'nothing; a stand-in for Stripe in the same process',
    value: spreadOf([count / seconds]),
    unit: '/s',
    target: null,
    amounts: `${inWords(count)} paid in ${seconds.toFixed(1)} s, of ${inWords(all)} jobs that waited`,
    limit: 'four commits a charge, and two requests to the payment provider',
  };
}
