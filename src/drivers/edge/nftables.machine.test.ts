import { setTimeout as sleep } from 'node:timers/promises';
import { describeEdge } from './conformance.ts';
import { nftablesEdge } from './nftables/driver.ts';
import { edgeNetwork } from './suite/network.testbed.ts';

describeEdge(
  'nftables',
  async () => {
    const network = await edgeNetwork();
    const edge = nftablesEdge({ bridged: true, inside: network.inside });
    return {
      edge,
      send: network.send,
      sendPaced: network.sendPaced,
      async until(isSo) {
        while (!(await isSo())) await sleep(50);
      },
      async close() {
        await edge.close();
        await network.close();
      },
    };
  },
  { randomPackets: 10_000 },
);
