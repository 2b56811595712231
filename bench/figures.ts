/** Measures the figures one after another and prints the table; `run.ts` starts it in a network of its own. */
import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { measureActions } from './actions.ts';
import { measureActivity } from './activity.ts';
import { measureAttacks } from './attacks.ts';
import { measureBmcs } from './bmcs.ts';
import { measureCheckout } from './checkout.ts';
import { measureDashboard } from './dashboard.ts';
import { measureDelivery } from './delivery.ts';
import { measureDocuments } from './documents.ts';
import { measureEdge } from './edge.ts';
import { measureFailover } from './failover.ts';
import { measureFlows } from './flows.ts';
import { measureGet } from './get.ts';
import { openHouse, temporaryDir, undoAll } from './house.ts';
import { measureIdle } from './idle.ts';
import { measureJobs } from './jobs.ts';
import { measureList } from './list.ts';
import { measureMonth } from './month.ts';
import { measureNightly } from './nightly.ts';
import { fillServices, firstId, measureExport, openAccess, settle } from './people.ts';
import { measurePorts } from './ports.ts';
import { measureProcesses } from './processes.ts';
import { measureReconciling } from './reconciling.ts';
import { measureSamples } from './samples.ts';
import { measureServers } from './servers.ts';
import { measureSignIn } from './signIn.ts';
import { measureSsh } from './ssh.ts';
import { measureStart } from './start.ts';
import { asTable, conditions, type Figure, keeps } from './table.ts';
import { measureEvents, measureWebhooks } from './telling.ts';
import { measureTickets, openDesk } from './tickets.ts';

const argument = (name: string) =>
  process.argv.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3);
const quick = process.argv.includes('--quick');
const only = argument('only')?.split(',');
const wanted = (name: string) => only === undefined || only.includes(name);
/** Fewer, where a machine is not ours for as long: `--rounds=7`. */
const roundsOr = (many: number) => Number(argument('rounds') ?? many);

/** One customer orders many machines. */
const manyOrders = {
  MAX_UNPAID_ORDERS: '1000000',
  MAX_UNPAID_ORDERS_NEW: '1000000',
  MAX_RESERVED_ADDRESSES: '1000000',
  MAX_RESERVED_ADDRESSES_NEW: '1000000',
};

const figures: Figure[] = [];
const failures: string[] = [];

