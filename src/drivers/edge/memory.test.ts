import { describeEdge } from './conformance.ts';
import { memoryEdge } from './memory.ts';

describeEdge('memory', async () => {
  let now = 0;
  const edge = memoryEdge({ now: () => now });
  return {
    edge,
    send: async (packets) => packets.map((packet) => edge.pass(packet)),
    async sendPaced(packets, perSecond) {
      const atMs: number[] = [];
      const arrived = packets.map((packet) => {
        now += 1000 / perSecond;
        atMs.push(now);
        return edge.pass(packet);
      });
      return { arrived, atMs };
    },
    async until(isSo) {
      while (!(await isSo())) {
        now += 100;
        // What waits for the time of day gets its turn.
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    close: () => edge.close(),
  };
});
