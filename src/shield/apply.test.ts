import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../test/noted.ts';
import { until } from '../../test/product.ts';
import { contents, settled, sql } from '../../test/sql.ts';
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

const changes = watchChanges();
let product: ShieldedProduct;
let tenant: Tenant;
let stranger: Tenant;
beforeAll(async () => {
  product = await startShielded();
  [tenant, stranger] = [await newTenant(product), await newTenant(product)];
});
afterAll(() => product.stop());

const applyPath = `${rulesPath}/apply`;

async function listed(): Promise<number[]> {
  const { body } = await tenant.get(`${rulesPath}?limit=100`);
  return body.data.rules.map(({ id }: { id: number }) => id);
}

function passes(): boolean {
  return product.edge.pass(packet(tenant.address));
}

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

/** All rules of the address go. */
async function clear() {
  await tenant.post(applyPath, { rules: [], destinations: [tenant.address] });
  await settled(product);
}

describe('all rules of an address', () => {
  it('are replaced as one, and those that are named keep their counters', async () => {
    const kept = await ruleInForce(tenant, dropSsh(tenant.address, { order: 3 }));
    const gone = await ruleInForce(tenant, dropSsh(tenant.address, { order: 4, protocol: 17 }));
    expect(passes()).toBe(false);
    const { body, status } = await tenant.post(applyPath, {
      rules: [
        { ...dropSsh(tenant.address, { order: 9 }), id: kept },
        dropSsh(tenant.address, { order: 5, destination_port: { match_type: 'eq', match_value: [80] } }),
      ],
    });
    expect({ status, body }).toMatchObject({ status: 200, body: { data: { confirm_until: null } } });
    expect(body.data.rule_ids[0]).toBe(kept);
    expect(await enforced(tenant, kept)).toMatchObject({ order: 9 });
    await until(
      () => tenant.get(`${rulesPath}/${kept}`),
      (answer) => answer.body.data.rule.counters.packets === 1,
    );
    expect(new Set(await listed())).toEqual(new Set(body.data.rule_ids));
    expect((await tenant.get(`${rulesPath}/${gone}`)).status).toBe(404);
    await clear();
    expect([await listed(), passes()]).toEqual([[], true]);
  });

  it('are tried out, and are as before when nobody confirms them', async () => {
    const before = await ruleInForce(tenant, dropSsh(tenant.address, { protocol: 17 }));
    const id = await tried({ rules: [dropSsh(tenant.address)], confirm_within_s: 60 });
    expect([await listed(), passes()]).toEqual([[before], false]);
    product.clock.travel(61_000);
    expect(passes()).toBe(true);
    const { body } = await tenant.get(`${applyPath}/${id}`);
    expect(body.data.apply).toMatchObject({ state: 'over', enforced: { active: false } });
    for (const word of ['confirm', 'cancel']) {
      const late = await tenant.post(`${applyPath}/${id}/${word}`);
      expect({ status: late.status, code: late.body.code }, word).toEqual({
        status: 409,
        code: 'trial_over',
      });
    }
    expect(await listed()).toEqual([before]);
    await clear();
  });

  it('stay once they are confirmed, however often', async () => {
    await ruleInForce(tenant, dropSsh(tenant.address, { protocol: 17 }));
    const id = await tried({ rules: [dropSsh(tenant.address)], confirm_within_s: 60 });
    for (const _ of [1, 2]) {
      const { body } = await tenant.post(`${applyPath}/${id}/confirm`);
      expect(body.data.apply).toMatchObject({ state: 'confirmed' });
    }
    const [rule] = await listed();
    expect(await listed()).toHaveLength(1);
    await enforced(tenant, Number(rule));
    product.clock.travel(120_000);
    expect(passes()).toBe(false);
    await clear();
  });

  it('are taken back at once when somebody says so', async () => {
    const id = await tried({ rules: [dropSsh(tenant.address)], confirm_within_s: 600 });
    expect(passes()).toBe(false);
    expect((await tenant.post(`${applyPath}/${id}/cancel`)).body.data.apply.state).toBe('cancelled');
    await until(async () => passes(), Boolean);
    expect((await tenant.post(`${applyPath}/${id}/confirm`)).body.code).toBe('trial_over');
  });

  it('that are tried out give way to a change that comes meanwhile', async () => {
    const id = await tried({ rules: [dropSsh(tenant.address)], confirm_within_s: 600 });
    const rule = await ruleInForce(tenant, dropSsh(tenant.address, { protocol: 17 }));
    expect(passes()).toBe(true);
    expect((await tenant.get(`${applyPath}/${id}`)).body.data.apply.state).toBe('superseded');
    expect(await listed()).toEqual([rule]);
    await clear();
  });

  it.each([
    ["of another organization's address", 403, () => ({ rules: [dropSsh(stranger.address)] })],
    ['of no address', 400, () => ({ rules: [] })],
    [
      'with less time than ten seconds',
      400,
      () => ({ rules: [dropSsh(tenant.address)], confirm_within_s: 9 }),
    ],
    ['with more than an hour', 400, () => ({ rules: [dropSsh(tenant.address)], confirm_within_s: 3_601 })],
    [
      'with a rule that is none of theirs',
      400,
      () => ({ rules: [{ ...dropSsh(tenant.address), id: 4242 }] }),
    ],
    [
      'beyond 200 of an address',
      409,
      () => ({ rules: Array.from({ length: 201 }, (_, order) => dropSsh(tenant.address, { order })) }),
    ],
  ])('are not replaced %s, and nothing changes', async (_, status, body) => {
    await settled(product);
    const before = await contents(product);
    const answer = await tenant.post(applyPath, body());
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expect(await contents(product)).toEqual(before);
  });

  it('that shut the caller out are refused, unless they are tried out or forced', async () => {
    const shutOut = { ...dropSsh(tenant.address), source: '127.0.0.0/8' };
    const refused = await tenant.post(applyPath, { rules: [shutOut] });
    expect({ status: refused.status, code: refused.body.code }).toEqual({
      status: 409,
      code: 'would_lock_out',
    });
    expect(await listed()).toEqual([]);
    const id = await tried({ rules: [shutOut], confirm_within_s: 60 });
    await tenant.post(`${applyPath}/${id}/cancel`);
    const forced = await tenant.post(applyPath, { rules: [shutOut], force: true });
    expect(forced.body.warnings).toEqual([
      expect.objectContaining({ code: 'shuts_out_caller', address: `${tenant.address}/32` }),
    ]);
    await clear();
  });
});

