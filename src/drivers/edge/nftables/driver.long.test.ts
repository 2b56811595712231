import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asRoot, runProgram } from '../../../platform/host/program.ts';
import type { Edge, Packet } from '../contract.ts';
import { type EdgeNetwork, edgeNetwork } from '../suite/network.testbed.ts';
import { nftablesEdge } from './driver.ts';
import { replacedUnderLoad } from './underLoad.testbed.ts';

const isRoot = await runProgram(asRoot(['true'])).then(
  () => true,
  () => false,
);
if (!isRoot) console.warn('Policies are not replaced under load: that takes root');

describe.skipIf(!isRoot)(
  'a policy that denies all, replaced without pause for fifteen seconds',
  { timeout: 300_000 },
  () => {
    let network: EdgeNetwork;
    let edge: Edge;
    beforeAll(async () => {
      network = await edgeNetwork();
      edge = nftablesEdge({ bridged: true, inside: network.inside });
    });
    afterAll(() => network?.close());

    it.each([
      ['IPv4', '10.100.0.1', '198.18.2.5', 60],
      ['IPv6', '2001:db8:7:100::1', '2001:db8:2::5', 80],
    ] as const)(
      'lets none of as many packets through as the machine can send, and counts each once (%s)',
      async (_, destination, source, length) => {
        const packet: Packet = {
          ...{ source, destination, protocol: 17, ports: { source: 40_000, destination: 9_999 } },
          ...{ flags: null, dscp: 0, ecn: 0, ttl: 64, length, fragment: false },
        };
        const load = await replacedUnderLoad(network, edge, packet, { seconds: 15, replacements: 30 });
        console.warn(`${load.sent} packets over ${load.replaced} replacements`);
        expect([load.arrived, load.counted]).toEqual([0, load.sent]);
        expect(load.sent).toBeGreaterThan(100_000);
      },
    );
  },
);
