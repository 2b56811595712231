import pg from 'pg';
import type { MachineSample } from '../src/drivers/hypervisor/index.ts';
import {
  type Context,
  runPeriodicJob,
  type TravellingClock,
  travellingClock,
} from '../src/platform/index.ts';
import { createSampler, resolutions, vpsPeriodicJobs } from '../src/vps/index.ts';
import { type Cpu, costSince, costText, cpuOf } from './cpu.ts';
import type { House } from './house.ts';
import { spreadOf } from './measure.ts';
import { type Access, fillServices, firstId, type Person } from './people.ts';
import type { Figure } from './table.ts';

export interface SamplesOptions {
  rounds: number;
  /** Machines of the small house and of the large one, on nodes of a hundred each. */
  few: number;
  many: number;
  minutes: number;
}

export interface Shop {
  /** It serves the API and samples nothing by itself (`ROLE=api`). */
  house: House;
  access: Access;
  people: readonly Person[];
}

/** Machines of one size of house. */
export interface Nodes {
  ids: number[];
  firstServiceId: number;
}

interface Hour {
  /** CPU time of the process that samples and of PostgreSQL, of all machines together. */
  cpu: Cpu;
  walBytes: number;
}

const usualPerNode = 100;
const checkpointMs = 15 * 60_000;
const turnMs = resolutions.hour.intervalS * 1_000;
const everyMinute = vpsPeriodicJobs.filter(({ name }) => name === 'vps.charts');
const everyFiveMinutes = vpsPeriodicJobs.filter(({ name }) => name === 'vps.emptyCharts');

/**
 * What it takes to sample many machines every ten seconds for an hour, and to keep what their charts are drawn of, against a tenth of
 * them. As a node does it, by nodes of a hundred machines each; the hour passes as fast as the work is done.
 */
export async function measureSamples(shop: Shop, options: SamplesOptions): Promise<Figure[]> {
  const few = await fillNodes(shop, { count: options.few, firstServiceId: 7 * firstId, named: 'few' });
  const many = await fillNodes(shop, { count: options.many, firstServiceId: 8 * firstId, named: 'many' });
  await hour(shop, few, Math.min(options.minutes, 5)); // compiled
  const rounds: { few: Hour; many: Hour }[] = [];
  for (let nth = 0; nth < options.rounds; nth += 1)
    rounds.push({
      few: await hour(shop, few, options.minutes),
      many: await hour(shop, many, options.minutes),
    });
  return figuresOf(rounds, options);
}

/** Services of one customer with a machine each that runs, on nodes of so many (default: a hundred). */
export async function fillNodes(
  { house, access, people }: Shop,
  {
    count,
    firstServiceId,
    named,
    perNode = usualPerNode,
  }: { count: number; firstServiceId: number; named: string; perNode?: number },
): Promise<Nodes> {
  const [owner] = people;
  if (owner === undefined) throw new Error('nobody to have machines');
  const organization = { id: owner.organizationId, userId: owner.userId };
  await fillServices(access, organization, { count, firstServiceId, product: house.demo.products.vps });
  await access.sql(
    `insert into images (slug, name, version, source, min_memory_mib, min_disk_gib, created_at)
     values ('tiny', 'Tiny', '1', '{"kind": "build", "recipe": "tiny"}', 1, 1, now()) on conflict do nothing`,
  );
  const { rows } = await access.sql(
    `insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, created_at)
     select $1 || i, 'elsewhere', 1, 1, 1, now() from generate_series(1, $2::int) i returning id`,
    [named, count / perNode],
  );
  const ids = (rows as { id: string | number }[]).map(({ id }) => Number(id));
  await access.sql(
    `insert into machines (service_id, organization_id, node_id, image, hostname, cpu_cores, memory_mib, disk_gib,
       port_mbps, mac, wanted, state, started_at, created_at)
     select $1::bigint + i, $2, ($3::bigint[])[1 + (i - 1) / $4::int], 'tiny', 'web' || i, 1, 1024, 10, 1000,
       (left(md5($5), 2) || lpad(to_hex(i), 10, '0'))::macaddr, 'running', 'running', now(), now()
     from generate_series(1, $6::int) i`,
    [firstServiceId, owner.organizationId, ids, perNode, named, count],
  );
  await access.sql('vacuum analyze');
  return { ids, firstServiceId };
}

