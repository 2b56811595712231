import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { qemuHypervisor } from '../drivers/hypervisor/index.ts';
import { reasonToSkip, type Testbed, testbed } from '../drivers/hypervisor/qemu/testbed.ts';
import { runAsRoot, runProgram } from '../platform/host/program.ts';
import { followGateways } from './gateways.ts';

describe.skipIf((await reasonToSkip('tiny')) !== null)('the bridge of a real node', () => {
  let product: TestProduct;
  let bed: Testbed;
  beforeAll(async () => {
    product = await startTestProduct();
    bed = await testbed(47, 'tiny', {});
  });
  afterAll(async () => {
    await runAsRoot(['ip', 'link', 'delete', 'dev', bed.options.bridge.name]).catch(() => undefined);
    bed.remove();
    await product.stop();
  });

  it('answers on the gateway of a pool that was added while it runs', async () => {
    const addresses: string[] = ['10.77.0.1/24', 'fd77:0:0:77::1/64'];
    const node = qemuHypervisor({ ...bed.options, bridge: { ...bed.options.bridge, addresses } });
    await node.prepare(() => undefined);
    const pool = { name: 'second', location: 'AMS', network: '172.23.0.0/24', gateway: '172.23.0.254' };
    expect((await product.staff.post('/staff/address-pools', pool)).status).toBe(200);
    await followGateways(product.ctx, 'AMS', addresses, () => node.prepare(() => undefined));
    const { stdout } = await runProgram(['ip', '-j', 'address', 'show', 'dev', bed.options.bridge.name]);
    const [link] = JSON.parse(stdout) as { addr_info: { local: string; prefixlen: number }[] }[];
    const answered = link?.addr_info.map((each) => `${each.local}/${each.prefixlen}`);
    expect(answered).toEqual(expect.arrayContaining([...addresses, '172.23.0.254/24']));
    await node.close();
  });
});
