import { type Context, transaction } from '../context.ts';
import { statement } from '../database/index.ts';
import { type AnySaga, byName, type Failure, type Saga } from './saga.ts';

interface OpenJob {
  id: number;
  name: string;
  payload: unknown;
}

const openJobs = statement<OpenJob, { names: string[]; until: Date }>(
  'jobs.open',
  `select id, name, payload from jobs
   where state in ('ready', 'running') and name = any(:names::text[]) and created_at <= :until order by id`,
);
const holdJob = statement<never, { id: number; reason: string; now: Date }>(
  'jobs.hold',
  `update jobs set state = 'stuck', worker = null, finished_at = :now, held_at = :now,
     stuck_reason = :reason
   where id = :id and state in ('ready', 'running')`,
);

// One that was stuck before: it goes on where it stood when staff retries it, maybe on its way back.
const holdStuck = statement<never, { names: string[]; reason: string; now: Date }>(
  'jobs.holdStuck',
  `update jobs set held_at = :now, stuck_reason = concat_ws('; ', stuck_reason, :reason::text)
   where state = 'stuck' and held_at is null and name = any(:names::text[])`,
);

/**
 * Leaves all jobs of these sagas that were enqueued by `until` to staff as they stand, as if they were stuck, and has them let go of what others wait
 * for. Retried, they go on and are not turned back; what is on its way back already takes nothing away that may have been
 * made since. Only while no worker runs. Returns how many there were.
 */
export async function holdJobs(
  ctx: Context,
  sagas: readonly AnySaga[],
  until: Date,
  reason: string,
): Promise<number> {
  const known = byName(sagas);
  const names = [...known.keys()];
  const stuck = await transaction(ctx, 'jobs.holdStuck', (tx) =>
    tx.db.run(holdStuck, { names, reason, now: tx.clock.now() }),
  );
  const jobs = await ctx.db.many(openJobs, { names, until });
  for (const { id, name, payload } of jobs) {
    const saga = known.get(name) as Saga<unknown> | undefined;
    const failure: Failure = { step: 'restore', code: 'held', message: reason };
    await transaction(ctx, `${name}: held`, async (tx) => {
      await saga?.stuck?.(tx, payload, failure);
      await tx.db.run(holdJob, { id, reason, now: tx.clock.now() });
    });
  }
  return stuck + jobs.length;
}
