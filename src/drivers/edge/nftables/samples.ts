import type { Sample } from '../contract.ts';
import { packetOf } from '../headers.ts';
import { levels, samplesSince } from '../sampling.ts';
import type { Kernel } from './kernel.ts';
import { everywhere } from './lines.ts';
import { headBytes, logMessages, logOf, packetAttributes } from './log.ts';
import { type Listener, listen, textOf } from './netlink.ts';
import type { State } from './state.ts';
import type { Steps } from './steps.ts';

/** So many samples come together, where the load is such. */
const together = 64;

export interface Sampling {
  read(): Promise<Sample[]>;
  close(): Promise<void>;
}

/** Reads heads of packets out of the kernel's log, one in so many as it allows. The first reading begins it. */
export function samplingOf(
  kernel: Kernel,
  inside: (argv: readonly string[]) => readonly string[],
  group: number,
  { inTurn }: Pick<Steps, 'inTurn'>,
): Sampling {
  const samples = samplesSince(Date.now);
  let listener: Listener | null = null;
  /** What was written where, by us: another process, or another version of Innkeeper, may have looked otherwise. */
  let written: { state: State; oneIn: number } | null = null;

  const write = (oneIn: number) =>
    inTurn(async (state) => {
      if (written?.state === state && written.oneIn === oneIn) return;
      await kernel.load(everywhere(state, (_, at) => sampleLines(at, group, oneIn)));
      written = { state, oneIn };
    });

  return {
    async read() {
      const taken = samples.take();
      await write(taken.oneIn);
      if (!listener?.isOpen()) {
        listener = listen(inside, { asked: [logOf(group, together)] }, ({ type, attributes }) => {
          if (type !== logMessages.packet) return;
          const packet = packetOf(attributes.get(packetAttributes.payload) ?? Buffer.alloc(0));
          const standsFor = Number(textOf(attributes.get(packetAttributes.prefix)));
          if (packet !== null && standsFor >= 1) samples.add(packet, standsFor);
        });
      }
      await listener.ready;
      return taken.samples;
    },
    async close() {
      await listener?.close();
    },
  };
}

/** As one transaction with the rest: packets meet the rules before or these. Where nobody listens, nothing is logged. */
function sampleLines(at: string, group: number, oneIn: number): string[] {
  const { takenPerSecond: most, coarser, count } = levels;
  const others = (number: number) => (number === 1 ? [] : [`numgen random mod ${number} != 0 return`]);
  const rules = Array.from({ length: count }, (_, level) => [
    ...others(level === 0 ? oneIn : coarser),
    `limit rate ${most}/second burst ${most} packets ` +
      `log prefix "${oneIn * coarser ** level}" group ${group} snaplen ${headBytes} return`,
  ]).flat();
  return [`flush chain ${at} sample`, ...rules.map((rule) => `add rule ${at} sample ${rule}`)];
}
