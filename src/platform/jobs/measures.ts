import { statement } from '../database/index.ts';
import type { MeasureSource, Sample } from '../measures.ts';
import type { Reaction } from '../reactions.ts';
import { queueOf, queues } from './queues.ts';
import type { AnySaga } from './saga.ts';
import { servedClass } from './served.ts';
import { lookForWorkers } from './workers.ts';

type Shown = 'waiting' | 'scheduled' | 'running' | 'failed' | 'stuck';
const shown: readonly Shown[] = ['waiting', 'scheduled', 'running', 'failed', 'stuck'];

interface CountRow {
  name: string;
  shown: Shown;
  jobs: number;
  oldest_at: Date | null;
}

// Each part by an index of its own; what is done, which is most, is not looked at.
const openJobs = statement<CountRow, { now: Date }>(
  'jobs.measure',
  `select name, case when run_at <= :now then 'waiting' else 'scheduled' end as shown, count(*)::int as jobs,
     min(run_at) as oldest_at
   from jobs where state = 'ready' group by 1, 2
   union all
   select name, state, count(*)::int, null from jobs where state = 'running' group by 1, 2
   union all
   select name, state, count(*)::int, null from jobs where state in ('failed', 'stuck') and dismissed_at is null group by 1, 2`,
);
const counted = statement<{ retrying: number; unattended: number }, { servedClass: number }>(
  'jobs.measureTroubles',
  `select (select count(*)::int from jobs
      where state in ('ready', 'running') and stuck_reason is not null and attempts >= 5) as retrying,
     (select count(*)::int from jobs where state = 'ready' and node_id <> all (array(
        select objid::bigint from pg_locks where locktype = 'advisory' and classid = :servedClass::int::oid
          and objsubid = 2 and granted
          and database = (select oid from pg_database where datname = current_database())))) as unattended`,
);

/** Jobs and workers. `sagas` says which queue a job waits in, `reactions` which jobs follow from events. */
export function jobMeasures(sagas: readonly AnySaga[], reactions: readonly Reaction[]): MeasureSource {
  const queueNamed = new Map(sagas.map((saga) => [saga.name, queueOf(saga)]));
  // Mails that only tell of something may wait for a night's end; by their queue it is known how long.
  const following = new Set(
    reactions.map(({ job }) => job.name).filter((name) => queueNamed.get(name) !== 'mails'),
  );
  return {
    measures: [
      {
        name: 'jobs',
        help: 'Jobs by queue and state: waiting for a place, scheduled for later, running, failed, stuck.',
      },
      {
        name: 'jobs_oldest_waiting_seconds',
        help: 'How long the job that waits longest has waited, by queue.',
      },
      {
        name: 'jobs_retrying',
        help: 'Jobs whose end or undo failed five times or more, and that are tried again.',
      },
      { name: 'jobs_unattended', help: 'Jobs that wait for a node that no worker serves.' },
      {
        name: 'reactions_oldest_waiting_seconds',
        help: 'How far what follows from events is behind the journal: the longest wait of such a job, mails that only tell of them aside.',
      },
      { name: 'workers', help: 'Workers that live: they hold their lock and were heard of within a minute.' },
      { name: 'workers_last_seen_timestamp_seconds', help: 'When any worker was heard of last.' },
    ],
    read: async (ctx) => {
      const now = ctx.clock.now();
      const rows = await ctx.db.many(openJobs, { now });
      const troubles = await ctx.db.one(counted, { servedClass });
      const { living, lastSeenAt } = await lookForWorkers(ctx);
      const waiting = rows.filter((row) => row.shown === 'waiting');
      const longestS = (of: readonly CountRow[]) =>
        of.reduce((longest, { oldest_at }) => Math.max(longest, secondsSince(oldest_at, now)), 0);
      const inQueue = (queue: string) => (row: CountRow) => (queueNamed.get(row.name) ?? 'unknown') === queue;
      const names = rows.some(inQueue('unknown')) ? [...queues, 'unknown'] : queues;
      return [
        ...names.flatMap((queue) => shown.map((state) => countOf(rows.filter(inQueue(queue)), queue, state))),
        ...names.map((queue) => ({
          name: 'jobs_oldest_waiting_seconds',
          labels: { queue },
          value: longestS(waiting.filter(inQueue(queue))),
        })),
        { name: 'jobs_retrying', value: troubles.retrying },
        { name: 'jobs_unattended', value: troubles.unattended },
        {
          name: 'reactions_oldest_waiting_seconds',
          value: longestS(waiting.filter((row) => following.has(row.name))),
        },
        { name: 'workers', value: living.length },
        ...(lastSeenAt === null
          ? []
          : [{ name: 'workers_last_seen_timestamp_seconds', value: lastSeenAt.getTime() / 1_000 }]),
      ];
    },
  };
}

function countOf(rows: readonly CountRow[], queue: string, state: Shown): Sample {
  const value = rows.reduce((sum, row) => sum + (row.shown === state ? row.jobs : 0), 0);
  return { name: 'jobs', labels: { queue, state }, value };
}

function secondsSince(at: Date | null, now: Date): number {
  return at === null ? 0 : (now.getTime() - at.getTime()) / 1_000;
}
