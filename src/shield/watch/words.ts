import { reflectors } from '../../drivers/edge/index.ts';
import type { Kind } from './limits.ts';

/** How services that reflect are written; the others in capitals. */
const written: Readonly<Record<string, string>> = {
  chargen: 'CHARGEN',
  portmap: 'portmap',
  netbios: 'NetBIOS',
  ripv1: 'RIPv1',
  openvpn: 'OpenVPN',
  ws_discovery: 'WS-Discovery',
  mdns: 'mDNS',
  coap: 'CoAP',
  ubiquiti: 'Ubiquiti',
  memcached: 'memcached',
};

const names = {
  fragments: 'Fragment flood',
  reflection: 'Reflection',
  syn: 'TCP SYN flood',
  ack: 'TCP ACK flood',
  udp: 'UDP flood',
  icmp: 'ICMP flood',
  other: 'Flood of other protocols',
  total: 'Flood',
} as const satisfies Record<Kind, string>;

/** What an attack is called: `DNS reflection`, `UDP flood`. Never empty. */
export function nameOfAttack({ kind, of }: { kind: Kind; of: number | null }): string {
  const service = kind === 'reflection' && of !== null ? reflectors[of] : undefined;
  if (service === undefined) return names[kind];
  return `${written[service] ?? service.toUpperCase()} reflection`;
}
