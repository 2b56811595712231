import { fork } from 'node:child_process';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { stripePayments } from '../src/drivers/payments/index.ts';
import { type Context, connect, type Drivers, startWorker, transaction } from '../src/platform/index.ts';
import { attendCalendar } from '../src/services/index.ts';
import { allJobs } from '../src/worker.ts';
import { type Cpu, costSince, costText, cpuOf } from './cpu.ts';
import { root, undo } from './house.ts';
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
import type { ProviderReady } from './provider.ts';
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

/** What a night took: first the calendar, then the charges that it asked for. */
interface Night {
  calendar: Took;
  charges: Took & { count: number };
  /** The worker's memory at some points of it, in its order. */
  memory: Memory[];
}

interface Took {
  /** For each service, or for each charge. */
  cpu: Cpu;
  seconds: number;
}

interface Memory {
  /** What is in use, once all garbage was collected. */
  liveMib: number;
  /** What the process had of the machine before that. */
  rssMib: number;
}

/**
 * A night with something to do for every service. First the calendar's run: invoices for the next period, reminders,
 * suspensions, and charges of saved cards that are asked for, by one worker over one connection. Then those charges, by jobs, at a
 * payment provider in a process of its own. Its cost is CPU time, of the worker and of PostgreSQL, since the machine may be
 * busy with other things; of the calendar against what it writes for one service, sent by pgbench for one service after another
 * without anything that it reads, and against a small night. And what customers notice of it.
 */
export async function measureNightly(shop: Shop, options: NightlyOptions): Promise<Figure[]> {
  const provider = await startProvider(shop.people.length);
  await saveCards(shop, provider.cards);
  const scripts = new Map<Work, Script>();
  for (const work of works) scripts.set(work, await scriptOf(shop, work));
  const readers = volley(
    shop.people.slice(0, 100).map((as) => ({ method: 'GET', path: '/api/dashboard/services', as })),
  );
  await night(shop, provider, options.few); // compiled and optimized
  const rounds: Round[] = [];
  for (let nth = 0; nth < options.rounds; nth += 1) {
    const few = await night(shop, provider, options.few);
    const many = await night(shop, provider, options.many);
    rounds.push({ few, many, theirs: await withoutUs(shop, scripts) });
  }
  const figures = [...absolute(rounds, options), costFigure(rounds, options), growthFigure(rounds, options)];
  figures.push(...memoryFigures(rounds));
  figures.push(await noticed(shop, provider, readers, options));
  for (const script of scripts.values()) script.remove();
  readers.remove();
  return figures;
}

