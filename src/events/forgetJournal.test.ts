import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { newCustomer, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { settled, sql } from '../../test/sql.ts';
import { openStream } from '../../test/stream.ts';
import { recordPaid } from './stream/testbed.ts';

const isPossible = inject('postgres').retentionUrl !== null;

let product: TestProduct;
let owner: Person;
beforeAll(async () => {
  if (!isPossible) return;
  product = await startTestProduct({ env: { JOURNAL_DAYS: '90' } });
  owner = await newCustomer(product);
});
afterAll(() => product?.stop());

const soon = { timeout: 20_000, interval: 100 };
const pay = (total: string) => recordPaid(product, owner.organizationId, { total });

function follow(lastId: number) {
  const headers = { token: owner.key, 'last-event-id': String(lastId) };
  const query = `?organization_id=${owner.organizationId}`;
  return openStream(`${product.url}/api/dashboard/events${query}`, headers);
}

async function entries(): Promise<{ first: number; last: number; count: number }> {
  const [row] = await sql<{ first: number; last: number; count: number }>(
    product,
    'select coalesce(min(id), 0)::int as first, coalesce(max(id), 0)::int as last, count(*)::int as count from journal',
  );
  return row ?? { first: 0, last: 0, count: 0 };
}

it.skipIf(!isPossible)(
  'what is older than the journal is kept leaves it, which streams, activity and audit say, and mails stay',
  { timeout: 60_000 },
  async () => {
    const activity = () => owner.get(`/dashboard/organizations/${owner.organizationId}/activity`);
    const audit = () => product.staff.get('/staff/audit');
    expect((await activity()).body.data.kept_since).toBeNull();
    expect((await audit()).body.data.kept_since).toBeNull();
    await owner.post(`/dashboard/organizations/${owner.organizationId}/invitations`, {
      ...{ email: 'someone@example.com', role: 'viewer' },
    });
    await pay('1.00');
    await settled(product);
    const { last } = await entries();
    const mails = (await product.staff.get('/staff/mails')).body.data.total;
    expect(mails).toBeGreaterThan(0);
    // As if all of it had happened long ago; not even its owner changes it while the triggers stand.
    await sql(product, 'alter table journal disable trigger user');
    await sql(product, `update journal set created_at = created_at - interval '91 days'`);
    await sql(product, 'alter table journal enable trigger user');
    await pay('2.00');
    await expect.poll(async () => (await entries()).first, soon).toBeGreaterThan(last);

    const behind = await follow(last - 1);
    await expect.poll(() => behind.events[0]?.event, soon).toBe('reset');
    const whole = await follow(last);
    await pay('3.00');
    const totals = () => whole.events.map(({ data }) => data.data?.total);
    await expect.poll(totals, soon).toEqual(['2.00', '3.00']);
    for (const stream of [behind, whole]) stream.close();

    const keptSince = new Date((await activity()).body.data.kept_since).getTime();
    const wanted = product.clock.now().getTime() - 90 * 86_400_000;
    expect(Math.abs(keptSince - wanted)).toBeLessThan(120_000);
    expect(new Date((await audit()).body.data.kept_since).getTime()).toBe(keptSince);
    expect((await product.staff.get('/staff/mails')).body.data.total).toBe(mails);
  },
);
