import { setTimeout as delay } from 'node:timers/promises';
import type { Monitor } from './monitor.ts';
import { plainText } from './plainText.ts';

interface Job {
  id: string;
  status: string;
  error?: string;
}

const pollMs = 100;

/** Waits for a block job that was started to stay when it is done (`auto-dismiss: false`), and takes it away. */
export async function finishJob(monitor: Monitor, id: string): Promise<void> {
  for (;;) {
    const job = await findJob(monitor, id);
    if (!job) throw new Error(`the job ${id} is gone`);
    if (job.status === 'concluded') {
      await monitor.command('job-dismiss', { id });
      if (job.error !== undefined) throw new Error(plainText(job.error, 600));
      return;
    }
    await delay(pollMs);
  }
}

/** Ends a job that nobody waits for any more, as after a crash of ours. None there: succeeds. */
export async function abandonJob(monitor: Monitor, id: string): Promise<void> {
  const job = await findJob(monitor, id);
  if (!job) return;
  if (job.status !== 'concluded') await monitor.command('job-cancel', { id });
  await finishJob(monitor, id).catch(() => undefined); // how it ended is nobody's concern
}

async function findJob(monitor: Monitor, id: string): Promise<Job | null> {
  return ((await monitor.command('query-jobs')) as Job[]).find((each) => each.id === id) ?? null;
}
