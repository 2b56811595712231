import type { Context } from '../context.ts';
import { purgeDone } from './queries.ts';

const keepMs = 7 * 24 * 3_600_000;

/** Forgets jobs that were done a week ago. Failed ones stay until staff has seen to them. */
export async function purgeDoneJobs(ctx: Context): Promise<void> {
  await ctx.db.run(purgeDone, new Date(ctx.clock.now().getTime() - keepMs));
}
