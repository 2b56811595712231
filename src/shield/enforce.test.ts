import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../test/product.ts';
import { settled, sql } from '../../test/sql.ts';
import { EdgeError } from '../drivers/edge/index.ts';
import { createRuleCounter } from './enforce/count.ts';
import { reconcileEdge } from './enforce/reconcile.ts';
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
beforeAll(async () => {
  product = await startShielded();
  tenant = await newTenant(product);
});
afterAll(() => product.stop());

function passes(address = tenant.address): boolean {
  return product.edge.pass(packet(address));
}

async function nodeId(): Promise<number> {
  const [node] = await sql<{ id: number }>(product, 'select id from nodes order by id limit 1');
  return Number(node?.id);
}

async function compare(): Promise<void> {
  await reconcileEdge(product.ctx, await nodeId(), () => product.edge);
}

/** Reads counters as a process does that has just been started. */
async function counter(): Promise<() => Promise<void>> {
  return createRuleCounter(product.ctx, await nodeId(), () => product.edge);
}

async function countedBy(id: number): Promise<number> {
  return (await tenant.get(`${rulesPath}/${id}`)).body.data.rule.counters.packets;
}

function send(times: number): void {
  for (let nth = 0; nth < times; nth += 1) product.edge.pass(packet(tenant.address));
}

const replace = () => product.edge.replace;

/** While `work` runs, the edge takes no policy. */
async function whileBroken(work: () => Promise<void>): Promise<void> {
  const sound = replace();
  product.edge.replace = async () => {
    throw new EdgeError('edge_refused', 'nft exited with 1: no space left on device');
  };
  try {
    await work();
  } finally {
    product.edge.replace = sound;
  }
}

it('an edge that does not take a rule keeps what it had; the rule says so, staff hears of it, and it is repaired', async () => {
  const old = await ruleInForce(tenant, dropSsh(tenant.address));
  await whileBroken(async () => {
    const { body } = await tenant.patch(`${rulesPath}/${old}`, { order: 4 });
    expect(body.success).toBe(true);
    const failed = await until(
      () => tenant.get(`${rulesPath}/${old}`),
      (answer) => answer.body.data.rule.enforced.error !== null,
    );
    expect(failed.body.data.rule).toMatchObject({ order: 4, enforced: { active: false } });
    expect(failed.body.data.rule.enforced.error).not.toMatch(/nft|device/);
    expect(passes()).toBe(false);
    const { body: seen } = await product.staff.get('/staff/attention');
    expect(JSON.stringify(seen.data)).toContain('no space left on device');
    await settled(product);
  });
  await compare();
  expect(await enforced(tenant, old)).toMatchObject({ order: 4, enforced: { error: null } });
  await tenant.delete(`${rulesPath}/${old}`);
  await settled(product);
});

it('changes that come while the edge is busy are one more writing, and a neighbour’s is not kept waiting for each of them', async () => {
  const id = await ruleInForce(tenant, dropSsh(tenant.address, { order: 8 }));
  await settled(product);
  const sound = replace();
  let [writings, isBusy] = [0, Promise.resolve()];
  product.edge.replace = async (policies) => {
    // An address that is new is watched meanwhile, which is another writing.
    if (policies.some(({ destination }) => destination === `${tenant.address}/32`)) writings += 1;
    await isBusy;
    await sound(policies);
  };
  let free = () => {};
  isBusy = new Promise<void>((resolve) => {
    free = resolve;
  });
  try {
    for (let order = 20; order < 28; order += 1)
      expect((await tenant.patch(`${rulesPath}/${id}`, { order })).status).toBe(200);
    await until(
      async () => writings,
      (count) => count > 0,
    );
    free();
    expect(await enforced(tenant, id)).toMatchObject({ order: 27 });
    await settled(product);
    // The one that was under way, and one with all that came meanwhile.
    expect(writings).toBeLessThanOrEqual(2);
  } finally {
    product.edge.replace = sound;
    await tenant.delete(`${rulesPath}/${id}`);
    await settled(product);
  }
});