async function hour({ house, access }: Shop, nodes: Nodes, minutes: number): Promise<Hour> {
  const clock = travellingClock();
  const ctx: Context = { ...access.ctx, clock };
  const samplers = nodes.ids.map((id, nth) => {
    const first = nodes.firstServiceId + 1 + nth * usualPerNode;
    return createSampler(
      ctx,
      () => [id],
      async () => samplesAt(clock, first),
    );
  });
  await access.sql('truncate vps_charts, vps_traffic');
  const checkpoint = await openCheckpoints(house);
  await checkpoint.take();
  const before = { cpu: cpuOf(house, process.pid), wal: await walBytes(access) };
  for (let ms = turnMs; ms <= minutes * 60_000; ms += turnMs) {
    for (const sample of samplers) await sample();
    clock.travel(turnMs);
    if (ms % 60_000 === 0) for (const job of everyMinute) await runPeriodicJob(ctx, job);
    if (ms % 300_000 === 0) for (const job of everyFiveMinutes) await runPeriodicJob(ctx, job);
    if (ms % checkpointMs === 0) await checkpoint.take();
  }
  for (const sample of samplers) await sample.finish();
  await checkpoint.close();
  const wal = await walBytes(access);
  return { cpu: costSince(before.cpu, cpuOf(house, process.pid), 1), walBytes: wal - before.wal };
}

/** As many checkpoints as the server makes in such an hour, which passes faster here: pages are written whole after each. */
async function openCheckpoints({ databaseUrl }: House) {
  const server = new pg.Client({ connectionString: databaseUrl.replace('//innkeeper@', '//postgres@') });
  await server.connect();
  return { take: () => server.query('checkpoint'), close: () => server.end() };
}

function samplesAt(clock: TravellingClock, first: number): MachineSample[] {
  const at = clock.now();
  const total = at.getTime() % 1e12;
  return Array.from({ length: usualPerNode }, (_, nth) => ({
    ...{ id: `vps-${first + nth}`, at, startedAt: new Date(0), cpuMs: total / 2 + nth },
    ...{
      memoryUsedBytes: 1e9 + nth,
      memoryTotalBytes: 2e9,
      diskReadBytes: total * 3,
      diskWrittenBytes: total * 5,
    },
    ...{ netInBytes: total * 7, netOutBytes: total * 11 },
  }));
}

async function walBytes({ sql }: Access): Promise<number> {
  const { rows } = await sql(`select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`);
  return (rows[0] as { bytes: number }).bytes;
}

function figuresOf(
  rounds: readonly { few: Hour; many: Hour }[],
  { few, many, minutes }: SamplesOptions,
): Figure[] {
  const [ofFew, ofMany] = [few, many].map((count) => count.toLocaleString('en'));
  const machineHours = (of: 'few' | 'many') => (of === 'few' ? few : many) * (minutes / 60);
  const cpu = ({ node, database }: Cpu) => node + database;
  const perMachine = (of: 'few' | 'many') =>
    costText(
      rounds.map((round) => ({
        node: round[of].cpu.node / machineHours(of),
        database: round[of].cpu.database / machineHours(of),
      })),
    );
  const kilobytes = (of: 'few' | 'many') =>
    (spreadOf(rounds.map((round) => round[of].walBytes)).median / machineHours(of) / 1_000).toFixed(0);
  const against = `${ofFew} machines`;
  return [
    {
      name: `Samples of ${ofMany} machines for ${minutes} minutes: CPU of worker and PostgreSQL`,
      against,
      value: spreadOf(rounds.map((round) => cpu(round.many.cpu) / cpu(round.few.cpu))),
      unit: 'ratio',
      target: { atMost: 11 },
      amounts: `a machine and hour ${perMachine('many')}, against ${perMachine('few')}`,
      limit: 'PostgreSQL: 360 rows and their entries in two indexes, and coarse points every minute',
    },
    {
      name: 'The same: bytes written to the log of PostgreSQL',
      against,
      value: spreadOf(rounds.map((round) => round.many.walBytes / round.few.walBytes)),
      unit: 'ratio',
      target: { atMost: 11 },
      amounts: `a machine and hour ${kilobytes('many')} kB against ${kilobytes('few')} kB`,
      limit: 'the same rows; pages that are written whole after a checkpoint',
    },
  ];
}
