import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { reconcileEdge } from '../enforce/reconcile.ts';
import {
  dropSsh,
  newTenant,
  packet,
  ruleInForce,
  rulesPath,
  type ShieldedProduct,
  startShielded,
  type Tenant,
} from '../testbed.ts';

let product: ShieldedProduct;
let tenant: Tenant;
let limiter: number;
beforeAll(async () => {
  product = await startShielded();
  tenant = await newTenant(product);
  const rate = { name: 'Slow', packets_per_second: 1, per: 'rule', burst: 1 };
  limiter = (await tenant.post('/shield/v2/rate-limiters', rate)).body.data.rate_limiter.id;
});
afterAll(() => product.stop());

const applyPath = `${rulesPath}/apply`;
const limiterPath = () => `/shield/v2/rate-limiters/${limiter}`;

async function tried(body: object): Promise<number> {
  const { status, body: made } = await tenant.post(applyPath, body);
  expect(status, JSON.stringify(made)).toBe(200);
  const id = made.data.apply_id;
  await until(
    () => tenant.get(`${applyPath}/${id}`),
    (answer) => answer.body.data.apply.enforced?.active === true,
  );
  return id;
}

async function stateOf(id: number): Promise<{ state: string; ended_at: string }> {
  return (await tenant.get(`${applyPath}/${id}`)).body.data.apply;
}

const limited = () => ({ ...dropSsh(tenant.address), action: 'permit', rate_limiter_id: limiter });

describe('rules that are tried out', () => {
  it('stay in force at an address that never had any when wanted and actual are compared', async () => {
    const id = await tried({ rules: [dropSsh(tenant.address)], confirm_within_s: 600 });
    const [node] = await sql<{ id: number }>(product, 'select id from nodes order by id limit 1');
    await reconcileEdge(product.ctx, Number(node?.id), () => product.edge);
    expect(product.edge.pass(packet(tenant.address))).toBe(false);
    await tenant.post(`${applyPath}/${id}/cancel`);
    await until(async () => product.edge.pass(packet(tenant.address)), Boolean);
  });

  it('keep their rate limiter, and one that is changed meanwhile takes them back', async () => {
    const id = await tried({ rules: [limited()], confirm_within_s: 600 });
    const gone = await tenant.delete(limiterPath());
    expect([gone.status, gone.body.code]).toEqual([409, 'limiter_in_use']);
    expect((await tenant.patch(limiterPath(), { name: 'Slower' })).status).toBe(200);
    expect(await stateOf(id)).toMatchObject({ state: 'trying' });
    await tenant.patch(limiterPath(), { burst: 100 });
    expect(await stateOf(id)).toMatchObject({ state: 'superseded' });
    expect((await tenant.post(`${applyPath}/${id}/confirm`)).body.code).toBe('trial_over');
    await settled(product);
    const seen = Array.from({ length: 50 }, () => product.edge.pass(packet(tenant.address)));
    expect(seen.filter((hasPassed) => !hasPassed)).toEqual([]);
  });

  it('and were not confirmed in time hold nothing, and are over whatever comes later', async () => {
    const id = await tried({ rules: [limited()], confirm_within_s: 10 });
    product.clock.travel(11_000);
    const before = await stateOf(id);
    expect(before).toMatchObject({ state: 'over' });
    product.clock.travel(60_000);
    await ruleInForce(tenant, dropSsh(tenant.address));
    expect(await stateOf(id)).toEqual(before);
    expect((await tenant.delete(limiterPath())).status).toBe(200);
  });
});
