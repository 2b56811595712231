import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { newTenant, type ShieldedProduct, startShielded } from '../testbed.ts';

let product: ShieldedProduct;
beforeAll(async () => {
  product = await startShielded();
  await newTenant(product);
});
afterAll(() => product.stop());

const concern = async () => {
  const { concerns } = (await product.staff.get('/staff/attention')).body.data;
  return concerns.find(({ kind }: { kind: string }) => kind === 'shield.counting_full') ?? null;
};

it('an edge that has no room to count everybody is staff’s to see, as long as that is so', {
  timeout: 120_000,
}, async () => {
  expect(await concern()).toBeNull();
  const { readTraffic } = product.edge;
  product.edge.readTraffic = async () => ({ ...(await readTraffic()), full: ['syn', 'reflection'] });
  const full = await until(concern, (found) => found !== null);
  for (const kind of ['syn', 'reflection']) expect(full.message).toContain(kind);
  product.edge.readTraffic = readTraffic;
  await until(concern, (found) => found === null);
});
