import { readSecretKey } from '../src/platform/index.ts';
import { type Child, startChild } from '../test/child.ts';
import { drain, plainGoods, requestsFor } from './checkout.ts';
import { type Cpu, costSince, costText, cpuOf } from './cpu.ts';
import { type House, temporaryDir, undo } from './house.ts';
import { cpuMs, interleave, type Pair, ratiosOf, spreadOf } from './measure.ts';
import type { Access, Person } from './people.ts';
import { type Figure, perSecond } from './table.ts';
import { type Volley, volley } from './wrk.ts';

export interface ProcessesOptions {
  rounds: number;
  seconds: number;
}

const clients = 30;
const each = 3;
/** What is compiled in the first second is not measured. */
const warmS = 1;
const warmRounds = 3;

/**
 * Checkouts of many products through three processes with an API and three workers, against one of each, on the same cores and one
 * PostgreSQL. `house` only answers requests.
 */
export async function measureProcesses(
  house: House,
  access: Access,
  people: readonly Person[],
  { rounds, seconds }: ProcessesOptions,
): Promise<Figure[]> {
  const goods = await plainGoods(access);
  // Each has the people in another order: the orders of one wait for one another.
  const loads = Array.from({ length: each }, (_, at) => {
    const first = Math.floor((people.length * at) / each);
    return volley(requestsFor([...people.slice(first), ...people.slice(0, first)], goods));
  });
  const start = async (role: 'api' | 'worker', at: number): Promise<Child> => {
    const child = await startChild(await temporaryDir(), {
      DATABASE_URL: house.databaseUrl,
      SECRET_KEY: readSecretKey(house.dataDir, null).toString('base64'),
      HYPERVISOR: 'simulator',
      NODE_NAME: `${role}-${at}`,
      ROLE: role,
      DEMO: 'off',
      MAX_UNPAID_ORDERS: '1000000',
      MAX_UNPAID_ORDERS_NEW: '1000000',
    });
    undo.push(() => child.end('SIGTERM'));
    return child;
  };
  const worker = await start('worker', 1);
  // They stay, so that what is compared has run as long, and are stopped while the others are measured.
  const further = [await start('api', 2), await start('api', 3), await start('worker', 2)];
  further.push(await start('worker', 3));
  const all = [house, worker, ...further];
  const cost = { ours: [] as Cpu[], theirs: [] as Cpu[] };
  const cpu = (): Cpu => ({
    node: all.reduce((sum, { pid }) => sum + cpuMs(pid), 0),
    database: cpuOf(house).database,
  });
  const seen = { deadlocks: 0, rolledBack: 0, orders: 0 };
  const fire = async (urls: readonly string[]): Promise<number> => {
    await fireAll(loads, urls, warmS);
    await drain(access);
    const before = await countsOf(access);
    const used = cpu();
    const rate = await fireAll(loads, urls, seconds);
    const after = await countsOf(access);
    await drain(access);
    cost[urls.length > 1 ? 'ours' : 'theirs'].push(costSince(used, cpu(), rate * seconds));
    if (urls.length > 1) {
      seen.deadlocks += after.deadlocks - before.deadlocks;
      seen.rolledBack += after.rolledBack - before.rolledBack;
      seen.orders += rate * seconds;
    }
    return rate;
  };
  const urls = [house.url, ...further.slice(0, each - 1).map(({ url }) => url)];
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const { pid } of further) process.kill(pid, name);
  };
  undo.push(() => signal('SIGCONT'));
  const one = async () => {
    signal('SIGSTOP');
    try {
      return await fire([house.url]);
    } finally {
      signal('SIGCONT');
    }
  };
  const three = () => fire(urls);
  // A process compiles what it does often for its first thousands of orders, and each of three has a third of them: that belongs to no round.
  for (let round = 0; round < warmRounds; round += 1) await three();
  await one();
  for (const list of Object.values(cost)) list.length = 0;
  Object.assign(seen, { deadlocks: 0, rolledBack: 0, orders: 0 });
  const pairs = await interleave(rounds, three, one);
  for (const load of loads) load.remove();
  return figuresOf(
    pairs,
    seen,
    `CPU time an order, its jobs included: ${costText(cost.ours)} against ${costText(cost.theirs)}`,
  );
}

async function fireAll(loads: readonly Volley[], urls: readonly string[], seconds: number): Promise<number> {
  const shares = urls.map((url, at) => loads[at]?.fire(url, seconds, clients / urls.length));
  const fired = await Promise.all(shares);
  const failed = fired.reduce((sum, load) => sum + (load?.failed ?? 0), 0);
  if (failed > 0) throw new Error(`${failed} of the checkouts were refused`);
  return fired.reduce((sum, load) => sum + (load?.perSecond ?? 0), 0);
}

async function countsOf({ sql }: Access): Promise<{ deadlocks: number; rolledBack: number }> {
  await sql('select pg_stat_clear_snapshot()');
  const { rows } = await sql(
    `select deadlocks::int as deadlocks, xact_rollback::int as "rolledBack" from pg_stat_database where datname = current_database()`,
  );
  return rows[0] as { deadlocks: number; rolledBack: number };
}

function figuresOf(
  pairs: Pair[],
  { deadlocks, rolledBack, orders }: { deadlocks: number; rolledBack: number; orders: number },
  cost: string,
): Figure[] {
  const rate = (key: keyof Pair) => perSecond(spreadOf(pairs.map((pair) => pair[key])).median);
  const retried = (100 * rolledBack) / Math.max(1, orders);
  return [
    {
      name: 'Checkouts through 3 API, 3 workers',
      against: 'through one of each, on the same cores',
      value: ratiosOf(pairs),
      unit: 'ratio',
      target: { atLeast: 0.95 },
      amounts: `${rate('ours')} against ${rate('theirs')}; ${deadlocks} deadlocks, ${retried.toFixed(2)} % of the orders rolled back; ${cost}`,
      limit: 'the cores, which PostgreSQL and all processes share',
    },
    {
      name: 'Deadlocks, and orders that were rolled back in a hundred',
      against: '–',
      value: spreadOf([deadlocks * 100 + retried]),
      unit: 'ratio',
      target: { atMost: 1 },
      amounts: `${deadlocks} and ${retried.toFixed(2)}; a deadlock counts as a hundred`,
      limit: 'the order in which rows are locked',
    },
  ];
}
