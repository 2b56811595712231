import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EdgeNetwork, edgeNetwork } from '../suite/network.testbed.ts';
import { type Asker, openAsker } from './asker.ts';
import { table } from './base.ts';
import { readCounters } from './counters.ts';
import { kernel } from './kernel.ts';

const senders = 40_000;
const names = Array.from({ length: 30 }, (_, nth) => `c${nth}`);
let network: EdgeNetwork;
let asker: Asker;
beforeAll(async () => {
  network = await edgeNetwork();
  asker = openAsker(network.inside);
  const addresses = Array.from({ length: senders }, (_, nth) => `10.9.${nth >> 8}.${nth & 255}`);
  const lines = [
    `add table inet ${table}`,
    `add set inet ${table} seen { type ipv4_addr; size 65535; flags dynamic; }`,
    `add element inet ${table} seen { ${addresses.join(', ')} }`,
    ...names.flatMap((name, nth) => [
      `add chain inet ${table} ${name}`,
      `add rule inet ${table} ${name} ip saddr 192.0.2.1 accept`,
      `add rule inet ${table} ${name} udp dport 9 counter packets ${nth} bytes ${nth * 2 ** 40} drop comment "${nth}"`,
      `add rule inet ${table} ${name} counter packets 7 bytes 8 comment "rest"`,
    ]),
  ];
  await kernel(network.inside).load(`${lines.join('\n')}\n`);
});
afterAll(async () => {
  await asker?.close();
  await network?.close();
});

const counted = (nth: number) => [
  { comment: null, packets: 0, bytes: 0 },
  { comment: String(nth), packets: nth, bytes: nth * 2 ** 40 },
  { comment: 'rest', packets: 7, bytes: 8 },
];

it('what chains count is read rule by rule, and of one that there is not nothing', async () => {
  const found = await readCounters(asker, 'inet', ['c3', 'nowhere', 'c29']);
  expect(Object.fromEntries(found)).toEqual({ c3: counted(3), c29: counted(29) });
  expect(await readCounters(asker, 'bridge', ['c3'])).toEqual(new Map());
  expect(await readCounters(asker, 'inet', [])).toEqual(new Map());
});

it('takes as long for thirty chains beside sets that a flood has filled as nft takes for less than one of them', async () => {
  const took = async (work: () => Promise<unknown>) => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  };
  const nft = kernel(network.inside);
  const one = await took(() => nft.list([{ of: 'inet', kind: 'chain', name: 'c0' }]));
  const all = await took(async () => {
    const found = await readCounters(asker, 'inet', names);
    expect([...found.values()]).toEqual(names.map((_, nth) => counted(nth)));
  });
  console.info(`thirty chains ${all.toFixed(0)} ms, one by nft ${one.toFixed(0)} ms`);
  expect(all).toBeLessThan(one);
});

it('that there is no netlink is said', async () => {
  const nowhere = openAsker((argv) => ['env', 'PATH=/nowhere', ...argv]);
  const refused = readCounters(nowhere, 'inet', ['c0']);
  await expect(refused).rejects.toMatchObject({ code: 'edge_refused' });
});
