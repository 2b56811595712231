import { describeEdge } from './conformance.ts';
import { memoryEdge } from './memory.ts';

describeEdge('memory', async () => {
  let now = 0;
  const edge = memoryEdge({ now: () => now });
  return {
    edge,
    async send(packets, { perSecond } = {}) {
      return packets.map((packet) => {
        if (perSecond !== undefined) now += 1000 / perSecond;
        return edge.pass(packet);
      });
    },
    async until(isSo) {
      while (!(await isSo())) now += 100;
    },
    close: () => edge.close(),
  };
});
