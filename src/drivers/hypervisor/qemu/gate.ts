import type { MachineSpec } from '../contract.ts';
import { tableName } from './guard.ts';

/** Small packets cost as much as large ones; a full port of packets of about 600 bytes is within it. */
const packetsPerMbps = 200;
const leastPackets = 10_000;

/**
 * What goes to many is copied to every other guest, so it has a bound of its own, far above what an honest guest says to all:
 * it asks for its neighbours.
 */
const toMany =
  'ether daddr & 01:00:00:00:00:00 == 01:00:00:00:00:00 limit rate over 200/second burst 400 packets counter drop';

/** Whether a tap's gate, as nft lists it, is as this version makes it. */
export function isWholeGate(listed: string, rateLimit: boolean): boolean {
  return !rateLimit || listed.includes('limit rate over 200/second burst 400 packets');
}

/**
 * What stands where frames leave the tap, before the bridge sees them: it takes frames to some addresses (link-local
 * multicast, IEEE 802.1Q 8.6.3) for its own, and gives them to the host past all rules of its own. The tap is there
 * already, and when it is new, not plugged and not up. Replaces what stood there as one transaction.
 */
export function gateRules(bridge: string, tap: string, nic: MachineSpec['nic'], rateLimit: boolean): string {
  const table = `netdev ${tableName(bridge)}`;
  const rules = [
    'ether daddr & ff:ff:ff:ff:ff:f0 == 01:80:c2:00:00:00 counter drop',
    `ether saddr != ${nic.mac} counter drop`,
    'meta protocol != { ip, ip6, arp } counter drop',
    'icmpv6 type { nd-router-advert, nd-redirect } counter drop',
    ...(rateLimit ? [toMany, `${bytesOf(nic.portMbps)} drop`, `${packetsOf(nic.portMbps)} drop`] : []),
  ];
  return [
    `add table ${table}`,
    `add chain ${table} ${tap} { type filter hook ingress device "${tap}" priority -500; policy accept; }`,
    `flush chain ${table} ${tap}`,
    ...rules.map((rule) => `add rule ${table} ${tap} ${rule}`),
    '',
  ].join('\n');
}

/** Removes a tap's gate, whether or not it, or the tap, is there: what is deleted is added first. */
export function gateRemoval(bridge: string, tap: string): string {
  const chain = `netdev ${tableName(bridge)} ${tap}`;
  const table = `netdev ${tableName(bridge)}`;
  return `add table ${table}\nadd chain ${chain}\nflush chain ${chain}\ndelete chain ${chain}\n`;
}

/** The host takes part in nothing on a tap: no address, no answers, no belief in what comes from it. */
export function tapSysctls(tap: string): string[] {
  const v4 = ['rp_filter=1', 'arp_ignore=8', 'arp_accept=0', 'proxy_arp=0', 'forwarding=0'];
  const v4Closed = ['accept_redirects=0', 'send_redirects=0', 'accept_source_route=0'];
  const v6 = ['disable_ipv6=1', 'accept_ra=0', 'autoconf=0', 'accept_redirects=0', 'proxy_ndp=0'];
  return [
    ...[...v4, ...v4Closed].map((each) => `net.ipv4.conf.${tap}.${each}`),
    ...v6.map((each) => `net.ipv6.conf.${tap}.${each}`),
  ];
}

/** What the guest sends above its rate is dropped; a tenth of a second's worth may come at once. */
function bytesOf(portMbps: number): string {
  const kbytesPerSecond = Math.ceil((portMbps * 1000) / 8);
  return `limit rate over ${kbytesPerSecond} kbytes/second burst ${Math.max(64, Math.ceil(kbytesPerSecond / 10))} kbytes`;
}

function packetsOf(portMbps: number): string {
  const perSecond = Math.max(leastPackets, portMbps * packetsPerMbps);
  return `limit rate over ${perSecond}/second burst ${Math.ceil(perSecond / 10)} packets`;
}
