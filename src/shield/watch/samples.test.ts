import { afterAll, beforeAll, expect, it } from 'vitest';
import { EdgeError, memoryEdge } from '../../drivers/edge/index.ts';
import { datagram } from '../attacks/flood.testbed.ts';
import { type ShieldedProduct, startShielded } from '../testbed.ts';
import { sampleReader } from './samples.ts';

let product: ShieldedProduct;
beforeAll(async () => {
  product = await startShielded();
});
afterAll(() => product.stop());

it('where no samples can be had there are none, and it is tried again after a minute', async () => {
  const edge = memoryEdge();
  const destination = '203.0.113.10';
  await edge.replace([{ destination, generation: 0, rules: [], unmatched: 'permit' }]);
  const read = sampleReader(product.ctx);
  expect(await read(edge)).toEqual([]);
  edge.pass(datagram(destination));
  expect(await read(edge)).toHaveLength(1);
  let tries = 0;
  const broken = {
    ...edge,
    readSamples: () => {
      tries += 1;
      return Promise.reject(new EdgeError('edge_refused', 'no log'));
    },
  };
  for (const ms of [0, 1_000, 58_000]) {
    product.clock.travel(ms);
    expect(await read(broken)).toEqual([]);
  }
  expect(tries).toBe(1);
  product.clock.travel(2_000);
  expect(await read(broken)).toEqual([]);
  expect(tries).toBe(2);
  product.clock.travel(61_000);
  edge.pass(datagram(destination));
  expect(await read(edge)).toHaveLength(1);
  const blind = { ...edge, capabilities: edge.capabilities.filter((each) => each !== 'samples') };
  expect(await read(blind)).toEqual([]);
});
