import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../test/product.ts';
import { contents, settled } from '../../test/sql.ts';
import {
  dropSsh,
  enforced,
  newTenant,
  packet,
  ruleInForce,
  rulesPath,
  type ShieldedProduct,
  startShielded,
  type Tenant,
} from './testbed.ts';

let product: ShieldedProduct;
let tenant: Tenant;
let stranger: Tenant;
beforeAll(async () => {
  product = await startShielded();
  [tenant, stranger] = [await newTenant(product), await newTenant(product)];
});
afterAll(() => product.stop());

const limitersPath = '/shield/v2/rate-limiters';
let named = 0;
const rate = (change: object = {}) => ({
  ...{ name: `Rate ${++named}`, packets_per_second: 10, per: 'rule', burst: 5 },
  ...change,
});

async function newLimiter(change: object = {}, person = tenant): Promise<number> {
  const { status, body } = await person.post(limitersPath, rate(change));
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.rate_limiter.id;
}

const permitSsh = (rate_limiter_id: number) => ({
  ...dropSsh(tenant.address, { action: 'permit', order: 50 }),
  rate_limiter_id,
});

/** How many of so many packets that come at once get through. */
function through(count: number, source = '198.51.100.9'): number {
  return Array.from({ length: count }).filter(() => product.edge.pass(packet(tenant.address, { source })))
    .length;
}

async function gone(...rules: number[]): Promise<void> {
  for (const id of rules) await tenant.delete(`${rulesPath}/${id}`);
  await settled(product);
}

