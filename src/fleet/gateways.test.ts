import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';
import { followGateways } from './gateways.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const addPool = async (name: string, location: string, network: string) => {
  const answer = await product.staff.post('/staff/address-pools', { name, location, network });
  expect(answer.status).toBe(200);
};

describe('a node', () => {
  it('has its driver prepare the gateways of new pools of its location, once', async () => {
    const answered: string[] = [];
    const prepared: string[][] = [];
    const follow = () =>
      followGateways(product.ctx, 'AMS', answered, async () => {
        prepared.push([...answered]);
      });
    await follow();
    expect(prepared).toEqual([['10.77.0.1/24', 'fd77:0:0:77::1/64']]);
    await addPool('elsewhere', 'FRA', '172.20.0.0/24');
    await follow();
    await addPool('second', 'AMS', '172.21.0.0/24');
    await follow();
    await follow();
    expect(prepared).toHaveLength(2);
    expect(prepared[1]).toContain('172.21.0.1/24');
  });

  it('has its driver mend what its machines stand on, again and again, also after that has failed', async () => {
    let mended = 0;
    product.hypervisor.mend = async () => {
      mended += 1;
      if (mended === 1) throw new Error('nft is gone');
    };
    await until(
      async () => mended,
      (times) => times > 1,
    );
  });

  it('tries again when its driver could not', async () => {
    const answered = ['10.77.0.1/24', 'fd77:0:0:77::1/64', '172.21.0.1/24'];
    await addPool('third', 'AMS', '172.22.0.0/24');
    const failing = () => Promise.reject(new Error('no bridge'));
    await expect(followGateways(product.ctx, 'AMS', answered, failing)).rejects.toThrow('no bridge');
    expect(answered).toHaveLength(3);
    await followGateways(product.ctx, 'AMS', answered, async () => undefined);
    expect(answered).toContain('172.22.0.1/24');
  });
});