it('whoever changes rules all the time keeps a neighbour waiting for one writing, and not for all of theirs', async () => {
  const neighbour = await newTenant(product);
  const id = await ruleInForce(tenant, dropSsh(tenant.address, { order: 8 }));
  const sound = replace();
  const written: string[] = [];
  product.edge.replace = async (policies) => {
    written.push(...policies.map(({ destination }) => destination));
    await new Promise((resolve) => setTimeout(resolve, 150));
    await sound(policies);
  };
  let [goesOn, order] = [true, 0];
  const changing = async () => {
    while (goesOn) {
      order += 1;
      await tenant.patch(`${rulesPath}/${id}`, { order });
    }
  };
  const both = [changing(), changing()];
  try {
    await until(
      async () => written.length,
      (count) => count > 5,
    );
    const made = (await neighbour.post(rulesPath, dropSsh(neighbour.address))).body.data.rule_id;
    const before = written.length;
    await enforced(neighbour, made);
    // The one that was under way, and one that was in line.
    expect(written.indexOf(`${neighbour.address}/32`, before) - before).toBeLessThanOrEqual(3);
  } finally {
    goesOn = false;
    await Promise.all(both);
    product.edge.replace = sound;
  }
  await tenant.delete(`${rulesPath}/${id}`);
  await settled(product);
});

it('what an edge has lost is written anew, and what is right is left alone', async () => {
  const id = await ruleInForce(tenant, dropSsh(tenant.address));
  const since = (await enforced(tenant, id)).enforced.since;
  await compare();
  const held = await product.edge.list();
  expect((await enforced(tenant, id)).enforced.since).toBe(since);
  product.clock.travel(1_000);
  await product.edge.remove(held);
  expect(passes()).toBe(true);
  await compare();
  expect(passes()).toBe(false);
  expect((await enforced(tenant, id)).enforced.since > since).toBe(true);
  await tenant.delete(`${rulesPath}/${id}`);
  await settled(product);
});

it('a database that came back from a backup overtakes what the edge has had since', async () => {
  const id = await ruleInForce(tenant, dropSsh(tenant.address));
  const [before] = await sql<{ generation: number }>(
    product,
    'select generation from shield_addresses where address = $1::inet',
    tenant.address,
  );
  // Since that backup somebody let everything in.
  const destination = `${tenant.address}/32`;
  const generation = Number(before?.generation) + 86_400_000;
  await product.edge.replace([{ destination, generation, rules: [], unmatched: 'permit' }]);
  expect(passes()).toBe(true);
  await compare();
  expect(passes()).toBe(false);
  const [held] = (await product.edge.list()).filter((each) => each.destination === destination);
  expect(held?.generation).toBeGreaterThan(generation);
  await tenant.delete(`${rulesPath}/${id}`);
  await until(async () => passes(), Boolean);
});

it('an address that is given back loses its rules at once, and whoever has it next inherits nothing', async () => {
  const leaving = await newTenant(product);
  const id = await ruleInForce(leaving, dropSsh(leaving.address));
  expect(passes(leaving.address)).toBe(false);
  await leaving.post(`/dashboard/services/${leaving.serviceId}/cancel`, { type: 'immediate' });
  await until(
    () => sql(product, 'select 1 from shield_rules where id = $1', id),
    (rows) => rows.length === 0,
  );
  const [address] = await sql<{ state: string }>(
    product,
    'select state from addresses where address = $1::inet',
    leaving.address,
  );
  expect(address?.state).toBe('resting');
  await until(async () => passes(leaving.address), Boolean);
  expect((await leaving.post(rulesPath, dropSsh(leaving.address))).status).toBe(403);
  await settled(product);
  expect((await product.edge.list()).map((held) => held.destination)).not.toContain(`${leaving.address}/32`);
});

