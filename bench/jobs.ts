import { type ChildProcess, fork } from 'node:child_process';
import path from 'node:path';
import {
  type Context,
  connect,
  createLog,
  type Drivers,
  enqueue,
  job,
  type Run,
  type SagaFor,
  startAnnouncing,
  startWorker,
  transaction,
} from '../src/platform/index.ts';
import { type Cpu, costSince, costText, cpuOf } from './cpu.ts';
import { type House, root, undo } from './house.ts';
import { interleave, nowMs, type Pair, ratiosOf, spreadOf } from './measure.ts';
import type { Access } from './people.ts';
import { type Figure, perSecond } from './table.ts';

export interface JobsOptions {
  rounds: number;
  seconds: number;
}

interface Payload {
  key: number;
}

/** The job whose start is timed; what it does, the worker says. */
export function sampled(work: (run: Run<Payload, object>) => Promise<void>) {
  return job<Payload>('bench.sampled', work);
}

const unnoticed = sampled(async () => undefined);
const committers = 32;
const sampleEveryMs = 20;
const dayMs = 24 * 3_600_000;

/**
 * Jobs that begin in another process than the one that commits them, while 32 committers write as fast as they
 * can: how long after its commit one begins, and what telling others costs the committers.
 */
export async function measureJobs(house: House, access: Access, options: JobsOptions): Promise<Figure[]> {
  const log = createLog('warn');
  const db = connect(house.databaseUrl, { log, poolSize: committers + 2 });
  const ctx = { ...access.ctx, db };
  const begun = new Map<number, number>();
  const worker = await openWorker(house, begun);
  const waits = { told: [] as number[], polled: [] as number[] };
  const cost = { told: [] as Cpu[], polled: [] as Cpu[] };
  const round = async (kind: keyof typeof waits): Promise<number> => {
    const before = cpuOf(house, process.pid);
    const committed = new Map<number, number>();
    const until = nowMs() + options.seconds * 1_000;
    let commits = 0;
    const commit = async () => {
      while (nowMs() < until) {
        // Enqueued like any other, and due long after the bench.
        await transaction(ctx, 'bench.commit', (tx) =>
          enqueue(tx, unnoticed, { key: 0 }, { runAt: new Date(tx.clock.now().getTime() + dayMs) }),
        );
        commits += 1;
      }
    };
    const sample = async () => {
      while (nowMs() < until) {
        const key = Math.floor(nowMs() * 1_000);
        await transaction(ctx, 'bench.sample', (tx) => enqueue(tx, unnoticed, { key }));
        committed.set(key, nowMs());
        await new Promise((resolve) => setTimeout(resolve, sampleEveryMs));
      }
    };
    await Promise.all([sample(), ...Array.from({ length: committers }, commit)]);
    cost[kind].push(costSince(before, cpuOf(house, process.pid), commits));
    await new Promise((resolve) => setTimeout(resolve, 2_000)); // the last ones begin
    for (const [key, atMs] of committed)
      waits[kind].push((begun.get(key) ?? Number.POSITIVE_INFINITY) - atMs);
    await access.sql(`delete from jobs where name = 'bench.sampled'`);
    return commits / options.seconds;
  };
  const told = async () => {
    const announcing = startAnnouncing(house.databaseUrl, log, () => true);
    const rate = await round('told');
    await announcing.stop();
    return rate;
  };
  const pairs = await interleave(options.rounds, told, () => round('polled'));
  const begin = await measureBegin(house, ctx, begun, options.rounds);
  worker.kill('SIGTERM');
  await db.close();
  return [startFigure(waits), throughputFigure(pairs, cost), begin];
}

const begins = 40;

/**
 * With nothing else going on: how long after its commit a job begins in another process, against one that begins in the process that
 * commits it. `begunThere`: when the jobs of the other one began, by key.
 */
