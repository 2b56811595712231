/**
 * The product as `src/main.ts` starts it, of the version in the folder that is named, with a clock that whoever started it
 * moves over IPC, and the periodic jobs of a night when they are asked for.
 */
import path from 'node:path';

export interface Asked {
  id: number;
  /** Where the clock is to stand, in milliseconds. */
  at?: number;
  /** Periodic jobs to do now, one after another, until each has nothing left. */
  work?: string[];
}
export interface Answered {
  id: number;
  error?: string;
}

const [root = '', startsAt = ''] = process.argv.slice(2);
const from = <Module>(file: string): Promise<Module> => import(path.join(root, 'src', file));
const { readConfig } = await from<typeof import('../../src/config.ts')>('config.ts');
const { startProduct } = await from<typeof import('../../src/product.ts')>('product.ts');
const { allPeriodicJobs } = await from<typeof import('../../src/worker.ts')>('worker.ts');
const { createLog, runPeriodicJob, travellingClock } =
  await from<typeof import('../../src/platform/index.ts')>('platform/index.ts');

const config = readConfig(process.env);
const clock = travellingClock(new Date(Number(startsAt)));
const silent = { stage: () => undefined, say: () => undefined };
const log = createLog(config.logLevel, { format: 'json' });
const product = await startProduct(config, silent, { clock, log });
process.once('SIGTERM', () => void product.stop().then(() => process.exit(0)));
// Whoever moves the clock is gone.
process.once('disconnect', () => process.exit(1));

async function turn(name: string): Promise<void> {
  const job = allPeriodicJobs.find((candidate) => candidate.name === name);
  if (job === undefined) throw new Error(`there is no periodic job ${name}`);
  // The product has turns of its own, and who comes during one is sent away: again until it was ours and nothing is left.
  for (let isOver = false; !isOver; ) {
    const work: typeof job.work = async (tx) => {
      const answer = await job.work(tx);
      isOver = answer !== 'more';
      return answer;
    };
    await runPeriodicJob(product.ctx, { ...job, work });
    if (!isOver) await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

process.on('message', async ({ id, at, work }: Asked) => {
  const answer: Answered = { id };
  try {
    if (at !== undefined) clock.set(new Date(at));
    for (const name of work ?? []) await turn(name);
  } catch (error) {
    answer.error = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  process.send?.(answer);
});
process.send?.({ port: product.port });
