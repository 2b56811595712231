import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startAnnouncing } from './announce.ts';
import { job } from './index.ts';
import { type JobBed, jobBed, type Payload } from './testbed.ts';

let bed: JobBed;
beforeAll(async () => {
  bed = await jobBed();
});
afterEach(() => bed.stopWorkers());
afterAll(() => bed.close());

/** A job that another process has committed: nobody here was told. */
async function committedElsewhere(name: string): Promise<number> {
  const [row] = await bed.rows(
    `insert into jobs (name, payload, run_at, created_at) values ($1, '{"key":"a"}', $2, $2) returning id::int`,
    name,
    bed.clock.now(),
  );
  return (row as { id: number }).id;
}

describe('a job of another process', () => {
  const told = job<Payload>('test.told', async () => undefined);
  const settled = job<Payload>('test.settled', async () => undefined);

  it('begins by its message, long before the next poll', async () => {
    bed.workWith({ pollMs: 60_000 }, told, settled);
    await bed.ended(await bed.ask('test.settled'), 'done'); // the worker has had its first look
    const { tell, stop } = startAnnouncing(bed.url, bed.ctx.log, () => true);
    const id = await committedElsewhere('test.told');
    tell({ name: 'test.told', nodeId: null });
    await bed.ended(id, 'done');
    await bed.cutAnnouncers(); // the next message makes its own connection
    const next = await committedElsewhere('test.told');
    tell({ name: 'test.told', nodeId: null });
    await bed.ended(next, 'done');
    await stop();
  });

  it('is told of together with those that come at the same time, and only when it is for others', async () => {
    const { tell, stop } = startAnnouncing(bed.url, bed.ctx.log, ({ nodeId }) => nodeId !== 1);
    const heard: string[] = [];
    const forget = await bed.listen((payload) => heard.push(payload));
    for (let turn = 0; turn < 200; turn += 1) {
      tell({ name: 'test.a', nodeId: null });
      tell({ name: 'test.b', nodeId: 2 });
      tell({ name: 'test.mine', nodeId: 1 });
    }
    await expect.poll(() => heard).toContain('test.a,test.b');
    expect(heard.filter((payload) => payload !== '')).toHaveLength(1);
    await forget();
    await stop();
  });
});
