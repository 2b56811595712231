import type { Context } from '../context.ts';
import { purgeDone } from './queries.ts';

const keepMs = 7 * 24 * 3_600_000;
const batch = 5_000;

/** Forgets jobs that were done a week ago, a batch at a time. Failed ones stay until staff has seen to them, by a retry
 * or by dismissing them. */
export async function purgeDoneJobs(ctx: Context): Promise<'more' | 'done'> {
  const gone = await ctx.db.run(purgeDone, {
    before: new Date(ctx.clock.now().getTime() - keepMs),
    limit: batch,
  });
  return gone >= batch ? 'more' : 'done';
}
