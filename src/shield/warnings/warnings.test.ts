import { afterAll, beforeAll, expect, it } from 'vitest';
import { newTenant, rulesPath, type ShieldedProduct, startShielded, type Tenant } from '../testbed.ts';

let product: ShieldedProduct;
let tenant: Tenant;
beforeAll(async () => {
  product = await startShielded();
  tenant = await newTenant(product);
});
afterAll(() => product.stop());

/** Each says 65 ranges of ports twice, and only the source tells one from the other. */
function rule(nth: number) {
  const ports = { match_type: 'neq', match_value: Array.from({ length: 64 }, (_, port) => port * 1_000 + 2) };
  return {
    ...{ destination: tenant.address, action: 'permit', protocol: 17, order: nth },
    ...{ source: `10.0.${nth}.0/24`, source_port: ports, destination_port: ports },
  };
}

it('to look for surprises among as many rules as there may be, each as long as it may be, takes a moment', async () => {
  const { body } = await tenant.post(`${rulesPath}/apply`, {
    rules: Array.from({ length: 200 }, (_, nth) => rule(nth)),
  });
  const [first] = body.data.rule_ids;
  const before = process.cpuUsage();
  const { status } = await tenant.patch(`${rulesPath}/${first}`, { note: 'the same as before' });
  const { user } = process.cpuUsage(before);
  expect(status).toBe(200);
  // Of one process, in which others wait meanwhile; 14 s where each pair was worked out by itself.
  expect(user / 1e6).toBeLessThan(2);
});
