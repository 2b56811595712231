import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newMeteredSwitch, rentedServer } from '../../../test/rack/metered.ts';
import { openSwitches, simulatedSwitches } from '../../drivers/switch/index.ts';
import { transaction } from '../../platform/index.ts';
import { readTrafficOf } from '../traffic/read.ts';
import { keepReading } from './read.ts';

const fiveMinutes = 300_000;
const switches = simulatedSwitches();
const open = openSwitches(switches);
let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct({
    startsAt: new Date('2026-03-10T12:00:30Z'),
    env: { HYPERVISOR: 'simulator', NETWORK4: '10.85.0.0/24' },
    drivers: { switch: (connection) => open({ ...connection, kind: 'simulated' }) },
  });
});
afterAll(() => product.stop());

async function metered() {
  const customer = await newCustomer(product, { creditMinor: 10_000_000 });
  const at = await newMeteredSwitch(product, switches, ['eth1']);
  const server = await rentedServer(product, customer);
  await at.plug('eth1', server.macs[0]);
  await at.readAfter(fiveMinutes);
  const port = { name: 'eth1', label: '', isUp: true, speedMbps: 10_000, macs: [], vlan: null };
  const look = (ms: number, bytes: bigint) =>
    transaction(product.ctx, 'test.look', (tx) =>
      keepReading(tx, at.id, 1, new Date(ms), {
        ...{ description: '', setsVlans: false, uptimeMs: at.it.uptimeMs },
        ports: [{ ...port, counters: { in: String(bytes), out: '0' } }],
      }),
    );
  const used = async () => (await readTrafficOf(product.ctx, server.id, '2026-03')).sentBytes;
  return { look, used };
}

describe('looks at a switch', () => {
  it('that end in another order than they began count nothing twice', async () => {
    const { look, used } = await metered();
    const began = product.clock.now().getTime();
    product.clock.travel(fiveMinutes);
    await look(began + 60_000, 5_000n);
    await look(began + 30_000, 4_000n);
    await look(began + 90_000, 6_000n);
    expect(await used()).toBe(6_000);
  });

  it('go on after the clock was set back', async () => {
    const { look, used } = await metered();
    const now = product.clock.now().getTime();
    await look(now + 86_400_000, 5_000n);
    await look(now, 7_000n);
    product.clock.travel(fiveMinutes);
    await look(now + fiveMinutes, 8_000n);
    expect(await used()).toBe(6_000);
  });
});
