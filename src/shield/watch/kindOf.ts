import { type Head, reflectors } from '../../drivers/edge/index.ts';
import { carriers } from './detect.ts';
import type { Kind } from './limits.ts';

const [icmp, tcp, udp, icmp6] = [1, 6, 17, 58];
const [syn, ack] = [2, 16];

/** Which kind of traffic a packet is of. */
export function kindOf({ protocol, sourcePort, flags, fragment }: Head): Exclude<Kind, 'total'> {
  if (protocol === udp && sourcePort in reflectors && !carriers.includes(sourcePort)) return 'reflection';
  if (fragment) return 'fragments';
  if (protocol === tcp) return flags >= 0 && (flags & (syn | ack)) === syn ? 'syn' : 'ack';
  if (protocol === udp) return 'udp';
  return protocol === icmp || protocol === icmp6 ? 'icmp' : 'other';
}
