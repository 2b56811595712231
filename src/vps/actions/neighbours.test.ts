import { afterAll, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';

const perOrganization = 4;
const delaysMs = { shutdown: 0 };
let product: TestProduct;
let theirs: { owner: Person; ids: number[] }[];
let neighbour: Person;
let quiet: number;

beforeAll(async () => {
  product = await startTestProduct({ simulator: { delaysMs } });
  const owners = await Promise.all([1, 2].map(() => newCustomer(product, { creditMinor: 100_000 })));
  // One person has founded both.
  await sql(
    product,
    `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, 'owner', '2020-01-01')`,
    ...[owners[1]?.organizationId, owners[0]?.userId],
  );
  theirs = await Promise.all(
    owners.map(async (owner) => {
      const ids: number[] = [];
      for (let nth = 0; nth < perOrganization; nth += 1)
        ids.push((await runningVps(product, owner, {}, 60_000)).serviceId);
      return { owner, ids };
    }),
  );
  neighbour = await newCustomer(product, { creditMinor: 10_000 });
  quiet = (await runningVps(product, neighbour)).serviceId;
}, 180_000);
afterAll(() => product.stop());

it('an owner whose machines all hang leaves places to others, however many organizations they are in', async () => {
  await neighbour.post(`/dashboard/service/${quiet}/vps/stop`);
  await settled(product);
  delaysMs.shutdown = 20_000;
  for (const { owner, ids } of theirs) {
    for (const id of ids) {
      expect((await owner.post(`/dashboard/service/${id}/vps/stop`)).status).toBe(200);
    }
  }
  const hanging = () => sql(product, `select 1 from jobs where name = 'vps.stop' and state = 'running'`);
  await expect.poll(hanging, { timeout: 10_000 }).toHaveLength(6);
  expect((await neighbour.post(`/dashboard/service/${quiet}/vps/start`)).status).toBe(200);
  const state = async () =>
    (await neighbour.get(`/dashboard/service/${quiet}/vps/overview`)).body.data.vps.state;
  await expect.poll(state, { timeout: 10_000 }).toBe('running');
  expect(await hanging()).toHaveLength(6);

  // Nothing hangs any more when the product is stopped.
  delaysMs.shutdown = 0;
  await expect.poll(hanging, { timeout: 50_000 }).toHaveLength(0);
}, 120_000);
