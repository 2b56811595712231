import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { transaction } from '../context.ts';
import { enqueue, saga } from './index.ts';
import { retryFailedJob } from './retry.ts';
import { type JobBed, jobBed, type Payload } from './testbed.ts';

let bed: JobBed;
beforeAll(async () => {
  bed = await jobBed();
});
afterEach(() => bed.stopWorkers());
afterAll(() => bed.close());

const done: string[] = [];
const seenBy = (worker: string) =>
  saga<Payload>({
    name: 'test.where',
    steps: [{ name: 'only', do: async ({ payload }) => void done.push(`${payload.key} on ${worker}`) }],
  });
const askOn = (nodeId: number, name = 'test.where') =>
  transaction(bed.ctx, 'test.ask', (tx) =>
    enqueue(tx, { ...seenBy(''), name }, { key: String(nodeId) }, { nodeId }),
  );
const nodeOf = async (id: number) =>
  (await bed.rows('select node_id::int as node, attempts from jobs where id = $1', id))[0];

describe('a job of a node', () => {
  it('is done by the worker of that node; what belongs to no node, by anyone', async () => {
    bed.workWith({ nodes: [1] }, seenBy('one'));
    bed.workWith({ nodes: [2] }, seenBy('two'));
    const ids = [await askOn(1), await askOn(2), await askOn(1), await bed.ask('test.where', 'any')];
    for (const id of ids) await bed.ended(id, 'done');
    expect(done.filter((each) => !each.startsWith('any')).toSorted()).toEqual([
      '1 on one',
      '1 on one',
      '2 on two',
    ]);
  });

  it('waits without a try while its worker is away, and makes nobody else wait', async () => {
    bed.workWith({ nodes: [1] }, seenBy('one'));
    const waiting = await Promise.all(Array.from({ length: 40 }, () => askOn(3)));
    await bed.ended(await bed.ask('test.where'), 'done');
    bed.clock.travel(24 * 3_600_000);
    await bed.ended(await askOn(1), 'done');
    expect(await nodeOf(waiting[0] ?? 0)).toEqual({ node: 3, attempts: 0 });
    bed.workWith({ nodes: [3] }, seenBy('three'));
    for (const id of waiting) await bed.ended(id, 'done');
  });

  it('goes to the node that a step found, and its undo too; retried, it looks for one anew', async () => {
    const ran: string[] = [];
    let isFull = true;
    const wandering = (worker: string) =>
      saga<Payload, { node: number }>({
        name: 'test.wander',
        steps: [
          {
            name: 'place',
            transactional: true,
            do: async ({ moveTo, ctx, jobId }) => {
              ran.push(`place on ${worker}`);
              const [row] = await bed.rows('select node_id from jobs where id = $1', jobId);
              expect(row).toEqual({ node_id: null });
              expect(ctx.db.inTransaction).toBe(true);
              moveTo(5);
              return { node: 5 };
            },
            undo: async () => void ran.push(`unplace on ${worker}`),
          },
          {
            name: 'make',
            do: async ({ state }) => {
              ran.push(`make on ${worker} for ${state.node}`);
              if (isFull) throw Object.assign(new Error('full'), { permanent: true });
            },
          },
        ],
      });
    bed.workWith({ nodes: [4] }, wandering('four'));
    const id = await bed.ask('test.wander');
    await until(
      () => nodeOf(id),
      (row) => JSON.stringify(row) === JSON.stringify({ node: 5, attempts: 0 }),
    );
    await bed.stopWorkers();
    bed.workWith({ nodes: [5] }, wandering('five'));
    await bed.ended(id, 'failed');
    expect(ran).toEqual(['place on four', 'make on five for 5', 'unplace on five']);
    await bed.stopWorkers();
    isFull = false;
    bed.workWith({ nodes: [4] }, wandering('four'));
    bed.workWith({ nodes: [5] }, wandering('five'));
    await transaction(bed.ctx, 'test.retry', (tx) => retryFailedJob(tx, id));
    await bed.ended(id, 'done');
    expect(ran.at(-1)).toBe('make on five for 5');
  });
});
