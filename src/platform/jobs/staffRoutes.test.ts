import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { transaction } from '../context.ts';
import { enqueue, job } from './index.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const listed = async () => (await product.staff.get('/staff/jobs')).body.data.jobs;

it('staff sees what waits for a node that nobody serves, and not what waits for this one', async () => {
  const kind = job<{ key: string }>('test.elsewhere', async () => undefined);
  const [node] = await sql<{ id: number }>(product, 'select id::int from nodes');
  const at = (nodeId: number) =>
    transaction(product.ctx, 'test.ask', (tx) => enqueue(tx, kind, { key: 'a' }, { nodeId }));
  await at(node?.id ?? 0);
  const id = await at(4_711);
  await until(listed, (jobs) => jobs.length > 0);
  expect(await listed()).toMatchObject([{ id, state: 'waiting', node_id: 4_711, error_code: null }]);
  await sql(product, `delete from jobs where name = 'test.elsewhere'`);
});

it('staff sees a stuck job with its reason, and has it go on', async () => {
  const [row] = await sql<{ id: number }>(
    product,
    `insert into jobs (name, payload, state, direction, run_at, created_at, finished_at, error_step, error_code,
       error_message, stuck_reason)
     values ('test.stuck', '{}', 'stuck', 'backward', now(), now(), now(), 'disk', 'disk_failed', 'no disk', 'disk: no host')
     returning id::int`,
  );
  expect(await listed()).toMatchObject([
    { id: row?.id, state: 'stuck', error_message: 'no disk', stuck_reason: 'disk: no host' },
  ]);
  expect((await product.staff.post(`/staff/jobs/${row?.id}/retry`)).status).toBe(200);
  expect(
    await sql(product, 'select state, direction, stuck_reason from jobs where id = $1', row?.id),
  ).toEqual([{ state: 'ready', direction: 'backward', stuck_reason: null }]);
  expect(await listed()).toEqual([]);
});

it('a page far down goes on where the one before it ended', async () => {
  const made = await sql<{ id: number }>(
    product,
    `insert into jobs (name, payload, state, run_at, created_at, finished_at)
     select 'test.many', '{}', 'failed', now(), now(), now() from generate_series(1, 620) returning id::int`,
  );
  const pages: number[] = [];
  for (let page = 1; page <= 7; page += 1) {
    const { body } = await product.staff.get(`/staff/jobs?limit=100&page=${page}`);
    expect(body.data).toMatchObject({ total: 620, pages: 7, entries: page === 7 ? 20 : 100 });
    pages.push(...body.data.jobs.map(({ id }: { id: number }) => id));
  }
  expect(pages).toEqual(made.map(({ id }) => id).toReversed());
  await sql(product, `delete from jobs where name = 'test.many'`);
});
