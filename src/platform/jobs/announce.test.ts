import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import type { Database } from '../database/index.ts';
import { readTold, startAnnouncing } from './announce.ts';
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
    await expect.poll(() => heard.filter((payload) => payload !== '')).toHaveLength(2);
    expect(heard.map(readTold)).toContainEqual({ names: ['test.a'], nodeId: null, turn: expect.any(Number) });
    expect(heard.map(readTold)).toContainEqual({ names: ['test.b'], nodeId: 2, turn: null });
    await forget();
    await stop();
  });

  it('is looked for by one worker of those that know it, at once, and by the others a moment later for all that was told', {
    timeout: 60_000,
  }, async () => {
    const looks = [0, 0];
    const counted = (at: number): Partial<Database> => {
      const many: Database['many'] = (query, ...rest) => {
        if (query.name === 'jobs.claim') looks[at] = (looks[at] ?? 0) + 1;
        return bed.ctx.db.many(query, ...rest);
      };
      return { many };
    };
    const begunBefore = (await bed.rows('select 1 from workers where kinds is not null')).length;
    for (const at of [0, 1]) bed.workWith({ pollMs: 500, db: counted(at) }, told);
    // Both have begun, and have heard of each other.
    await until(
      () => bed.rows('select 1 from workers where kinds is not null'),
      (all) => all.length >= begunBefore + 2,
    );
    bed.clock.travel(11_000);
    const since = bed.clock.now();
    await until(
      () => bed.rows('select 1 from workers where seen_at >= $1', since),
      (beaten) => beaten.length === 2,
      20_000,
    );
    const { tell, stop } = startAnnouncing(bed.url, bed.ctx.log, () => true);
    const heard: string[] = [];
    const forget = await bed.listen((payload) => heard.push(payload));
    looks.fill(0);
    for (let nth = 0; nth < 120; nth += 1) {
      tell({ name: 'test.told', nodeId: null });
      await new Promise((resolve) => setTimeout(resolve, 12));
    }
    const messages = heard.length;
    const [first = 0, second = 0] = looks;
    expect(messages).toBeGreaterThan(30);
    expect([first > 0, second > 0]).toEqual([true, true]);
    expect(first + second).toBeLessThan(1.6 * messages);
    // Whoever's turn it is, a job begins.
    for (let nth = 0; nth < 10; nth += 1) {
      const id = await committedElsewhere('test.told');
      tell({ name: 'test.told', nodeId: null });
      await bed.ended(id, 'done');
    }
    await forget();
    await stop();
  });

  it('of another node is nothing to look for', async () => {
    let looks = 0;
    const many: Database['many'] = (query, ...rest) => {
      if (query.name === 'jobs.claim') looks += 1;
      return bed.ctx.db.many(query, ...rest);
    };
    bed.workWith({ pollMs: 60_000, nodes: [7], db: { many } }, told, settled);
    await bed.ended(await bed.ask('test.settled'), 'done');
    const { tell, stop } = startAnnouncing(bed.url, bed.ctx.log, () => true);
    const heard: string[] = [];
    const forget = await bed.listen((payload) => heard.push(payload));
    looks = 0;
    tell({ name: 'test.told', nodeId: 8 });
    await expect.poll(() => heard.filter((payload) => payload !== '')).toEqual(['test.told,@8']);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(looks).toBe(0);
    tell({ name: 'test.told', nodeId: 7 });
    await expect.poll(() => looks).toBe(1);
    await forget();
    await stop();
  });
});
