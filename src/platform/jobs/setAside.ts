import { attempt, type TxContext } from '../context.ts';
import { statement } from '../database/index.ts';
import { AppError } from '../errors.ts';
import { causesOf } from '../log.ts';

const pauseMs = 3_600_000;
/** What is not met again for so long was done otherwise. */
const forgottenMs = 2 * 24 * pauseMs;

const write = statement<
  never,
  { job: string; id: number; organizationId: number | null; problem: string; now: Date; againAt: Date }
>(
  'jobs.setAside',
  `insert into set_aside (job, row_id, organization_id, problem, since, again_at)
   values (:job, :id, :organizationId, :problem, :now, :againAt)
   on conflict (job, row_id) do update set problem = excluded.problem, again_at = excluded.again_at`,
);
const drop = statement<never, { job: string; ids: number[] }>(
  'jobs.dropSetAside',
  'delete from set_aside where job = :job and row_id = any(:ids::bigint[])',
);
const forget = statement<never, { before: Date; after: Date }>(
  'jobs.forgetSetAside',
  'delete from set_aside where again_at < :before or again_at > :after',
);

/** One of a batch that a periodic job does something about. */
export interface Member {
  id: number;
  organizationId: number | null;
}

/**
 * SQL for the statement that finds a batch: not what was set aside and is not to be tried again yet. `row` is the column
 * with its id; the statement takes `:now`.
 */
export function notSetAside(job: string, row: string): string {
  // What is to wait for longer than the pause was set aside by a clock that was ahead.
  return `not exists (select 1 from set_aside a where a.job = '${job}' and a.row_id = ${row} and a.again_at > :now
     and a.again_at <= :now::timestamptz + interval '${pauseMs / 1_000} seconds')`;
}

/**
 * Does a periodic job's work for each of a batch, so that one that throws keeps none of the others waiting: what was
 * written for it is taken back, staff finds it in their list, and it is tried again after an hour. Its statement leaves it
 * out until then, see {@link notSetAside}. Gives those that were done.
 */
export async function doEach<Row extends Member>(
  tx: TxContext,
  job: string,
  rows: readonly Row[],
  work: (tx: TxContext, row: Row) => Promise<unknown>,
): Promise<Row[]> {
  const done: Row[] = [];
  for (const row of rows) {
    await attempt(tx, (one) => work(one, row)).then(
      () => done.push(row),
      // What somebody else is at is found again the next time.
      (error: Error) => (isBusy(error) ? undefined : setAside(tx, job, row, error)),
    );
  }
  if (done.length > 0) await tx.db.run(drop, { job, ids: done.map(({ id }) => id) });
  return done;
}

function isBusy(error: Error): boolean {
  return error instanceof AppError && error.code === 'busy';
}

async function setAside(
  tx: TxContext,
  job: string,
  { id, organizationId }: Member,
  error: Error,
): Promise<void> {
  tx.log.warn({ job, row: id, err: causesOf(error) }, 'a periodic job cannot go on with a row');
  const now = tx.clock.now();
  const problem = error.message.slice(0, 500);
  await tx.db.run(write, {
    job,
    id,
    organizationId,
    problem,
    now,
    againAt: new Date(now.getTime() + pauseMs),
  });
}

/** Forgets what was set aside and has not come again: somebody has seen to it otherwise. */
export async function forgetSetAside(tx: TxContext): Promise<void> {
  const now = tx.clock.now().getTime();
  await tx.db.run(forget, { before: new Date(now - forgottenMs), after: new Date(now + forgottenMs) });
}