it('a machine’s overview tells whether packets to its addresses are filtered', async () => {
  const shieldOf = async () => {
    const { body } = await tenant.get(`/dashboard/service/${tenant.serviceId}/vps/overview`);
    return body.data.vps.ips.find((ip: { address: string }) => ip.address === tenant.address).shield;
  };
  expect(await shieldOf()).toEqual({ enabled: false, under_attack: false });
  const id = await ruleInForce(tenant, dropSsh(tenant.address));
  expect(await shieldOf()).toEqual({ enabled: true, under_attack: false });
  await tenant.delete(`${rulesPath}/${id}`);
  await settled(product);
  expect(await shieldOf()).toEqual({ enabled: false, under_attack: false });
});

it('a packet is counted once, also by a process that died between writing counts down and having the edge forget them', async () => {
  const id = await ruleInForce(tenant, dropSsh(tenant.address));
  send(5);
  await tenant.patch(`${rulesPath}/${id}`, { order: 7 });
  await enforced(tenant, id);
  send(2);
  const sound = product.edge.forget;
  product.edge.forget = async () => {
    throw new EdgeError('edge_refused', 'nft was killed');
  };
  const dying = await counter();
  await expect(dying()).rejects.toThrow('nft was killed');
  product.edge.forget = sound;
  expect(await countedBy(id)).toBe(7);
  for (const _ of [1, 2]) {
    const next = await counter();
    await next();
    expect(await countedBy(id)).toBe(7);
  }
  expect((await product.edge.readRules()).filter(({ isOver }) => isOver)).toEqual([]);
  send(1);
  await (await counter())();
  expect(await countedBy(id)).toBe(8);
  await tenant.delete(`${rulesPath}/${id}`);
  await settled(product);
});

it('what a rule counted while it was tried out is its own once it stays', async () => {
  const count = await counter();
  const tried = await tenant.post(`${rulesPath}/apply`, {
    ...{ rules: [dropSsh(tenant.address)], confirm_within_s: 600 },
  });
  const { apply_id, rule_ids } = tried.body.data;
  await until(
    async () => passes(),
    (open) => !open,
  );
  send(3);
  await count();
  await until(
    () => tenant.post(`${rulesPath}/apply/${apply_id}/confirm`),
    ({ status }) => status === 200,
  );
  await settled(product);
  await until(
    async () => {
      await count();
      return countedBy(rule_ids[0]);
    },
    // The packets that asked whether it is there are counted too.
    (packets) => packets >= 3,
  );
  const all = (await product.edge.readRules()).filter(({ rule }) => rule === rule_ids[0]);
  expect(await countedBy(rule_ids[0])).toBe(all.reduce((sum, { packets }) => sum + packets, 0));
  await tenant.delete(`${rulesPath}/${rule_ids[0]}`);
  await settled(product);
});

it('where nothing filters, rules are kept and say so, and staff hears why', async () => {
  const other = await newTenant(product);
  const { body } = await other.post(rulesPath, dropSsh(other.address));
  const id = body.data.rule_id;
  await enforced(other, id);
  // As this node is after a start at which nft could not be used.
  const none = () => {
    throw new EdgeError('nothing_filters', 'nothing filters at this node: there is no program nft', {
      permanent: true,
    });
  };
  await other.patch(`${rulesPath}/${id}`, { order: 8 });
  await settled(product);
  await sql(
    product,
    'update shield_addresses set generation = generation + 1 where address = $1::inet',
    other.address,
  );
  await sql(product, 'update shield_rules set generation = generation + 1 where id = $1', id);
  await reconcileEdge(product.ctx, await nodeId(), none);
  const { rule } = (await other.get(`${rulesPath}/${id}`)).body.data;
  expect(rule.enforced).toMatchObject({
    active: false,
    error:
      'Nothing filters packets to this address at present: its rules are kept, and in force once something does',
  });
  const { body: seen } = await product.staff.get('/staff/attention');
  expect(JSON.stringify(seen.data)).toContain('there is no program nft');
  await compare();
  expect((await enforced(other, id)).enforced).toMatchObject({ error: null });
});
