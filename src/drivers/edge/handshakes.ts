import type { Packet, Ranges } from './contract.ts';
import { addressNumber, isIn, parsePrefix } from './prefix.ts';
import { inRanges } from './ranges.ts';

/** What becomes of a packet that the policy permits. `answered`: of a SYN; it gets no further. */
export type Handshake = 'passes' | 'answered' | 'dropped';

/** Longer than an acknowledgement alone with all of its options: it carries data, of a connection that is there already. */
export const longestAcknowledgement = { 4: 80, 6: 100 } as const;

/**
 * What a synproxy does, as far as rules can see packets: who acknowledges without having opened anything is dropped, and who has opened
 * and then acknowledges was there to hear the answer.
 */
export function handshakesOf(ports: Ranges, exempt: readonly string[]): (packet: Packet) => Handshake {
  const networks = exempt.map(parsePrefix);
  const opening = new Set<string>();
  const proven = new Set<string>();
  return ({ source, destination, ports: used, flags, length }) => {
    if (used === null || flags === null || !inRanges(ports, used.destination)) return 'passes';
    if (networks.some((network) => isIn(network, addressNumber(source)))) return 'passes';
    const has = (flag: (typeof flags)[number]) => flags.includes(flag);
    if (has('fin') || has('rst')) return 'passes';
    const connection = `${source} ${used.source} ${destination} ${used.destination}`;
    if (has('syn') && !has('ack')) {
      proven.delete(connection);
      opening.add(connection);
      return 'answered';
    }
    const isAlone = !has('syn') && !has('psh') && has('ack');
    if (!isAlone || length > longestAcknowledgement[source.includes(':') ? 6 : 4]) return 'passes';
    if (opening.delete(connection)) proven.add(connection);
    return proven.has(connection) ? 'passes' : 'dropped';
  };
}