describe('a rate limiter', () => {
  it('holds what a rule permits to its rate, and what comes above is counted as dropped', async () => {
    const limiter = await newLimiter();
    const id = await ruleInForce(tenant, permitSsh(limiter));
    expect(through(8)).toBe(5);
    product.clock.travel(300);
    expect(through(8)).toBe(3);
    expect(product.edge.pass(packet(tenant.address, { ports: { source: 4_000, destination: 80 } }))).toBe(
      true,
    );
    const { body } = await until(
      () => tenant.get(`${rulesPath}/${id}`),
      (answer) => answer.body.data.rule.counters.packets >= 16,
    );
    expect(body.data.rule).toMatchObject({
      rate_limiter_id: limiter,
      counters: { packets: 16, dropped_packets: 8, dropped_bytes: 480 },
    });
    await gone(id);
  });

  it('for each source leaves one its rate while another floods', async () => {
    const id = await ruleInForce(tenant, permitSsh(await newLimiter({ per: 'source' })));
    expect(through(100)).toBe(5);
    expect(through(5, '198.51.100.10')).toBe(5);
    await gone(id);
  });

  it('that is changed is another for every rule that uses it, which says when it is in force', async () => {
    const limiter = await newLimiter();
    const rules = [
      await ruleInForce(tenant, permitSsh(limiter)),
      await ruleInForce(tenant, { ...permitSsh(limiter), protocol: 17 }),
    ];
    const changed = await tenant.patch(`${limitersPath}/${limiter}`, { burst: 2 });
    expect(changed.body.data.rate_limiter).toMatchObject({ id: limiter, burst: 2, packets_per_second: 10 });
    for (const id of rules) await enforced(tenant, id);
    expect(through(8)).toBe(2);
    await gone(...rules);
  });

  it('stays while a rule uses it', async () => {
    const limiter = await newLimiter();
    const id = await ruleInForce(tenant, permitSsh(limiter));
    const refused = await tenant.delete(`${limitersPath}/${limiter}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'limiter_in_use']);
    await gone(id);
    expect((await tenant.delete(`${limitersPath}/${limiter}`)).body).toMatchObject({
      success: true,
      data: {},
    });
    expect((await tenant.get(`${limitersPath}/${limiter}`)).status).toBe(404);
  });

  it.each([
    ['without a rate', 400, { packets_per_second: null }],
    ['of no packets', 400, { packets_per_second: 0 }],
    ['of less than a byte', 400, { bits_per_second: 7 }],
    ['that does something else than drop', 400, { action: 'reject' }],
    ['with a line break in its name', 400, { name: 'one\ntwo' }],
    ['with a name that another one has, in other letters', 409, { name: 'TAKEN' }],
  ])('is refused %s, and nothing changes', async (_, status, change) => {
    await tenant.post(limitersPath, rate({ name: 'taken' }));
    const before = await contents(product);
    const answer = await tenant.post(limitersPath, rate(change));
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expect(await contents(product)).toEqual(before);
  });

  it('of another organization is neither used nor shown nor changed', async () => {
    const theirs = await newLimiter({}, stranger);
    await settled(product);
    const before = await contents(product);
    const answers = [
      await tenant.get(`${limitersPath}/${theirs}`),
      await tenant.patch(`${limitersPath}/${theirs}`, { burst: 1 }),
      await tenant.delete(`${limitersPath}/${theirs}`),
      await tenant.post(rulesPath, permitSsh(theirs)),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect(
      (await tenant.get(limitersPath)).body.data.rate_limiters.map((each: { id: number }) => each.id),
    ).not.toContain(theirs);
    expect(await contents(product)).toEqual(before);
  });

  it('is for a rule that permits', async () => {
    const limiter = await newLimiter();
    const { status, body } = await tenant.post(rulesPath, { ...permitSsh(limiter), action: 'deny' });
    expect([status, body.details[0].field]).toEqual([400, 'rate_limiter_id']);
  });

  it('is made a hundred times at most', async () => {
    const { total } = (await tenant.get(limitersPath)).body.data;
    for (let have = total; have < 100; have += 1) await newLimiter();
    const { status, body } = await tenant.post(limitersPath, rate());
    expect([status, body.code]).toEqual([409, 'too_many']);
  });
});

describe('a rate of a rule’s own', () => {
  const rate = { packets_per_second: 10, per: 'rule', burst: 5 };
  const limited = (change: object = {}) => ({
    ...dropSsh(tenant.address, { action: 'permit', order: 50 }),
    ...{ rate },
    ...change,
  });
  const shown = async (id: number) => (await tenant.get(`${rulesPath}/${id}`)).body.data.rule;

  it('is what packets meet, stays over other changes and trials, and goes when it is taken away', async () => {
    const id = await ruleInForce(tenant, limited());
    expect(await shown(id)).toMatchObject({
      ...{ rate_limiter_id: 0, rate: { ...rate, bits_per_second: null } },
    });
    expect(through(8)).toBe(5);
    await tenant.patch(`${rulesPath}/${id}`, { order: 51 });
    expect(await enforced(tenant, id)).toMatchObject({ rate: { burst: 5 } });
    const tried = await tenant.post(`${rulesPath}/apply`, {
      ...{ rules: [{ ...limited({ rate: { ...rate, burst: 2 } }), id }], confirm_within_s: 600 },
    });
    const apply = `${rulesPath}/apply/${tried.body.data.apply_id}`;
    await until(
      () => tenant.get(apply),
      ({ body }) => body.data.apply.enforced.active,
    );
    expect(through(8)).toBe(2);
    expect((await tenant.post(`${apply}/confirm`)).status).toBe(200);
    expect(await enforced(tenant, id)).toMatchObject({ rate: { burst: 2 } });
    await tenant.patch(`${rulesPath}/${id}`, { rate: null });
    expect(await enforced(tenant, id)).toMatchObject({ rate: null });
    expect(through(8)).toBe(8);
    await gone(id);
  });

  it.each([
    ['beside a rate limiter', { rate_limiter_id: 1 }, 'rate'],
    ['of what is dropped', { action: 'deny' }, 'rate'],
    ['without a rate', { rate: { per: 'rule', burst: 5 } }, 'rate.packets_per_second'],
    ['of nothing', { rate: { ...rate, per: 'port' } }, 'rate.per'],
    ['without a burst', { rate: { packets_per_second: 1, per: 'rule' } }, 'rate.burst'],
  ])('is refused %s, and nothing changes', async (_, change, field) => {
    const before = await contents(product);
    const { status, body } = await tenant.post(rulesPath, limited(change));
    expect([status, body.details[0].field]).toEqual([400, field]);
    expect(await contents(product)).toEqual(before);
  });
});