async function take(name: string, measure: () => Promise<Figure[]>): Promise<void> {
  if (!wanted(name)) return;
  const began = performance.now();
  try {
    const measured = await measure();
    figures.push(...measured);
    for (const figure of measured)
      console.log(`  ${figure.name}: ${figure.value.median.toFixed(2)}; ${figure.amounts}`);
  } catch (error) {
    failures.push(name);
    console.error(`✗ ${name}: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
  }
  console.log(`✓ ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void undoAll().finally(() => process.exit(1)));
try {
  if (['get', 'checkout', 'list', 'activity', 'export'].some(wanted)) await api();
  if (wanted('sign-in')) await signIn();
  if (wanted('nightly')) await nightly();
  if (['events', 'webhooks'].some(wanted)) await telling();
  if (wanted('month')) await month();
  if (wanted('tickets')) await tickets();
  if (wanted('dashboard')) await dashboard();
  await take('jobs', jobs);
  if (wanted('idle')) await idle();
  if (wanted('processes')) await processes();
  await take('failover', () => measureFailover(quick ? 1 : 5));
  await take('bmcs', () => measureBmcs({ rounds: quick ? 1 : 3, bmcs: 1_000 }));
  await take('servers', () =>
    measureServers(
      quick ? { rounds: 1, imageMb: 100, overviews: 50 } : { rounds: 5, imageMb: 200, overviews: 300 },
    ),
  );
  await take('documents', () =>
    measureDocuments(quick ? { rounds: 3, documents: 20 } : { rounds: 9, documents: 100 }),
  );
  if (['start', 'ssh'].some(wanted)) await machines();
  if (wanted('flows')) await flows();
  if (['samples', 'reconciling'].some(wanted)) await samples();
  if (process.env.INNKEEPER_BENCH_NETWORK === 'own') {
    await take('edge', () =>
      measureEdge(
        quick
          ? { rounds: 3, shots: 10, destinations: 1_000 }
          : { rounds: roundsOr(15), shots: 15, destinations: 10_000 },
      ),
    );
    // Emulated machines start and install for minutes: only where it is asked for by its name.
    if (only?.includes('delivery')) await take('delivery', () => measureDelivery(quick ? 1 : roundsOr(3)));
    await take('ports', () => measurePorts({ rounds: quick ? 1 : 3, ports: 1_000 }));
    await take('attacks', () => measureAttacks(quick ? { rounds: 1, rules: 15 } : { rounds: 3, rules: 60 }));
  }
  await take('actions', () =>
    measureActions(
      quick
        ? { machines: 1_000, actions: 8, watchMs: 12_000 }
        : { machines: 1_000, actions: 25, watchMs: 120_000 },
    ),
  );
} finally {
  await undoAll();
}
console.log(`\n${conditions(quick)}\n\n${asTable(figures)}`);
const file = argument('json');
if (file !== undefined)
  writeFileSync(file, `${JSON.stringify({ conditions: conditions(quick), figures }, null, 2)}\n`);
for (const figure of figures) if (keeps(figure) === false) console.log(`\nNot met: ${figure.name}`);
process.exit(failures.length > 0 ? 1 : 0);

/** The figures of the API, on one product with simulated machines. */
async function api(): Promise<void> {
  const house = await openHouse(await temporaryDir(), { HYPERVISOR: 'simulator' });
  const access = await openAccess(house);
  const people = await settle(access, quick ? 1_500 : 5_000);
  const perPerson = 5;
  const readers = people.slice(0, 400);
  const serviceIds: number[] = [];
  for (let round = 0; round < perPerson; round += 1)
    for (const [index] of readers.entries()) serviceIds.push(firstId + 1 + round + index * 1_000);
  for (const [index, person] of readers.entries())
    await fillServices(
      access,
      { id: person.organizationId, userId: person.userId },
      { count: perPerson, firstServiceId: firstId + index * 1_000, product: house.demo.products.hosting },
    );
  await access.sql('vacuum analyze');
  await take('get', () =>
    measureGet(
      house,
      readers,
      serviceIds,
      quick ? { rounds: 3, seconds: 1, lookups: false } : { rounds: 9, seconds: 3, lookups: true },
    ),
  );
  await take('export', () => measureExport(house, access, readers, quick ? 50_000 : 1_000_000));
  const shop = { house, access, people };
  await take('checkout', () =>
    measureCheckout(shop, quick ? { rounds: 2, seconds: 1 } : { rounds: 7, seconds: 4 }),
  );
  await take('list', () =>
    measureList(
      shop,
      quick ? { rows: 20_000, rounds: 4, requests: 40 } : { rows: 1_000_000, rounds: 15, requests: 100 },
    ),
  );
  await take('activity', () =>
    measureActivity(
      shop,
      quick
        ? { rows: 20_000, rounds: 4, requests: 40 }
        : { rows: 1_000_000, rounds: roundsOr(15), requests: 100 },
    ),
  );
  await access.close();
  await house.stop();
}

/** On a product of its own without limits: all who sign in come from one address. */
async function signIn(): Promise<void> {
  const house = await openHouse(await temporaryDir(), { HYPERVISOR: 'simulator', RATE_LIMITS: 'off' });
  const access = await openAccess(house);
  const people = await settle(access, 400);
  await take('sign-in', () =>
    measureSignIn(
      { house, access, people },
      quick ? { rounds: roundsOr(3), seconds: 2 } : { rounds: roundsOr(15), seconds: 4 },
    ),
  );
  await access.close();
  await house.stop();
}

async function flows(): Promise<void> {
  const house = await openHouse(await temporaryDir(), { HYPERVISOR: 'simulator', RATE_LIMITS: 'off' });
  const access = await openAccess(house);
  await take('flows', () => measureFlows(house, access, { rounds: quick ? 3 : 15, flows: 100_000 }));
  await access.close();
  await house.stop();
}

/** Beside a product that only answers requests. */
async function samples(): Promise<void> {
  const house = await openHouse(await temporaryDir(), { HYPERVISOR: 'simulator', ROLE: 'api' });
  const access = await openAccess(house);
  const people = await settle(access, 1);
  const cluster = { few: 300, many: 3_000, members: 3 };
  await take('reconciling', () =>
    measureReconciling({ house, access, people }, { rounds: quick ? 5 : roundsOr(21), ...cluster }),
  );
  await take('samples', () =>
    measureSamples(
      { house, access, people },
      quick
        ? { rounds: 1, few: 100, many: 1_000, minutes: 10 }
        : { rounds: roundsOr(1), few: 1_000, many: 10_000, minutes: 60 },
    ),
  );
  await access.close();
  await house.stop();
}

/** Two products: the queue of staff is one for the whole house. */
async function tickets(): Promise<void> {
  const env = { HYPERVISOR: 'simulator', RATE_LIMITS: 'off' };
  const few = await openDesk(await openHouse(await temporaryDir(), env));
  const many = await openDesk(await openHouse(await temporaryDir(), env));
  await take('tickets', () =>
    measureTickets(
      few,
      many,
      quick ? { rows: 20_000, rounds: 4, requests: 40 } : { rows: 1_000_000, rounds: 15, requests: 100 },
    ),
  );
  for (const { access, house } of [few, many]) {
    await access.close();
    await house.stop();
  }
}

/** What the demonstration's customer sees in a browser, on a product of its own with simulated machines. */
async function dashboard(): Promise<void> {
  const house = await openHouse(await temporaryDir(), { HYPERVISOR: 'simulator', RATE_LIMITS: 'off' });
  const access = await openAccess(house);
  await take('dashboard', () =>
    measureDashboard(
      { house, access },
      quick
        ? { rounds: 3, changes: 10, searches: 10, services: 10_000, builds: 1, scrolled: 20_000 }
        : {
            rounds: roundsOr(15),
            changes: 100,
            searches: 100,
            services: 10_000,
            builds: 3,
            scrolled: 100_000,
          },
    ),
  );
  await access.close();
  await house.stop();
}

/** The calendar, beside a product that only answers requests. */
async function nightly(): Promise<void> {
  const house = await openHouse(await temporaryDir(), { HYPERVISOR: 'simulator', ROLE: 'api' });
  // It charges saved cards, at a payment provider that is there once they are measured.
  const payments = {
    PAYMENTS: 'stripe',
    STRIPE_SECRET_KEY: 'sk_test_bench',
    STRIPE_WEBHOOK_SECRET: 'whsec_bench',
  };
  const access = await openAccess(house, payments);
  const people = await settle(access, quick ? 500 : 5_000);
  await take('nightly', () =>
    measureNightly(
      { house, access, people },
      quick
        ? { rounds: 1, few: 200, many: 1_000, noticed: 1_000, seconds: 1 }
        : {
            rounds: Number(argument('rounds') ?? 3),
            few: 1_000,
            many: Number(argument('services') ?? 100_000),
            noticed: 10_000,
            seconds: 2,
          },
    ),
  );
  await access.close();
  await house.stop();
}

/** Many invoices of one month, on a product of its own. */
async function month(): Promise<void> {
  const house = await openHouse(await temporaryDir(), { HYPERVISOR: 'simulator', RATE_LIMITS: 'off' });
  const access = await openAccess(house);
  const people = await settle(access, 10);
  await take('month', () =>
    measureMonth(
      { house, access, people },
      quick
        ? { invoices: 20_000, rounds: 3, requests: 40 }
        : { invoices: 200_000, rounds: 15, requests: 100 },
    ),
  );
  await access.close();
  await house.stop();
}

/** What people outside are told, on a product of its own: a journal in which nothing else stands. */
async function telling(): Promise<void> {
  const house = await openHouse(await temporaryDir(), {
    ...{ HYPERVISOR: 'simulator', RATE_LIMITS: 'off', WEBHOOK_ALLOW: '127.0.0.1' },
  });
  const access = await openAccess(house);
  const people = await settle(access, 1_500);
  const shop = { house, access, people };
  await take('events', () => measureEvents(shop, { clients: 1_000, events: quick ? 100 : 1_000 }));
  await take('webhooks', () =>
    measureWebhooks(shop, quick ? { rounds: 2, webhooks: 2_000 } : { rounds: 7, webhooks: 10_000 }),
  );
  await access.close();
  await house.stop();
}

/** On a product of its own with a small pool: the committers need most of its database's connections. */
async function jobs(): Promise<Figure[]> {
  const house = await openHouse(await temporaryDir(), { HYPERVISOR: 'simulator', DATABASE_POOL_SIZE: '2' });
  const access = await openAccess(house);
  const figures = await measureJobs(
    house,
    access,
    quick ? { rounds: 2, seconds: 2 } : { rounds: 7, seconds: 5 },
  );
  await access.close();
  await house.stop();
  return figures;
}

/** The first of several processes, with the PostgreSQL of all. */
async function processes(): Promise<void> {
  const dir = await temporaryDir();
  const env = { ...manyOrders, ...{ HYPERVISOR: 'simulator', RATE_LIMITS: 'off', ROLE: 'api' } };
  const first = await openHouse(dir, env);
  await first.stop();
  // Six processes have more connections than the PostgreSQL of one takes.
  appendFileSync(path.join(dir, 'postgres/data/postgresql.auto.conf'), 'max_connections = 200\n');
  const house = await openHouse(dir, env);
  const access = await openAccess(house);
  const people = await settle(access, quick ? 1_500 : 5_000);
  await access.sql('vacuum analyze');
  await take('processes', () =>
    measureProcesses(house, access, people, quick ? { rounds: 2, seconds: 3 } : { rounds: 7, seconds: 6 }),
  );
  await access.close();
  await house.stop();
}

/** Beside a product that only answers requests. */
async function idle(): Promise<void> {
  const house = await openHouse(await temporaryDir(), { HYPERVISOR: 'simulator', ROLE: 'api' });
  await take('idle', () =>
    measureIdle(house, quick ? { rounds: 1, seconds: 30 } : { rounds: 5, seconds: 60 }),
  );
  await house.stop();
}

/** Start and memory of the product as it comes, with real machines where there can be any; then such a machine. */
async function machines(): Promise<void> {
  const imagesDir = process.env.INNKEEPER_BENCH_IMAGES ?? '';
  const hasNetwork = process.env.INNKEEPER_BENCH_NETWORK === 'own';
  const env = {
    ...manyOrders,
    RATE_LIMITS: 'off', // a machine's state is asked for every few milliseconds
    ...(hasNetwork ? { IMAGES_DIR: imagesDir } : { HYPERVISOR: 'simulator' }),
  };
  const options = quick ? { rounds: 1, restMs: 1_000 } : { rounds: 7, restMs: 60_000 };
  const { figures: taken, house } = await measureStart(await temporaryDir(), env, options);
  await take('start', async () => taken);
  if (hasNetwork)
    await take('ssh', () => measureSsh(house, { rounds: quick ? 1 : 15, warm: !quick, imagesDir }));
  await house.stop();
}
