import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChild } from '../../test/child.ts';
import { apiClient } from '../../test/client.ts';
import { testDatabase } from '../../test/database.ts';
import { removeDataDir } from '../../test/dataDir.ts';
import { orderVps, password, runningVps, vpsCart } from '../../test/orders.ts';
import { newCustomer, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { contents, settled, sql } from '../../test/sql.ts';

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct();
  customer = await newCustomer(product);
});
afterAll(() => product.stop());

const checkout = '/cart/checkout/invoice';

/** Orders, and proves that the refusal left nothing anywhere; a quote is refused alike. */
async function refused(cart: unknown): Promise<void> {
  await settled(product);
  const before = await contents(product);
  for (const path of [checkout, '/cart/quote']) {
    const answer = await customer.post(path, cart);
    expect([answer.status, answer.body.message], path).toEqual([400, 'Not enough stock available']);
  }
  expect(await contents(product)).toEqual(before);
}

/** Orders what a quote has promised, while the quote itself took nothing. */
async function ordered(cart: unknown): Promise<void> {
  for (const path of ['/cart/quote', '/cart/quote', checkout])
    expect((await customer.post(path, cart)).status, path).toBe(200);
}

describe('an order takes all that it needs or nothing', () => {
  it('when the stock runs out', async () => {
    await product.staff.patch(`/staff/products/${product.demo.products.hosting}`, { stock: 1 });
    const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    await refused({ products: [...vpsCart(product.demo, { option5: 1 }).products, item, item] });
    await ordered({ products: [item] });
    await refused({ products: [item] });
  });

  it('when no node has the room', async () => {
    await sql(product, 'update nodes set memory_mib = memory_mib_taken + 3 * 1024');
    const [first] = vpsCart(product.demo, { option1: 2 }).products;
    await refused({ products: [first, first] });
    await ordered({ products: [first] });
    await refused({ products: [first] });
    await sql(product, 'update nodes set memory_mib = 262144');
  });

  it('when no address is free', async () => {
    const kept = `select address from addresses where state = 'free' order by address limit 3`;
    await sql(product, `delete from addresses where state = 'free' and address not in (${kept})`);
    const [two] = vpsCart(product.demo, { option4: 2, option5: 1 }).products;
    await refused({ products: [two, two] });
    await ordered({ products: [two] });
    await refused({ products: [two] });
    await sql(
      product,
      `insert into addresses (address, pool_id, state)
       select '10.77.0.100'::inet + n, (select min(id) from address_pools where family = 4), 'free'
       from generate_series(1, 100) n on conflict do nothing`,
    );
  });

  it('when its node is being emptied', async () => {
    await sql(product, `update nodes set state = 'draining'`);
    await refused(vpsCart(product.demo));
    await sql(product, `update nodes set state = 'active'`);
  });
});

describe('orders that come at once', () => {
  it('sell exactly what is in stock', async () => {
    const path = `/staff/products/${product.demo.products.vps}`;
    await product.staff.patch(path, { stock: 7 });
    const orders = await Promise.all(
      Array.from({ length: 30 }, () => customer.post(checkout, vpsCart(product.demo))),
    );
    const sold = orders.filter((order) => order.status === 200);
    expect(sold).toHaveLength(7);
    for (const order of orders.filter((each) => each.status !== 200))
      expect([order.status, order.body.message]).toEqual([400, 'Not enough stock available']);
    const listed = await product.nobody.get(`/products/${product.demo.products.vps}`);
    expect(listed.body.data.product.stock).toBe(0);
    await product.staff.patch(path, { stock: null });
  });

  it('never share an address', async () => {
    const shared = await sql<{ service_id: number }>(
      product,
      `select s.id as service_id from services s join addresses a on a.service_id = s.id join address_pools p
         on p.id = a.pool_id and p.family = 4
       where s.status = 'pending' group by s.id, s.options having count(*) <> (s.options->>'option4')::int`,
    );
    expect(shared).toEqual([]);
  });

  it('take as much room as they ask for, summed', async () => {
    const [node] = await sql<Record<string, number>>(
      product,
      `select memory_mib_taken - (select sum(memory_mib) from placements) as memory,
         disk_gib_taken - (select sum(disk_gib) from placements) as disk,
         cpu_cores_taken - (select sum(cpu_cores) from placements) as cores from nodes`,
    );
    expect(node).toEqual({ memory: 0, disk: 0, cores: 0 });
  });
});

