/** Workers by a clock that nobody moves: what they ask for while they have nothing to do, and what they find all the same. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { type Context, transaction } from '../context.ts';
import type { Drivers } from '../drivers.ts';
import { enqueue, job, startWorker, type Worker } from './index.ts';
import { type JobBed, jobBed, type Payload } from './testbed.ts';

let bed: JobBed;
let worker: Worker | null = null;
let asked: string[] = [];
let begunAt: Date | null = null;
const note = job<Payload>('test.rest', async () => {
  begunAt = new Date();
});

beforeAll(async () => {
  bed = await jobBed();
});
afterEach(async () => {
  await worker?.stop();
});
afterAll(() => bed.close());

/** Starts one that has had its first look. */
async function atRest(): Promise<void> {
  asked = [];
  begunAt = null;
  const { db } = bed.ctx;
  const many: typeof db.many = (statement, ...rest) => {
    asked.push(statement.name);
    return db.many(statement, ...rest);
  };
  const ctx: Context = { ...bed.ctx, clock: systemClock, db: { ...db, many } };
  worker = startWorker(ctx, bed.url, { sagas: [note], drivers: {} as Drivers });
  await expect.poll(() => asked).toContain('jobs.pullForward');
  asked = [];
}

it('asks once every few seconds, for all queues together', async () => {
  await atRest();
  await pause(12_000);
  expect(asked.filter((name) => name === 'jobs.look').length).toBeGreaterThanOrEqual(2);
  expect(asked.length).toBeLessThanOrEqual(5);
});

it('begins a job that nobody told it of within seconds, and one that is for later when it is due', async () => {
  await atRest();
  const insert = `insert into jobs (name, payload, run_at, created_at) values ('test.rest', '{"key":"a"}', now(), now())`;
  await bed.rows(insert);
  await expect.poll(() => begunAt, { timeout: 8_000 }).not.toBeNull();
  await worker?.stop();

  await atRest();
  const runAt = new Date(Date.now() + 3_000);
  await transaction(bed.ctx, 'test.later', (tx) => enqueue(tx, note, { key: 'b' }, { runAt }));
  await expect.poll(() => begunAt, { timeout: 8_000 }).not.toBeNull();
  const lateMs = (begunAt as unknown as Date).getTime() - runAt.getTime();
  expect(lateMs).toBeGreaterThanOrEqual(0);
  expect(lateMs).toBeLessThan(1_500);
});
