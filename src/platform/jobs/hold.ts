import { type Context, transaction } from '../context.ts';
import { statement } from '../database/index.ts';
import { type AnySaga, byName, type Failure, type Saga } from './saga.ts';

interface OpenJob {
  id: number;
  name: string;
  payload: unknown;
}

const openJobs = statement<OpenJob, { names: string[] }>(
  'jobs.open',
  `select id, name, payload from jobs where state in ('ready', 'running') and name = any(:names::text[]) order by id`,
);
const holdJob = statement<never, { id: number; reason: string; now: Date }>(
  'jobs.hold',
  `update jobs set state = 'stuck', worker = null, finished_at = :now, held_at = :now,
     stuck_reason = :reason
   where id = :id and state in ('ready', 'running')`,
);

/**
 * Leaves all jobs of these sagas to staff as they stand, as if they were stuck, and has them let go of what others wait
 * for. Retried, they go on and are not turned back. Only while no worker runs. Returns how many there were.
 */
export async function holdJobs(ctx: Context, sagas: readonly AnySaga[], reason: string): Promise<number> {
  const known = byName(sagas);
  const jobs = await ctx.db.many(openJobs, { names: [...known.keys()] });
  for (const { id, name, payload } of jobs) {
    const saga = known.get(name) as Saga<unknown> | undefined;
    const failure: Failure = { step: 'restore', code: 'held', message: reason };
    await transaction(ctx, `${name}: held`, async (tx) => {
      await saga?.stuck?.(tx, payload, failure);
      await tx.db.run(holdJob, { id, reason, now: tx.clock.now() });
    });
  }
  return jobs.length;
}
