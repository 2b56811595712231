import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Context } from '../context.ts';
import { connectAlone, endAlone, endsWhenSilent } from '../database/alone.ts';
import { valuesOf } from '../database/statement.ts';
import type { Drivers } from '../drivers.ts';
import { AppError } from '../errors.ts';
import { channel, readTold, startAnnouncing, type Told } from './announce.ts';
import { openCompany } from './company.ts';
import { onEnqueued } from './enqueue.ts';
import {
  claimJobs,
  type JobRow,
  lookForJobs,
  newWorkerNumber,
  pullForward,
  unknownKinds,
} from './queries.ts';
import { claimableBy, defaultSlots, type OwnersReader, queueOf, queues, type Slots } from './queues.ts';
import { runJob } from './run.ts';
import { ClaimLost } from './running.ts';
import { type AnySaga, byName, type Queue } from './saga.ts';
import { servedClass } from './served.ts';
import { addHeart, aheadMs, beat, enterWorker, keepAlive, livenessClass } from './workers.ts';

export interface WorkerOptions {
  sagas: readonly AnySaga[];
  drivers: Drivers;
  /** The nodes whose jobs it runs, besides those that are anyone's; asked at each look, since members of clusters come and go. Default: none. */
  nodes?: readonly number[] | (() => readonly number[]);
  /** How many jobs of each queue run side by side. */
  slots?: Partial<Slots>;
  /** Who owns which organizations, which share what one may have of a queue. Default: each counts alone. */
  readOwners?: OwnersReader;
  /** How often the worker looks for itself while it is busy; a commit in any process wakes it at once. */
  pollMs?: number;
  /** Asked before it begins, and anew when the database was away: while that is false it does no jobs. */
  mayWork?: () => Promise<boolean>;
  /** It does a few kinds of jobs while no worker lives, and does not count as one. */
  standsIn?: boolean;
}

export interface Worker {
  /** Whether it holds its lock and still looks for jobs. */
  isAlive(): boolean;
  /** What it does at the moment, by queue, and how often something went wrong that was no job's fault. */
  counts(): { running: Slots; slots: Slots; stumbles: number };
  /** Lets running steps finish, up to `timeoutMs`, and takes no new ones. */
  stop(timeoutMs?: number): Promise<void>;
}

/** A worker that nothing happens to looks less often: whoever commits a job tells it, and it knows when the next one is due. */
const restMs = 5_000;
const busyForMs = 10_000;
/** How often it looks for jobs that a clock which was ahead has put off: as long as one seems to be, and else. */
const correctEveryMs = 10_000;
const correctAnywayMs = 120_000;
/** A worker that has not looked for jobs for so long hangs, … */
const hangsAfterMs = 30_000;
/** … and others go on with its jobs where it has not even said so often that it lives, be it by what it writes down of that. */
const beatMs = 11_000;

/** What another process tells of is looked for by the worker whose turn it is at once, at most so often, … */
const toldEveryMs = 10;
/** … and by the others so much later, for all that they were told of meanwhile. */
const othersLookMs = 40;

/** A claim on life: as long as the connection stands, the jobs of `number` are being worked on. */
interface Liveness {
  number: number;
  signal: AbortSignal;
  /** Whether it is the turn of this one of those that know the same jobs. */
  hasTurn(turn: number | null): boolean;
  /** Writes down that it lives. */
  beat(now: Date): Promise<void>;
  /** Shows that the jobs of these nodes are done by somebody. Returns whether they are others than before. */
  serve(nodes: readonly number[]): Promise<boolean>;
  end(): Promise<void>;
}

interface Running {
  job: JobRow;
  queue: Queue;
  done: Promise<void>;
}

/**
 * Runs jobs until stopped. When the process dies, or only its connection to the database, the database lets
 * go of its advisory lock and the next look of any worker gives the jobs back: recovery takes as long as one
 * poll, not a timeout. Throws when two sagas have one name.
 */