describe('an order sent twice with one Idempotency-Key', () => {
  it('is one order, answered twice alike', async () => {
    const headers = { 'idempotency-key': 'order-1' };
    const first = await customer.post(checkout, vpsCart(product.demo), headers);
    const second = await customer.post(checkout, vpsCart(product.demo), headers);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    const other = await customer.post(checkout, vpsCart(product.demo, { option1: 2 }), headers);
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
  });

  it('is one order when both come at once', async () => {
    const headers = { 'idempotency-key': 'order-2' };
    const send = () => customer.post(checkout, vpsCart(product.demo), headers);
    const answers = await Promise.all([send(), send(), send(), send()]);
    const ids = answers.filter((each) => each.status === 200).map((each) => each.body.data.invoice_id);
    expect(new Set(ids).size).toBe(1);
    for (const each of answers) expect([200, 409]).toContain(each.status);
  });

  it('is tried anew after a refusal', async () => {
    const headers = { 'idempotency-key': 'order-3' };
    const refusal = await customer.post(checkout, { products: [] }, headers);
    expect(refusal.status).toBe(400);
    expect((await customer.post(checkout, vpsCart(product.demo), headers)).status).toBe(200);
  });
});

describe('a password', () => {
  it('is in no answer, no log, no row and no file, from the order to the running machine', async () => {
    const database = await testDatabase();
    const dataDir = mkdtempSync(join(tmpdir(), 'innkeeper-secret-'));
    const child = await startChild(dataDir, {
      DATABASE_URL: database.url,
      HYPERVISOR: 'simulator',
      LOG_LEVEL: 'trace',
    });
    const client = apiClient(`${child.url}/api`, {
      token: child.demo.customer.api_key,
      organizationId: child.demo.customer.organization_id,
    });
    const seen: unknown[] = [];
    const watched = {
      ...client,
      post: async (...args: Parameters<typeof client.post>) => {
        const answer = await client.post(...args);
        seen.push(answer.body);
        return answer;
      },
    };
    try {
      await watched.post(checkout, vpsCart(child.demo, { option9: 1 }));
      await watched.post(checkout, vpsCart(child.demo, { password: `${password}\n` }));
      await watched.post(checkout, JSON.stringify(vpsCart(child.demo)).slice(0, -1));
      await watched.post(checkout, vpsCart(child.demo), { 'idempotency-key': 'secret' });
      const waiting = await contents({ databaseUrl: database.url });
      expect(waiting.service_secrets).toHaveLength(1);
      expect(JSON.stringify(waiting)).not.toContain(password);
      const { serviceId } = await runningVps(child, watched);
      seen.push((await client.get(`/dashboard/services/${serviceId}`)).body);
      await orderVps(child, watched);
      const after = await contents({ databaseUrl: database.url });
      expect(JSON.stringify(after)).not.toContain(password);
    } finally {
      await child.end('SIGTERM');
    }
    expect(JSON.stringify(seen)).not.toContain(password);
    expect(child.output()).toContain('"level":');
    expect(child.output()).not.toContain(password);
    for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' })) {
      const file = join(dataDir, name);
      if (statSync(file).isFile()) expect(readFileSync(file, 'utf8'), name).not.toContain(password);
    }
    await removeDataDir(dataDir);
    await database.drop();
  });

  it('is gone from the database once the machine has it, and when the order is never paid', async () => {
    const secrets = () => sql<{ service_id: number }>(product, 'select service_id from service_secrets');
    const { serviceId } = await runningVps(product, product.customer);
    expect((await secrets()).map((row) => row.service_id)).not.toContain(serviceId);
    const unpaid = await orderVps(product, customer);
    expect((await secrets()).map((row) => row.service_id)).toContain(unpaid.serviceId);
    product.clock.travel(97 * 3_600_000);
    await product.periodic('billing.expire');
    await settled(product);
    expect(await secrets()).toEqual([]);
  });
});