async function startProvider(customers: number): Promise<ProviderReady> {
  const child = fork(path.join(root, 'bench/provider.ts'), [String(customers)]);
  undo.push(() => child.kill());
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the payment provider ended with ${code}`)));
    child.once('message', (ready: ProviderReady) => resolve(ready));
  });
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
    name: `A service of a night of ${inWords(many)}, by the calendar`,
    against:
      'what is written for it, sent by pgbench service by service, without what is read; CPU time of both',
    value: spreadOf(rounds.map((round) => sumOf(round.many.calendar.cpu) / sumOf(round.theirs))),
    unit: 'ratio',
    target: { atMost: 2.5 },
    amounts:
      `${costText(rounds.map((round) => round.many.calendar.cpu))}, against ` +
      `${theirs('node')} ms pgbench, ${theirs('database')} ms PostgreSQL`,
    limit: 'PostgreSQL, which writes about ten rows and forty entries of indexes a service',
  };
}

function growthFigure(rounds: readonly Round[], { few, many }: NightlyOptions): Figure {
  const costs = (of: 'few' | 'many') => rounds.map((round) => round[of].calendar.cpu);
  return {
    name: `The same service of a night of ${inWords(many)}`,
    against: `of a night of ${inWords(few)}; CPU time`,
    value: spreadOf(rounds.map((round) => sumOf(round.many.calendar.cpu) / sumOf(round.few.calendar.cpu))),
    unit: 'ratio',
    target: { atMost: 1.3 },
    amounts: `${costText(costs('many'))} against ${costText(costs('few'))}`,
    limit: 'indexes that no longer fit into the cache',
  };
}

function absolute(rounds: readonly Round[], { many }: NightlyOptions): Figure[] {
  const calendar = spreadOf(rounds.map((round) => round.many.calendar.seconds));
  const charges = rounds.map((round) => round.many.charges);
  const [{ count } = { count: 0 }] = charges;
  return [
    {
      name: `A night of ${inWords(many)} services, with its charges`,
      against: 'nothing',
      value: spreadOf(rounds.map((round) => round.many.calendar.seconds + round.many.charges.seconds)),
      unit: 's',
      target: { atMost: 300 },
      amounts:
        `calendar ${calendar.median.toFixed(1)} s, ${perSecond(many / calendar.median)}; then ${inWords(count)} charges in ` +
        `${spreadOf(charges.map(({ seconds }) => seconds)).median.toFixed(1)} s; ${mixture}`,
      limit: 'one connection of PostgreSQL; then both cores, which the payment provider shares',
    },
    {
      name: 'Charges of saved cards in that night',
      against: 'nothing; a stand-in for Stripe in a process of its own',
      value: spreadOf(charges.map(({ seconds }) => count / seconds)),
      unit: '/s',
      target: null,
      amounts: `a charge takes ${costText(charges.map(({ cpu }) => cpu))}`,
      limit: 'three requests to the payment provider, and forty rows a charge',
    },
  ];
}

/** What is in use at the end, and between, beyond what was in use early in the night. */
function memoryFigures(rounds: readonly Round[]): Figure[] {
  const of = (round: Round, which: keyof Memory) => round.many.memory.map((each) => each[which]);
  const grown = (round: Round) => {
    const [early = 0, ...later] = of(round, 'liveMib');
    return Math.max(...later) - early;
  };
  const [first] = rounds;
  if (first === undefined) return [];
  const list = (which: keyof Memory) => of(first, which).map(Math.round).join(', ');
  return [
    {
      name: 'Live memory of the worker, at most',
      against: 'itself after an eighth of the calendar; garbage is collected before each look',
      value: spreadOf(rounds.map(grown)),
      unit: 'MiB',
      target: { atMost: 32 },
      amounts: `live ${list('liveMib')} MiB; resident ${list('rssMib')} MiB`,
      limit: 'a batch at a time; what is resident beyond what lives is garbage that waits to be collected',
    },
  ];
}

/** How long customers wait for their list of services while a night is under way, charges and all. */
async function noticed(
  shop: Shop,
  provider: ProviderReady,
  readers: Volley,
  options: NightlyOptions,
): Promise<Figure> {
  const p95 = async () => (await readers.fire(shop.house.url, options.seconds, 1)).p95Ms;
  await p95();
  const calm = [await p95(), await p95(), await p95()];
  const meanwhile: number[] = [];
  let isOver = false;
  const looking = async () => {
    while (!isOver || meanwhile.length === 0) meanwhile.push(await p95());
  };
  await Promise.all([
    night(shop, provider, options.noticed).finally(() => {
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
    limit: 'cores that the night, the payment provider and customers share',
  };
}

let fills = 0;
const nextRange = (ranges = 1) => {
  const first = firstService + fills * range;
  fills += ranges;
  return first;
};

/** Services that one turn of the calendar takes up, and attends, at most. */
const [takenUp, attended] = [1_000, 250];
const looks = 8;

/** Fills in so many services that something is due for, has the calendar do all of it, and charges what it asked for. */
async function night(shop: Shop, provider: ProviderReady, services: number): Promise<Night> {
  const { house, access } = shop;
  const first = nextRange();
  await fill(shop, first, services);
  // What pgbench and recordings have asked for is no part of this night.
  await access.sql(`delete from jobs where state = 'ready' and name not like 'mail%'`);
  const memory: Memory[] = [];
  const before = cpuOf(house, process.pid);
  const began = performance.now();
  const turns = services / takenUp + services / attended;
  let turn = 0;
  await runNight(access.ctx, () => {
    turn += 1;
    if (turn >= (turns * (memory.length + 1)) / looks) memory.push(memoryNow());
  });
  const seconds = (performance.now() - began) / 1_000;
  const cpu = costSince(before, cpuOf(house, process.pid), services);
  await requireDone(access, first, services);
  const charges = await charge(shop, provider, memory);
  const wanted = Math.round((services * parts.charge) / 10);
  if (charges.count !== wanted) throw new Error(`${charges.count} of ${wanted} charges`);
  return { calendar: { cpu, seconds }, charges, memory };
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** What is resident, and what of it lives. */
function memoryNow(): Memory {
  const { rss } = process.memoryUsage();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return { liveMib: (heapUsed + external) / 2 ** 20, rssMib: rss / 2 ** 20 };
}

/** What the periodic job does until nothing is left to do. */
async function runNight(ctx: Context, onBatch: () => void): Promise<void> {
  let answer: 'more' | 'done';
  do {
    answer = await transaction(ctx, 'services.calendar', attendCalendar);
    onBatch();
  } while (answer === 'more');
}

/** The jobs that the night has left to take money from cards, and what follows from each payment; not the mails. */
async function charge(shop: Shop, provider: ProviderReady, memory: Memory[]): Promise<Night['charges']> {
  const { access, house } = shop;
  const numberOf = async (what: string) => {
    const { rows } = await access.sql(`select count(*)::int as count from ${what}`);
    return (rows[0] as { count: number }).count;
  };
  const left = () => numberOf(`jobs where state in ('ready', 'running') and name not like 'mail%'`);
  const paid = () => numberOf(`charges where state = 'paid'`);
  const [all, paidBefore] = [await left(), await paid()];
  const payments = await stripePayments(provider);
  // As many connections as the product has.
  const db = connect(house.databaseUrl, {
    log: access.ctx.log,
    poolSize: access.ctx.config.databasePoolSize,
  });
  const before = cpuOf(house, process.pid);
  const began = performance.now();
  const worker = startWorker({ ...access.ctx, db }, house.databaseUrl, {
    sagas: allJobs.filter(({ name }) => !name.startsWith('mail')),
    drivers: { payments } as unknown as Drivers,
  });
  let seconds = 0;
  for (let looked = 1; ; ) {
    const now = await left();
    seconds = (performance.now() - began) / 1_000;
    if (now === 0 || seconds > longestS) break;
    if (all - now > (all * looked) / looks) {
      memory.push(memoryNow());
      looked += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  const count = (await paid()) - paidBefore;
  const cpu = costSince(before, cpuOf(house, process.pid), count);
  memory.push(memoryNow());
  await worker.stop();
  await Promise.all([db.close(), payments.close()]);
  return { cpu, seconds, count };
}

/** Longer than any night that could be called one. */
const longestS = 1_800;

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
