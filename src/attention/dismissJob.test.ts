import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../test/noted.ts';
import { newStaff } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';

const changes = watchChanges();

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

async function jobIn(state: 'failed' | 'stuck' | 'ready'): Promise<number> {
  const [row] = await sql<{ id: number }>(
    product,
    `insert into jobs (name, payload, state, direction, run_at, created_at, finished_at, error_step, error_code,
       error_message, stuck_reason, organization_id)
     values ('test.dismissed', '{}', $1, 'backward', now() + interval '1 hour', now(), now(), 'disk', 'disk_failed',
       'no disk', $2, $3) returning id::int`,
    ...[state, state === 'stuck' ? 'disk: no host' : null, product.demo.customer.organization_id],
  );
  return row?.id ?? 0;
}

const dismiss = (id: number, body: object = { reason: 'Moved by hand' }, as = product.staff) =>
  as.post(`/staff/jobs/${id}/dismiss`, body);
const listed = async () =>
  (await product.staff.get('/staff/jobs')).body.data.jobs.map(({ id }: { id: number }) => id);
const concerns = async () =>
  (await product.staff.get('/staff/attention')).body.data.concerns.filter(
    ({ kind }: { kind: string }) => kind === 'job.failed',
  );

it.each(['failed', 'stuck'] as const)(
  'a %s job that was seen to leaves the lists, and the journal says why',
  async (state) => {
    const id = await jobIn(state);
    expect(await listed()).toEqual([id]);
    expect(await concerns()).toHaveLength(1);
    const { status, body } = await dismiss(id);
    expect([status, body.data]).toEqual([200, { dismissed: true }]);
    expect(await listed()).toEqual([]);
    expect(await concerns()).toEqual([]);
    const told = await sql(
      product,
      `select organization_id::float8 as organization_id, actor_type, data from journal
     where action = 'job.dismissed' and subject_id = $1`,
      id,
    );
    expect(told).toMatchObject([
      {
        organization_id: product.demo.customer.organization_id,
        data: {
          name: 'test.dismissed',
          state,
          reason: 'Moved by hand',
          why: expect.stringContaining('disk: '),
        },
      },
    ]);
    expect((await dismiss(id)).status).toBe(404);
    // Whoever finds out that it was wanted after all has it go on.
    expect((await product.staff.post(`/staff/jobs/${id}/retry`)).status).toBe(200);
    expect(await sql(product, 'select state, dismissed_at from jobs where id = $1', id)).toEqual([
      { state: 'ready', dismissed_at: null },
    ]);
    // No worker knows it: it would wait for ever.
    await sql(product, `update jobs set state = 'done' where id = $1`, id);
  },
);

it('is forgotten a week later, as what was done is', async () => {
  const [dismissed, failed] = [await jobIn('failed'), await jobIn('failed')];
  await dismiss(dismissed);
  product.clock.travel(8 * 24 * 3_600_000);
  await product.periodic('jobs.purgeDone');
  product.clock.travel(-8 * 24 * 3_600_000);
  expect(await listed()).toEqual([failed]);
  expect(await sql(product, 'select 1 from jobs where id = $1', dismissed)).toEqual([]);
  await dismiss(failed);
});

it('only what has ended badly can be dismissed, with a reason, by those who look after jobs', async () => {
  const [ready, failed] = [await jobIn('ready'), await jobIn('failed')];
  expect((await dismiss(ready)).body).toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('under way'),
  });
  expect((await dismiss(4_711)).body.code).toBe('not_found');
  for (const body of [{}, { reason: '' }, { reason: ' ' }, { reason: 'x'.repeat(501) }])
    expect((await dismiss(failed, body)).status, JSON.stringify(body)).toBe(400);
  expect((await dismiss(failed, undefined, await newStaff(product, 'support'))).status).toBe(403);
  expect((await dismiss(failed, undefined, product.customer)).status).toBe(403);
  expect(await listed()).toEqual([failed]);
  await sql(product, `update jobs set state = 'done' where id = $1`, ready);
});

describe('a change', () => changes.leaveEntries(() => product, ['dismissJob']));