describe('replacements that are over', () => {
  it('take no room for what their rules said, and the newest hundred are kept', async () => {
    const rules = [dropSsh(tenant.address, { note: 'some words that nobody asks for again' })];
    const made: number[] = [];
    for (let nth = 0; nth < 103; nth += 1) {
      const trial = nth === 101 ? { confirm_within_s: 60 } : { force: true };
      const { body, status } = await tenant.post(applyPath, { rules, ...trial });
      expect(status, JSON.stringify(body)).toBe(200);
      made.push(body.data.apply_id);
    }
    const rows = await sql<{ id: number; size: number }>(
      product,
      `select a.id, length(a.rules::text) as size from shield_applies a
       join shield_addresses t on t.organization_id = a.organization_id where t.address = '${tenant.address}'`,
    );
    expect(rows.map(({ id }) => id).toSorted()).toEqual(made.slice(-rows.length).toSorted());
    expect(rows.length).toBeLessThanOrEqual(101);
    // But for the one that was made last.
    const long = rows.filter(({ id, size }) => size > 100 && id !== made.at(-1));
    expect(long).toEqual([]);
    const before = (await tenant.get(`${applyPath}/${made[50]}`)).body.data.apply;
    expect(before).toMatchObject({ state: 'applied', rule_ids: [expect.any(Number)] });
    expect((await tenant.get(`${applyPath}/${made[0]}`)).status).toBe(404);
    const superseded = (await tenant.get(`${applyPath}/${made[101]}`)).body.data.apply;
    expect(superseded).toMatchObject({ state: 'superseded', rule_ids: [expect.any(Number)] });
    await clear();
  }, 60_000);
});

describe('a rule that may surprise', () => {
  it('is named when it can never match, with the one that takes its packets', async () => {
    const wide = await ruleInForce(tenant, {
      ...dropSsh(tenant.address, { order: 1 }),
      destination_port: null,
    });
    const { body } = await tenant.post(
      rulesPath,
      dropSsh(tenant.address, { order: 2, source: '198.51.100.0/24' }),
    );
    expect(body.warnings).toEqual([
      expect.objectContaining({
        ...{ code: 'never_matches', rule_id: body.data.rule_id, shadowed_by: wide },
        address: `${tenant.address}/32`,
      }),
      expect.objectContaining({ code: 'shuts_out_caller' }),
    ]);
    await clear();
  });

  it('is named when it drops answers to the machine’s own questions', async () => {
    const all = { destination: tenant.address, action: 'deny', protocol: 17, order: 50 };
    const { body } = await tenant.post(rulesPath, all);
    const codes = body.warnings.map(({ code, message }: { code: string; message: string }) => [
      code,
      message,
    ]);
    expect(codes).toEqual([
      ['drops_answers', expect.stringContaining('DNS')],
      ['drops_answers', expect.stringContaining('NTP')],
    ]);
    const answers = { ...all, action: 'permit', order: 10, source: '192.0.2.53' };
    const permitted = await tenant.post(rulesPath, {
      ...answers,
      source_port: { match_type: 'eq', match_value: [53] },
    });
    expect(permitted.body.warnings).toEqual([
      expect.objectContaining({ code: 'drops_answers', message: expect.stringContaining('NTP') }),
    ]);
    await clear();
  });
});

describe('explain', () => {
  it('names the rule that decides about a packet, and what kept those before it from it', async () => {
    const first = await ruleInForce(tenant, dropSsh(tenant.address, { order: 1, source: '192.0.2.0/24' }));
    const second = await ruleInForce(tenant, dropSsh(tenant.address, { order: 2 }));
    const asked = { source: '198.51.100.9', destination: tenant.address, protocol: 6, destination_port: 22 };
    const { body } = await tenant.post(`${rulesPath}/explain`, asked);
    expect(body.data).toEqual({
      ...{ action: 'deny', rule_id: second, limited: false, in_force: true, live: null },
      way: [
        { rule_id: first, action: 'deny', matches: false, unmet: ['source'] },
        { rule_id: second, action: 'deny', matches: true, unmet: [] },
      ],
    });
    const other = await tenant.post(`${rulesPath}/explain`, { ...asked, destination_port: 80 });
    expect(other.body.data).toMatchObject({ action: 'permit', rule_id: null });
    expect(
      (await tenant.post(`${rulesPath}/explain`, { ...asked, destination: stranger.address })).status,
    ).toBe(403);
    expect((await tenant.post(`${rulesPath}/explain`, { ...asked, protocol: 1 })).status).toBe(400);
    await clear();
  });
});

changes.leaveEntries(() => product, ['confirmShieldApply']);
