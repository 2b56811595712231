import ipaddr from 'ipaddr.js';
import type { MachineSpec } from '../contract.ts';
import { tapPrefix } from './files.ts';

/** Name of our packet-filter tables; nftables wants letters, digits and underscores to start with a letter. */
export function tableName(bridge: string): string {
  return `innkeeper_${bridge.replaceAll(/[^a-zA-Z0-9]/g, '_')}`;
}

/**
 * The part of the rules that is there before any machine: what a guest sends goes through its own chain, and
 * what comes from a tap that has no chain is dropped. Other ports of the bridge are not our business.
 */
export function baseRules(bridge: string): string {
  const table = `bridge ${tableName(bridge)}`;
  return `
add table ${table}
add map ${table} guests { type ifname : verdict; }
add chain ${table} from_guests { type filter hook prerouting priority -300; policy accept; }
flush chain ${table} from_guests
add rule ${table} from_guests iifname vmap @guests
add rule ${table} from_guests iifname "${tapPrefix(bridge)}*" counter drop
`;
}

/**
 * Holds one tap to its machine's MAC and addresses. A guest can neither take another's address (in ARP, in
 * neighbour discovery, as a source), nor play router or DHCP server, nor send anything but ARP and IP. Replaces
 * the tap's rules as one transaction, so that no packet passes in between.
 */
export function guardRules(bridge: string, tap: string, nic: MachineSpec['nic']): string {
  const table = `bridge ${tableName(bridge)}`;
  const chain = `${table} ${tap}`;
  const v4 = nic.addresses.filter((each) => each.family === 4).map((each) => each.address);
  const v6 = nic.addresses.filter((each) => each.family === 6).map((each) => each.address);
  v6.push(linkLocalAddress(nic.mac));
  const rules = [
    `ether saddr != ${nic.mac} counter drop`,
    'ether type { 8021q, 8021ad } counter drop',
    ...(v4.length > 0 ? [...arpRules(nic.mac, set(v4)), ...ipv4Rules(set(v4))] : []),
    ...ipv6Rules(v6),
    'counter drop',
  ];
  return [
    `add chain ${chain}`,
    `flush chain ${chain}`,
    ...rules.map((rule) => `add rule ${chain} ${rule}`),
    `add element ${table} guests { "${tap}" : jump ${tap} }`,
    '',
  ].join('\n');
}

/** Removes a tap's rules, whether or not they are there: what is deleted is added first. */
export function removalRules(bridge: string, tap: string): string {
  const table = `bridge ${tableName(bridge)}`;
  return `${baseRules(bridge)}
add chain ${table} ${tap}
add element ${table} guests { "${tap}" : jump ${tap} }
delete element ${table} guests { "${tap}" }
flush chain ${table} ${tap}
delete chain ${table} ${tap}
`;
}

/** Lets guests reach the world behind the host's address. `networks` in CIDR form. */
export function natRules(bridge: string, networks: { v4: string[]; v6: string[] }): string {
  const table = `inet ${tableName(bridge)}`;
  const rule = (family: string, network: string) =>
    `add rule ${table} to_world ${family} saddr ${network} ${family} daddr != ${network} oifname != "${bridge}" masquerade`;
  return [
    `add table ${table}`,
    `add chain ${table} to_world { type nat hook postrouting priority 100; }`,
    `flush chain ${table} to_world`,
    ...networks.v4.map((network) => rule('ip', network)),
    ...networks.v6.map((network) => rule('ip6', network)),
    '',
  ].join('\n');
}

function arpRules(mac: string, own: string): string[] {
  const arp = `ether type arp arp htype 1 arp ptype ip arp saddr ether ${mac}`;
  return [
    `${arp} arp saddr ip ${own} accept`,
    // A probe: "does anyone have my address?" comes from no address at all (RFC 5227).
    `${arp} arp operation request arp saddr ip 0.0.0.0 arp daddr ip ${own} accept`,
    'ether type arp counter drop',
  ];
}

function ipv4Rules(own: string): string[] {
  return [
    'ether type ip udp sport 67 counter drop',
    `ether type ip ip saddr ${own} accept`,
    'ether type ip counter drop',
  ];
}

function ipv6Rules(addresses: readonly string[]): string[] {
  const own = set(addresses);
  // The target address, bytes 8 to 24 of the message (RFC 4861 4.3): nft names it only from version 1.0.7 on.
  const ownTarget = set(
    addresses.map((address) => `0x${Buffer.from(ipaddr.parse(address).toByteArray()).toString('hex')}`),
  );
  return [
    'ether type ip6 icmpv6 type { nd-router-advert, nd-redirect } counter drop',
    'ether type ip6 udp sport 547 counter drop',
    `ether type ip6 icmpv6 type nd-neighbor-advert @th,64,128 != ${ownTarget} counter drop`,
    `ether type ip6 ip6 saddr ${own} accept`,
    // Duplicate address detection asks from no address (RFC 4862 5.4).
    `ether type ip6 ip6 saddr :: icmpv6 type nd-neighbor-solicit @th,64,128 ${ownTarget} accept`,
    'ether type ip6 counter drop',
  ];
}

/** The address a guest gives itself from its MAC (RFC 4291, appendix A). */
export function linkLocalAddress(mac: string): string {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = mac.split(':').map((part) => Number.parseInt(part, 16));
  const group = (high: number, low: number) => ((high << 8) | low).toString(16);
  return `fe80::${group(a ^ 2, b)}:${group(c, 0xff)}:${group(0xfe, d)}:${group(e, f)}`;
}

function set(values: readonly string[]): string {
  return `{ ${values.join(', ')} }`;
}
