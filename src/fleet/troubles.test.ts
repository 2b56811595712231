import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orderVps, vpsCart } from '../../test/orders.ts';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';
import { writeTroubles } from './troubles.ts';

let product: TestProduct;
let id: number;
let lacking: string[] = ['KVM does not work any more'];

beforeAll(async () => {
  product = await startTestProduct({ simulator: { troubles: () => lacking } });
  id = (await product.staff.get('/staff/nodes')).body.data.nodes[0].id;
});
afterAll(() => product.stop());

const node = async () => (await product.staff.get(`/staff/nodes/${id}`)).body.data.node;
const order = () => product.customer.post('/cart/checkout/invoice', vpsCart(product.demo));
const quote = () => product.customer.post('/cart/quote', vpsCart(product.demo));
const concerns = async () =>
  (await product.staff.get('/staff/attention')).body.data.concerns.filter(
    (each: { kind: string }) => each.kind === 'node.troubled',
  );
const told = () =>
  sql<{ action: string }>(
    product,
    "select action from journal where action in ('node.troubled', 'node.fit') order by id",
  );

describe('a node whose host lacks something', () => {
  it('takes no new machines from its start on, and staff hears why', async () => {
    expect(await node()).toMatchObject({
      trouble: 'KVM does not work any more',
      accepts_machines: false,
      state: 'active',
      reachable: true,
    });
    expect((await order()).body.code).toBe('insufficient_stock');
    expect((await quote()).body.code).toBe('insufficient_stock');
    expect(await concerns()).toEqual([
      expect.objectContaining({ message: expect.stringContaining('KVM does not work any more') }),
    ]);
    expect(await told()).toEqual([{ action: 'node.troubled' }]);
  });

  it('says what else it lacks, and that is still the same trouble', async () => {
    lacking = ['KVM does not work any more', 'The disk is nearly full'];
    const more = `${lacking.join('. ')}`;
    await until(node, (seen) => seen.trouble === more);
    expect(await told()).toHaveLength(1);
  });

  it('takes them again by itself when it is over, and keeps those that it has when it begins anew', async () => {
    lacking = [];
    await until(node, (seen) => seen.accepts_machines === true);
    expect(await concerns()).toEqual([]);
    expect((await told()).at(-1)).toEqual({ action: 'node.fit' });
    const { serviceId } = await orderVps(product, product.customer);
    lacking = ['The disk is nearly full'];
    await until(node, (seen) => seen.accepts_machines === false);
    const rows = await sql(product, `select node_id from placements where service_id = ${serviceId}`);
    expect(rows).toEqual([{ node_id: id }]);
  });

  it('is written down once, however often it is told', async () => {
    lacking = [];
    await until(node, (seen) => seen.trouble === null);
    const before = (await told()).length;
    for (const _ of [1, 2, 3]) await writeTroubles(product.ctx, id, []);
    expect(await told()).toHaveLength(before);
  });
});