export function startWorker(ctx: Context, url: string, options: WorkerOptions): Worker {
  const { sagas, drivers, nodes: given = [] } = options;
  const nodes = typeof given === 'function' ? given : () => given;
  const known = byName(sagas);
  const companies = new Map(sagas.filter(({ inStep }) => inStep).map(({ name }) => [name, openCompany()]));
  const places = () => [0, ...nodes()]; // 0 is anyone's
  const slots = { ...defaultSlots, ...options.slots };
  const pollMs = options.pollMs ?? 1_000;
  const claimable = claimableBy(options.readOwners ?? (async () => new Map()));
  const running = new Set<Running>();
  const bell = createBell();
  /** Queues to look at; in those of `backlog` more waited than there were places for. */
  const due = new Set<Queue>();
  const backlog = new Set<Queue>();
  let stopped = false;
  let lookedAtMs = 0;
  /** When it claimed a job last; a clock that is moved on purpose may make one due at any moment. */
  let busyAtMs = Number.NEGATIVE_INFINITY;
  let correctedAtMs = Number.NEGATIVE_INFINITY;
  let stumbles = 0;
  let alive: Liveness | null = null;
  const isAlive = () =>
    alive !== null && !alive.signal.aborted && performance.now() - lookedAtMs < hangsAfterMs + pollMs;
  const look = (queue: Queue) => {
    due.add(queue);
    bell.ring();
  };
  const onReady = (name: string) => {
    const saga = known.get(name);
    if (saga) look(queueOf(saga));
  };
  /** Looks that are to come, by queue, and when the last one began. */
  const coming = new Map<Queue, { atMs: number; timer: NodeJS.Timeout }>();
  const lookedQueueAtMs = new Map<Queue, number>();
  const forgetComing = (queue: Queue) => {
    clearTimeout(coming.get(queue)?.timer);
    coming.delete(queue);
  };
  const lookIn = (queue: Queue, ms: number) => {
    const atMs = performance.now() + ms;
    if ((coming.get(queue)?.atMs ?? Number.POSITIVE_INFINITY) <= atMs) return;
    forgetComing(queue);
    if (ms <= 0) return look(queue);
    coming.set(queue, { atMs, timer: setTimeout(() => look(queue), ms) });
  };
  const onTold = ({ names, nodeId, turn }: Told, hasTurn: Liveness['hasTurn']) => {
    if (nodeId !== null && !nodes().includes(nodeId)) return; // nobody's here
    const mine = nodeId !== null || hasTurn(turn);
    for (const name of names.length === 0 ? known.keys() : names) {
      const saga = known.get(name);
      if (saga === undefined) continue;
      const queue = queueOf(saga);
      const sinceMs = performance.now() - (lookedQueueAtMs.get(queue) ?? Number.NEGATIVE_INFINITY);
      lookIn(queue, mine ? Math.max(0, toldEveryMs - sinceMs) : othersLookMs);
    }
  };
  const kinds = createHash('sha256')
    .update([...known.keys()].sort().join(','))
    .digest('base64');
  const stopListening = onEnqueued(({ name }) => onReady(name));
  const announcing = startAnnouncing(
    url,
    ctx.log,
    ({ nodeId }) => nodeId !== null && !nodes().includes(nodeId),
  );

  const loop = async (): Promise<void> => {
    while (!stopped) {
      let liveness: Liveness | null = null;
      try {
        if (options.mayWork !== undefined && !(await options.mayWork())) {
          await sleep(pollMs);
          continue;
        }
        liveness = await showLife(ctx, url, onTold);
        await serve(liveness);
        const unknown = await ctx.db.many(unknownKinds, { kinds: [...known.keys()] });
        if (unknown.length > 0 && !options.standsIn)
          ctx.log.warn({ kinds: unknown }, 'jobs wait that this worker does not know');
        await workWhileAlive(liveness);
      } catch (error) {
        stumbled(error);
      }
      if (stopped) await Promise.allSettled([...running].map(({ done }) => done));
      await liveness?.end();
      if (!stopped) await sleep(250);
    }
  };

  const workWhileAlive = async (liveness: Liveness): Promise<void> => {
    let isPollDue = true;
    let timer: NodeJS.Timeout | undefined;
    let pollAtMs = Number.POSITIVE_INFINITY;
    /** Never later than it was to be: whoever is told of jobs all the time would not look any more. */
    const pollIn = (ms: number) => {
      if (pollAtMs <= performance.now() + ms) return;
      pollAtMs = performance.now() + ms;
      clearTimeout(timer);
      timer = setTimeout(() => {
        pollAtMs = Number.POSITIVE_INFINITY;
        isPollDue = true;
        bell.ring();
      }, ms);
    };
    liveness.signal.addEventListener('abort', bell.ring, { once: true });
    lookedAtMs = performance.now();
    alive = liveness;
    const rest = options.standsIn ? () => undefined : addHeart(ctx, isAlive, liveness.beat);
    while (!stopped && !liveness.signal.aborted) {
      try {
        let nextMs = pollMs; // what it was told of may be due in a moment
        if (isPollDue) {
          isPollDue = false;
          await serve(liveness);
          const dueInMs = await poll(liveness.number);
          await keepAlive(ctx);
          if (!isBusy()) nextMs = Math.max(pollMs, Math.min(dueInMs, restMs));
        }
        for (const queue of queues) if (due.delete(queue)) await fill(queue, liveness);
        lookedAtMs = performance.now();
        pollIn(nextMs);
      } catch (error) {
        // What runs goes on, and so do we: it may be hours from its end, and the next poll may succeed.
        stumbled(error);
        pollIn(pollMs);
      }
      await bell.rung();
    }
    clearTimeout(timer);
    rest();
    alive = null;
  };

  /** Has everybody know which nodes it serves. */
  const serve = async (liveness: Liveness): Promise<void> => {
    const now = nodes();
    if ((await liveness.serve(now)) && !options.standsIn) await enterWorker(ctx, liveness.number, now, kinds);
  };

  const isBusy = () =>
    ctx.clock.isDriven === true || running.size > 0 || performance.now() - busyAtMs < busyForMs;

  /** One look at everything: gives back what nobody works on, and marks the queues in which something is due. In how long the next is. */
  const poll = async (worker: number): Promise<number> => {
    // Who stands in leaves what is not its own as it is: a recovery may have to hold it.
    const orphans = options.standsIn ? [...known.keys()] : null;
    const found = await ctx.db.many(lookForJobs, {
      ...{
        livenessClass,
        orphans,
        worker,
        running: idsOf(running),
        kinds: [...known.keys()],
        nodes: places(),
      },
    });
    const givenBack = (why: string) =>
      found.filter((each) => each.found === why).map(({ id, name }) => ({ id, name }));
    const [dead, lost] = [givenBack('orphan'), givenBack('lost')];
    if (dead.length > 0) ctx.log.info({ jobs: dead }, 'going on with jobs of a worker that is gone');
    if (lost.length > 0) ctx.log.warn({ jobs: lost }, 'going on with jobs that got lost on their way');
    const nowMs = ctx.clock.now().getTime();
    let dueInMs = Number.POSITIVE_INFINITY;
    for (const { name, run_at: runAt } of found) {
      const inMs = (runAt?.getTime() ?? nowMs) - nowMs;
      dueInMs = Math.min(dueInMs, inMs);
      if (inMs <= 0) onReady(name);
    }
    await correct(found.some(({ run_at: runAt }) => (runAt?.getTime() ?? 0) - nowMs > aheadMs));
    return dueInMs;
  };

  const correct = async (seemsLate: boolean): Promise<void> => {
    if (performance.now() - correctedAtMs < (seemsLate ? correctEveryMs : correctAnywayMs)) return;
    const now = ctx.clock.now();
    const latest = new Date(now.getTime() + aheadMs);
    const early = await ctx.db.many(pullForward, { kinds: [...known.keys()], nodes: places(), now, latest });
    if (early.length > 0) ctx.log.warn({ jobs: early }, 'going on with jobs that a clock had put off');
    for (const { name } of early) onReady(name);
    correctedAtMs = performance.now();
  };

  const fill = async (queue: Queue, liveness: Liveness): Promise<void> => {
    const kinds = sagas.filter((saga) => queueOf(saga) === queue).map((saga) => saga.name);
    // Whatever was told of until now is found.
    forgetComing(queue);
    lookedQueueAtMs.set(queue, performance.now());
    while (!stopped && !liveness.signal.aborted) {
      const organizations = [...running]
        .filter((each) => each.queue === queue)
        .map(({ job }) => job.organization_id);
      if (kinds.length === 0) return;
      const { atMost, full } = await claimable(ctx, slots[queue], organizations);
      backlog.add(queue);
      if (atMost <= 0) return;
      const now = ctx.clock.now();
      // Not what still runs here from an earlier life, deaf to its signal: it would run beside itself.
      const jobs = await ctx.db.many(claimJobs, {
        worker: liveness.number,
        now,
        kinds,
        nodes: places(),
        running: idsOf(running),
        full,
        limit: atMost,
      });
      if (jobs.length > 0) busyAtMs = performance.now();
      for (const job of jobs) begin(job, queue, liveness);
      if (jobs.length < atMost) {
        if (full.length === 0) backlog.delete(queue);
        return;
      }
    }
  };

  const begin = (job: JobRow, queue: Queue, { number, signal }: Liveness): void => {
    const saga = known.get(job.name) as AnySaga; // only these were asked for
    const company = companies.get(job.name) ?? null;
    const run = () => runJob({ ctx, drivers, worker: number, nodes: nodes(), signal, company }, job, saga);
    const done = (company === null ? run() : company.join(run))
      .catch((error: unknown) => {
        if (error instanceof ClaimLost || signal.aborted) return;
        stumbles += 1;
        ctx.log.error(
          { err: error, job: job.id, name: job.name },
          'a job was dropped; the next poll releases it',
        );
      })
      .finally(() => {
        running.delete(entry);
        if (backlog.has(queue) || signal.aborted) look(queue);
      });
    const entry: Running = { job, queue, done };
    running.add(entry);
  };

  const stumbled = (error: unknown): void => {
    stumbles += 1;
    if (!(error instanceof AppError)) ctx.log.error({ err: error }, 'the worker stumbled');
  };

  const finished = loop();
  return {
    isAlive,
    counts: () => {
      const now = Object.fromEntries(queues.map((queue) => [queue, 0])) as Slots;
      for (const { queue } of running) now[queue] += 1;
      return { running: now, slots, stumbles };
    },
    stop: async (timeoutMs = 5_000) => {
      stopped = true;
      stopListening();
      for (const queue of queues) forgetComing(queue);
      bell.ring();
      await Promise.race([finished, sleep(timeoutMs)]);
      await announcing.stop();
    },
  };
}

