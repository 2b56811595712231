/** How long attacks are kept: as long as staff has set, what still stands of one longer. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sql } from '../../../test/sql.ts';
import {
  type DrivenProduct,
  defended,
  newestAttack,
  reflected,
  startDriven,
} from '../mitigation/driven.testbed.ts';
import { newTenant, type Tenant } from '../testbed.ts';

let product: DrivenProduct;
beforeAll(async () => {
  product = await startDriven();
});
afterAll(() => product.stop());

async function attacked(change: Record<string, unknown> = {}): Promise<Tenant> {
  const tenant = await newTenant(product);
  await defended(tenant, change);
  await product.seconds(4);
  await product.seconds(6, [reflected(tenant.address), 1_500]);
  await product.seconds(40);
  return tenant;
}
const daysGoBy = async (days: number) => {
  product.clock.travel(days * 24 * 3_600_000);
  await product.periodic('shield.forgetTraffic');
};
const keptOf = async ({ organizationId }: Tenant) => {
  const [row] = await sql<{ attacks: number; mitigations: number }>(
    product,
    `select (select count(*) from shield_attacks where organization_id = $1)::int as attacks,
       (select count(*) from shield_mitigations where organization_id = $1)::int as mitigations`,
    organizationId,
  );
  return row;
};

it('is gone with what was done against it once it has been over for as long as staff wants attacks kept', async () => {
  const [tenant, lasting] = [await attacked(), await attacked({ mitigation: 'permanent' })];
  const { attack_id: id, ended_at } = await newestAttack(tenant);
  expect(ended_at).not.toBe('');
  const before = await keptOf(tenant);
  expect(before).toEqual({ attacks: 1, mitigations: 1 });
  expect((await product.staff.patch('/staff/settings', { shield: { attacks_days: 29 } })).status).toBe(400);
  expect((await product.staff.patch('/staff/settings', { shield: { attacks_days: 40 } })).status).toBe(200);
  await daysGoBy(39);
  expect(await keptOf(tenant)).toEqual(before);
  await daysGoBy(2);
  expect(await keptOf(tenant)).toEqual({ attacks: 0, mitigations: 0 });
  expect((await tenant.get(`/shield/v2/attacks/${id}`)).status).toBe(404);
  // What stands against one that is long over is still its own.
  const { mitigations } = await newestAttack(lasting);
  expect(mitigations).toMatchObject([{ in_force: true }]);
  await lasting.post(`/shield/v2/mitigations/${mitigations[0].id}/release`);
  await product.seconds(4);
  await daysGoBy(0);
  expect(await keptOf(lasting)).toEqual({ attacks: 0, mitigations: 0 });
});
