import { afterAll, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../../test/orders.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { settled, sql } from '../../test/sql.ts';
import { DnsError, type ReverseDns } from '../drivers/dns/index.ts';
import { transaction } from '../platform/index.ts';
import { listAddresses } from './addresses.ts';
import { setReverseName } from './reverse.ts';

/** What the name server says, and whether it has a zone for that. */
const names = new Map<string, string>();
let hasZone = true;
const dns: ReverseDns = {
  kind: 'powerdns',
  capabilities: ['ipv6'],
  setName: async (address, name) => {
    if (!hasZone) throw new DnsError('zone_absent', `no zone holds ${address}`, { permanent: true });
    if (name === null) names.delete(address);
    else names.set(address, name);
  },
};

let product: TestProduct;
beforeAll(async () => {
  const env = { DNS_URL: 'http://127.0.0.1:1', DNS_API_KEY: 'key' };
  product = await startTestProduct({ drivers: { dns }, env });
});
afterAll(() => product.stop());

async function aDayPasses(): Promise<void> {
  for (let hour = 0; hour < 24; hour += 1) {
    product.clock.travel(3_600_000);
    await product.periodic('fleet.tellNames');
  }
  await settled(product);
}

it('a name server that has forgotten names has them again within a day', async () => {
  const { serviceId } = await runningVps(product, product.customer, { option5: 1 });
  const addresses = (await listAddresses(product.ctx, serviceId)).map(({ address }) => address);
  const [first = '', second = ''] = addresses;
  await transaction(product.ctx, 'test.name', (tx) =>
    setReverseName(tx, serviceId, first, 'web1.example.com'),
  );
  await settled(product);
  expect([...names]).toEqual([[first, 'web1.example.com']]);
  names.clear();
  // Somebody has given it a name there, and we know of none for it.
  names.set(second, 'static-2.example.com');
  await aDayPasses();
  expect(Object.fromEntries(names)).toEqual({
    [first]: 'web1.example.com',
    [second]: 'static-2.example.com',
  });

  hasZone = false;
  await aDayPasses();
  await aDayPasses();
  expect(
    await sql(product, `select 1 from jobs where name = 'dns.reverse' and state = 'failed'`),
  ).toHaveLength(1);
});
