import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, signedIn } from '../../../test/people.ts';
import { settled, sql } from '../../../test/sql.ts';
import { findPolicies } from '../enforce/addressRows.ts';
import { readPolicies } from '../enforce/apply.ts';
import {
  dropSsh,
  enforced,
  newTenant,
  packet,
  ruleInForce,
  rulesPath,
  type ShieldedProduct,
  startShielded,
} from '../testbed.ts';

let product: ShieldedProduct;
beforeAll(async () => {
  product = await startShielded();
});
afterAll(() => product.stop());

/** Somebody with a machine who also rules another organization, and how they move the machine there. */
async function ofTwo() {
  const tenant = await newTenant(product);
  const other = await newCustomer(product, { creditMinor: 50_000 });
  await sql(
    product,
    `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, 'admin', now())`,
    ...[other.organizationId, tenant.userId],
  );
  await settled(product);
  const here = await signedIn(product, tenant);
  const move = async () => {
    const path = `/dashboard/services/${tenant.serviceId}/move`;
    const { status, body } = await here.post(path, { organization_id: other.organizationId });
    expect(status, JSON.stringify(body)).toBe(200);
  };
  return { tenant, other, move };
}

describe('a machine that moves to another organization', () => {
  it('is not held up by a trial of rules that nobody confirmed', async () => {
    const { tenant, other, move } = await ofTwo();
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    const trial = { rules: [], destinations: [tenant.address], confirm_within_s: 10 };
    const { body } = await tenant.post(`${rulesPath}/apply`, trial);
    product.clock.travel(11_000);
    await move();
    const over = await tenant.get(`${rulesPath}/apply/${body.data.apply_id}`);
    expect(over.body.data.apply.state).toBe('over');
    expect(await enforced(other, id)).toMatchObject({ disabled: false });
    expect(product.edge.pass(packet(tenant.address))).toBe(false);
  });

  it.each([
    ['has a rule of a group that stays', true],
    ['has a group of which a rule stays', false],
  ])('and %s shares it with nobody', async (_, isGroupElsewhere) => {
    const { tenant, other, move } = await ofTwo();
    const { serviceId: second } = await runningVps(product, tenant);
    const { body: listed } = await tenant.get('/shield/v2/ips');
    const ips = listed.data.ips as { address: string; service_id: number; family: { value: number } }[];
    const staying = ips.find((ip) => ip.service_id === second && ip.family.value === 4)?.address ?? '';
    const [ofGroup, elsewhere] = isGroupElsewhere ? [staying, tenant.address] : [tenant.address, staying];
    const preset = { destination: ofGroup, preset: 'block-rdp' };
    const { group_id: group, rule_ids: rules } = (await tenant.post(`${rulesPath}/presets`, preset)).body
      .data;
    await tenant.patch(`${rulesPath}/${rules[0]}`, { destination: elsewhere });
    await settled(product);
    await move();
    const [groups, strangers] = isGroupElsewhere ? [tenant, other] : [other, tenant];
    const shown = await groups.get(`${rulesPath}/group/${group}`);
    expect(shown.body.data.rules.map((rule: { id: number }) => rule.id)).toEqual([rules[1]]);
    expect((await strangers.get(`${rulesPath}/${rules[0]}`)).body.data.rule.group_id).toBe(0);
    expect((await groups.delete(`${rulesPath}/groups/${group}`)).status).toBe(200);
    expect((await strangers.get(`${rulesPath}/${rules[0]}`)).status).toBe(200);
    const rdp = packet(elsewhere.replace('/32', ''), { ports: { source: 1, destination: 3389 } });
    await settled(product);
    expect(product.edge.pass(rdp)).toBe(false);
  });

  it('keeps its rules also when a job has read whose it was before, and its rules after', async () => {
    const { tenant, other, move } = await ofTwo();
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    const held = (await product.edge.list()).filter(({ destination }) =>
      destination.includes(tenant.address),
    );
    const rows = await findPolicies(product.ctx, [tenant.address]);
    await move();
    const { policies } = await readPolicies(product.ctx, rows);
    await settled(product);
    await product.edge.remove(held);
    await product.edge.replace(policies);
    await enforced(other, id);
    expect(product.edge.pass(packet(tenant.address))).toBe(false);
  });
});
