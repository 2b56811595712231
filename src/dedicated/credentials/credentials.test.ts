import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newServerProduct, newServers, serverCart } from '../../../test/rack/stock.ts';
import { sql } from '../../../test/sql.ts';
import { rentServer } from '../../fleet/index.ts';
import { transaction } from '../../platform/index.ts';
import { completeDelivery, requireOrder } from '../../services/index.ts';
import { ownPassword } from './keep.ts';

const changes = watchChanges();
let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct({ env: { HYPERVISOR: 'simulator', NETWORK4: '10.84.0.0/24' } });
  customer = await newCustomer(product, { creditMinor: 10_000_000 });
});
afterAll(() => product.stop());

async function ordered() {
  const productId = await newServerProduct(product);
  await newServers(product, productId, 1);
  const order = await customer.post('/cart/checkout/invoice', serverCart(productId, { option5: 1 }));
  const id = order.body.data.service_ids[0] as number;
  return { id, path: `/dashboard/service/${id}/dedicated/credentials` };
}
const made = (id: number) =>
  transaction(product.ctx, 'test.make', (tx) => ownPassword(tx, id, customer.organizationId));
const deliver = (id: number) =>
  transaction(product.ctx, 'test.deliver', async (tx) => {
    const wanted = await requireOrder(tx, id);
    await completeDelivery(tx, wanted, { hostname: wanted.domain, primaryIp: null });
    await rentServer(tx, id);
  });

it('a password that we made is shown once, to one of several who ask at once, and is kept nowhere then', async () => {
  const { id, path } = await ordered();
  const password = await made(id);
  // Another try of the delivery installs the same.
  expect(await made(id)).toBe(password);
  expect((await customer.get(path)).body.data).toEqual({ credentials: null });
  expect((await customer.post(path, {})).body.code).toBe('action_not_allowed');
  await deliver(id);
  const waiting = await customer.get(path);
  expect(waiting.body.data.credentials).toMatchObject({ username: 'root', available: true, shown_at: null });
  expect(JSON.stringify(waiting.body)).not.toContain(password);

  const answers = await Promise.all([1, 2, 3].map(() => customer.post(path, {})));
  const shown = answers.filter(({ status }) => status === 200);
  expect(shown.map(({ body }) => body.data.credentials)).toEqual([{ username: 'root', password }]);
  expect(shown[0]?.headers.get('cache-control')).toBe('no-store');
  const late = await customer.post(path, {});
  expect([late.status, late.body.code]).toEqual([409, 'conflict']);
  expect(late.body.message).toContain(`was shown to ${customer.email} at 20`);
  expect((await customer.get(path)).body.data.credentials).toMatchObject({
    ...{ available: false, shown_to: customer.email, shown_at: expect.any(String) },
  });
  const told = await sql<{ user_id: number }>(
    product,
    `select user_id from journal where action = 'dedicated.credentials.shown' and subject_id = $1`,
    id,
  );
  expect(told).toEqual([{ user_id: customer.userId }]);
  const everywhere = await sql(product, 'select data from journal');
  expect(JSON.stringify(everywhere)).not.toContain(password);
});

it('of a server with a password of its customer’s own there is none, and only those who manage it ask', async () => {
  const { id, path } = await ordered();
  await deliver(id);
  expect((await customer.get(path)).body.data).toEqual({ credentials: null });
  const none = await customer.post(path, {});
  expect([none.status, none.body.message]).toEqual([409, 'There is no password of this server that we made']);
  await made(id);
  for (const role of ['billing', 'support', 'viewer'] as const) {
    const member = await newMember(product, customer.organizationId, role);
    expect([(await member.get(path)).status, (await member.post(path, {})).status]).toEqual([403, 403]);
  }
  const stranger = await newCustomer(product);
  expect((await stranger.post(path, {})).status).toBe(403);
});

describe('a change', () => changes.leaveEntries(() => product, ['showDedicatedCredentials']));
