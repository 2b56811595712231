import { setTimeout as delay } from 'node:timers/promises';
import type { Monitor } from './monitor.ts';
import { plainCount, plainText } from './plainText.ts';

interface Job {
  id: string;
  status: string;
  error?: string;
  'current-progress'?: unknown;
}

/** How long a job may take, and how long it may make no step. */
export interface Patience {
  timeoutMs: number;
  stalledMs: number;
}

const pollMs = 100;
/** A node without disk space makes a copy stand still, and it goes on when there is some. */
const stalledMs = 600_000;
const toCancelMs = 30_000;

/**
 * Waits for a block job that was started to stay when it is done (`auto-dismiss: false`), and takes it away. A QEMU that
 * was taken over can claim for ever that it still works on one.
 */
export async function finishJob(monitor: Monitor, id: string, patience: Patience): Promise<void> {
  const { timeoutMs, stalledMs } = patience;
  const until = performance.now() + timeoutMs;
  let reached = -1;
  let stalledAt = performance.now() + stalledMs;
  for (;;) {
    const job = await findJob(monitor, id);
    if (!job) throw new Error(`the job ${id} is gone`);
    if (job.status === 'concluded') {
      await monitor.command('job-dismiss', { id });
      if (job.error !== undefined) throw new Error(plainText(job.error, 600));
      return;
    }
    const now = performance.now();
    const progress = plainCount(job['current-progress']) ?? 0;
    if (progress > reached) {
      reached = progress;
      stalledAt = now + stalledMs;
    }
    if (now >= until) throw new Error(`the job ${id} is not done after ${inMinutes(timeoutMs)}`);
    if (now >= stalledAt) throw new Error(`the job ${id} has made no step for ${inMinutes(stalledMs)}`);
    await delay(pollMs);
  }
}

/** What copies of whole disks get. */
export function patienceOf(timeoutMs: number): Patience {
  return { timeoutMs, stalledMs };
}

/** Ends a job that nobody waits for any more, as after a crash of ours. None there: succeeds. */
export async function abandonJob(monitor: Monitor, id: string): Promise<void> {
  const job = await findJob(monitor, id);
  if (!job) return;
  if (job.status !== 'concluded') await monitor.command('job-cancel', { id });
  // How it ended is nobody's concern.
  await finishJob(monitor, id, { timeoutMs: toCancelMs, stalledMs: toCancelMs }).catch(() => undefined);
}

async function findJob(monitor: Monitor, id: string): Promise<Job | null> {
  const jobs = await monitor.command('query-jobs');
  return Array.isArray(jobs) ? (jobs.find((each) => each?.id === id) ?? null) : null;
}

function inMinutes(ms: number): string {
  return `${Math.ceil(ms / 60_000)} minutes`;
}
