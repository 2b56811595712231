import { afterAll, beforeAll, expect, it } from 'vitest';
import { settled, sql } from '../../../test/sql.ts';
import { giveBackAddresses } from '../../vps/giveBack.ts';
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

/** Somebody whose machine has two more addresses, which make a network. */
async function withNetwork() {
  const tenant = await newTenant(product);
  const [pair] = await sql<{ network: string; one: string; two: string }>(
    product,
    `select a.address || '/31' as network, host(a.address) as one, host(b.address) as two
     from (select * from addresses where state = 'free' and family(address) = 4) a
     join addresses b on b.address = a.address + 1 and b.state = 'free'
     where (a.address - '0.0.0.0') % 2 = 0 order by a.address limit 1`,
  );
  const { network = '', one = '', two = '' } = pair ?? {};
  await sql(
    product,
    `update addresses set state = 'taken', organization_id = $1, service_id = $2,
       ordinal = case host(address) when $3 then 5 else 6 end where host(address) in ($3, $4)`,
    ...[tenant.organizationId, tenant.serviceId, one, two],
  );
  return { tenant, network: network.replace('/32', ''), one, two };
}

it('a rule for a network that lost an address can be changed and replaced by whoever has the others', async () => {
  const { tenant, network, one, two } = await withNetwork();
  const id = await ruleInForce(tenant, dropSsh(network));
  expect([one, two].map((address) => product.edge.pass(packet(address)))).toEqual([false, false]);
  await giveBackAddresses(product.ctx, tenant.serviceId, { count4: 2, count6: 9 });
  await settled(product);
  expect([one, two].map((address) => product.edge.pass(packet(address)))).toEqual([false, true]);
  const { status, body } = await tenant.patch(`${rulesPath}/${id}`, { order: 7 });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(await enforced(tenant, id)).toMatchObject({ order: 7, destination: network });
  expect([one, two].map((address) => product.edge.pass(packet(address)))).toEqual([false, true]);
  // A new rule for it is refused all the same: half of it is not theirs.
  expect((await tenant.post(rulesPath, dropSsh(network))).status).toBe(403);
  const gone = await tenant.post(`${rulesPath}/apply`, { rules: [], destinations: [one] });
  expect(gone.status, JSON.stringify(gone.body)).toBe(200);
  await settled(product);
  expect(product.edge.pass(packet(one))).toBe(true);
  expect((await tenant.get(`${rulesPath}/${id}`)).status).toBe(404);
});
