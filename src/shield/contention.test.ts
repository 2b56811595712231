import { afterAll, beforeAll, expect, it } from 'vitest';
import { settled, sql } from '../../test/sql.ts';
import {
  dropSsh,
  newTenant,
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

const applyPath = `${rulesPath}/apply`;
const limitersPath = '/shield/v2/rate-limiters';

/** How often PostgreSQL had to end a circle of those who wait for each other, a second later each. */
async function deadlocks(): Promise<number> {
  const [row] = await sql<{ deadlocks: number }>(
    product,
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  );
  return row?.deadlocks ?? -1;
}

/** Two at a time, as many as an organization may have. */
async function sideBySide(
  times: number,
  work: readonly (() => Promise<{ status: number; body: unknown }>)[],
) {
  let next = 0;
  const lane = async () => {
    while (next < times) {
      const nth = next;
      next += 1;
      const { status, body } = await (work[nth % work.length] as (typeof work)[number])();
      expect(status, JSON.stringify(body)).toBe(200);
    }
  };
  await Promise.all([lane(), lane()]);
}

it('changes of one address side by side, and what the edge reports of it, never wait for each other in a circle', async () => {
  const before = await deadlocks();
  const { rule_id: id } = (await tenant.post(rulesPath, dropSsh(tenant.address))).body.data;
  const limiter = (
    await tenant.post(limitersPath, { name: 'slow', packets_per_second: 10, per: 'rule', burst: 10 })
  ).body.data.rate_limiter.id;
  let nth = 0;
  const order = () => {
    nth += 1;
    return nth;
  };
  const limited = () => {
    const change = { action: 'permit', protocol: 17, order: order(), rate_limiter_id: limiter };
    return dropSsh(tenant.address, change);
  };
  const tried = async () => {
    const { body, status } = await tenant.post(applyPath, {
      rules: [dropSsh(tenant.address, { id }), limited()],
      confirm_within_s: 60,
    });
    const end = order() % 2 === 0 ? 'confirm' : 'cancel';
    // Another change may have ended it, and the edge may not have it yet.
    await tenant.post(`${applyPath}/${body.data?.apply_id}/${end}`);
    return { status, body };
  };
  await sideBySide(72, [
    () => tenant.patch(`${rulesPath}/${id}`, { order: order() }),
    () => tenant.post(applyPath, { rules: [dropSsh(tenant.address, { id }), limited()], force: true }),
    () => tenant.patch(`${limitersPath}/${limiter}`, { packets_per_second: order() }),
    () => tenant.post(`${rulesPath}/${id}/disable`),
    () => tenant.post(`${rulesPath}/${id}/enable`),
    () => tenant.post(rulesPath, limited()),
    tried,
    () => tenant.post(`${rulesPath}/presets`, { destination: tenant.address, preset: 'block-rdp' }),
  ]);
  await settled(product);
  // Backends report what they have counted once a second at most.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect((await deadlocks()) - before).toBe(0);
});