async function measureBegin(
  house: House,
  ctx: Context,
  begunThere: ReadonlyMap<number, number>,
  rounds: number,
): Promise<Figure> {
  const begunHere = new Map<number, number>();
  const own = job<Payload>('bench.own', async ({ payload }) => void begunHere.set(payload.key, nowMs()));
  const worker = startWorker(ctx, house.databaseUrl, { sagas: [own], drivers: {} as Drivers });
  const announcing = startAnnouncing(house.databaseUrl, ctx.log, ({ name }) => name === unnoticed.name);
  const median = async (saga: SagaFor<Payload>, begun: ReadonlyMap<number, number>): Promise<number> => {
    const waits: number[] = [];
    for (let at = 0; at < begins; at += 1) {
      const key = Math.floor(nowMs() * 1_000);
      await transaction(ctx, 'bench.begin', (tx) => enqueue(tx, saga, { key }));
      const committedAt = nowMs();
      while (!begun.has(key)) await new Promise((resolve) => setTimeout(resolve, sampleEveryMs));
      waits.push((begun.get(key) ?? Number.POSITIVE_INFINITY) - committedAt);
    }
    return spreadOf(waits).median;
  };
  await median(own, begunHere); // both have had their first jobs
  await median(unnoticed, begunThere);
  const pairs = await interleave(
    rounds,
    () => median(unnoticed, begunThere),
    () => median(own, begunHere),
  );
  await announcing.stop();
  await worker.stop();
  const amount = (key: keyof Pair) => spreadOf(pairs.map((pair) => pair[key])).median.toFixed(1);
  return {
    name: 'A job of another process, commit to start, nothing else going on',
    against: 'the same within one process',
    value: ratiosOf(pairs),
    unit: 'ratio',
    target: { atMost: 2 },
    amounts: `${amount('ours')} ms against ${amount('theirs')} ms, medians of ${begins} jobs a round`,
    limit: 'the message, by way of PostgreSQL, and another process that wakes',
  };
}

async function openWorker(house: House, begun: Map<number, number>): Promise<ChildProcess> {
  const env = { ...process.env, DATA_DIR: house.dataDir, BENCH_DATABASE: house.databaseUrl };
  const worker = fork(path.join(root, 'bench/jobWorker.ts'), { env });
  undo.push(() => worker.kill('SIGTERM'));
  await new Promise<void>((resolve, reject) => {
    worker.once('exit', (code) => reject(new Error(`the worker ended with ${code}`)));
    worker.on('message', (told: 'ready' | { key: number; atMs: number }) => {
      if (told === 'ready') resolve();
      else begun.set(told.key, told.atMs);
    });
  });
  return worker;
}

function startFigure({ told, polled }: { told: number[]; polled: number[] }): Figure {
  const at = (values: number[], part: number) =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;
  const p95 = at(told, 0.95);
  return {
    name: 'A job of another process, commit to start, p95',
    against: 'polling alone',
    value: { median: p95, min: at(told, 0.5), max: at(told, 0.99) },
    unit: 'ms',
    target: { atMost: 25 },
    amounts: `${told.length} jobs; by polling alone p95 ${at(polled, 0.95).toFixed(0)} ms; the spread is p50 to p99`,
    limit: `${committers} committers beside it take all cores; a message every 10 ms at most`,
  };
}

function throughputFigure(pairs: Pair[], cost: { told: Cpu[]; polled: Cpu[] }): Figure {
  const rate = (key: keyof Pair) => perSecond(spreadOf(pairs.map((pair) => pair[key])).median);
  return {
    name: `Commits that enqueue, ${committers} at once, told to others`,
    against: 'the same without telling',
    value: ratiosOf(pairs),
    unit: 'ratio',
    target: { atLeast: 0.9 },
    amounts:
      `${rate('ours')} against ${rate('theirs')}; ` +
      `CPU time a commit: ${costText(cost.told)} against ${costText(cost.polled)}`,
    limit: 'the worker that looks at each message, on the same cores',
  };
}