function idsOf(running: Iterable<Running>): number[] {
  return Array.from(running, ({ job }) => job.id);
}

/** Whoever waits hears it ring, and so does who comes after: what happens during a look is not missed. */
function createBell() {
  let next = Promise.withResolvers<void>();
  return {
    ring: () => next.resolve(),
    rung: async () => {
      await next.promise;
      next = Promise.withResolvers();
    },
  };
}

async function showLife(
  ctx: Context,
  url: string,
  onTold: (told: Told, hasTurn: Liveness['hasTurn']) => void,
): Promise<Liveness> {
  const { number } = await ctx.db.one(newWorkerNumber);
  // Until it has heard of others every turn is its own.
  let peers: readonly number[] = [];
  const hasTurn = (turn: number | null): boolean =>
    turn === null || !peers.includes(number) || peers[turn % peers.length] === number;
  const abort = new AbortController();
  const begin = async (next: pg.Client) => {
    next.on('end', () => abort.abort(new ClaimLost()));
    next.on('notification', ({ payload }) => onTold(readTold(payload), hasTurn));
    await next.query(endsWhenSilent(hangsAfterMs / 1_000));
    // What a beat says is worth a moment alone: a commit that waits for a standby would end the connection, and every job with it.
    await next.query('set synchronous_commit = off');
    await next.query(`listen ${channel}`);
    await next.query('select pg_advisory_lock($1, $2)', [livenessClass, number]);
  };
  const client = await connectAlone(url, 'worker', begin, { isShared: true });
  let saidAtMs = performance.now();
  const beating = setInterval(() => {
    if (abort.signal.aborted) return clearInterval(beating);
    if (performance.now() - saidAtMs < beatMs) return;
    saidAtMs = performance.now();
    // One that fails tells by the connection's end.
    client.query('select 1').catch(() => undefined);
  }, beatMs / 4);
  const beatNow = async (now: Date): Promise<void> => {
    saidAtMs = performance.now();
    const heard = await client
      .query<{ peers: number[] }>(beat.text, valuesOf(beat, { number, now, livenessClass }))
      .catch(() => null);
    peers = heard?.rows[0]?.peers ?? peers;
  };
  const end = () => {
    clearInterval(beating);
    return endAlone(client);
  };
  let served: readonly number[] | null = null;
  const serve = async (nodes: readonly number[]): Promise<boolean> => {
    const before = served ?? [];
    const [more, gone] = [
      nodes.filter((node) => !before.includes(node)),
      before.filter((node) => !nodes.includes(node)),
    ];
    if (served !== null && more.length === 0 && gone.length === 0) return false;
    for (const node of more)
      await client.query('select pg_advisory_lock_shared($1, $2)', [servedClass, node]);
    for (const node of gone)
      await client.query('select pg_advisory_unlock_shared($1, $2)', [servedClass, node]);
    served = nodes;
    return true;
  };
  return { number, signal: abort.signal, hasTurn, beat: beatNow, serve, end };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
