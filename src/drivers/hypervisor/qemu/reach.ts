import ipaddr from 'ipaddr.js';
import { callRules, type Most } from './calls.ts';
import { tableName } from './guard.ts';
import type { BridgeOptions } from './options.ts';

/**
 * Networks that are nobody's in the world, and so the provider's own: private, shared (RFC 6598), link-local with the
 * metadata services of rented hosts, loopback, unique local, and IPv6 that stands for IPv4.
 */
const inside = {
  v4: [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.168.0.0/16',
  ],
  v6: ['::/96', '::ffff:0:0/96', '64:ff9b::/96', 'fc00::/7', 'fe80::/10'],
};
interface Networks {
  v4: string[];
  v6: string[];
}

/**
 * What guests reach beyond the bridge: the world, the networks on the bridge, and what settings open; of the host only
 * ICMP, with neighbour discovery in it, and the ports that it offers. What answers others is always let through.
 */
export function reachRules(
  bridge: BridgeOptions,
  netbootUrl: string | null,
  most: Most,
  timeouts: boolean,
): string {
  const table = `inet ${tableName(bridge.name)}_reach`;
  const open = byFamily([...bridge.addresses, ...(bridge.reach?.networks ?? [])]);
  const limited = (['ip', 'ip6'] as const).map(
    (family) =>
      `ct state new add @flows${family === 'ip' ? 4 : 6} { ${family} saddr ct count over ${most.fromGuest} } counter drop`,
  );
  const chains = {
    to_host: [
      ...limited,
      'meta l4proto { icmp, icmpv6 } accept',
      ...(bridge.reach?.ports ?? []).map((port) => `${port.replace('/', ' dport ')} accept`),
      ...netboot(netbootUrl),
      'counter drop',
    ],
    onward: [
      ...limited,
      ...netboot(netbootUrl),
      ...rules('ip', open.v4, 'accept'),
      ...rules('ip6', open.v6, 'accept'),
      // Between neighbours; it gets here where the host's bridges ask the packet filter (br_netfilter).
      `oifname "${bridge.name}" ip6 daddr fe80::/10 accept`,
      ...rules('ip', inside.v4, 'counter drop'),
      ...rules('ip6', inside.v6, 'counter drop'),
    ],
  };
  const chain = (name: 'to_host' | 'onward', hook: string) => [
    `add chain ${table} ${name} { type filter hook ${hook} priority -10; policy accept; }`,
    `flush chain ${table} ${name}`,
    `add rule ${table} ${name} iifname != "${bridge.name}" accept`,
    `add rule ${table} ${name} ct state established,related accept`,
    ...chains[name].map((rule) => `add rule ${table} ${name} ${rule}`),
  ];
  return [
    `add table ${table}`,
    `add set ${table} flows4 { type ipv4_addr; flags dynamic; }`,
    `add set ${table} flows6 { type ipv6_addr; flags dynamic; }`,
    ...callRules(bridge.name, table, most, timeouts),
    ...chain('to_host', 'input'),
    ...chain('onward', 'forward'),
    '',
  ].join('\n');
}

/** What iPXE loads its program from, where the setting names an address and not a name of the world. */
function netboot(url: string | null): string[] {
  if (url === null) return [];
  const { protocol, hostname, port } = new URL(url.replaceAll(/\$\{[^}]*\}/g, 'x'));
  const address = hostname.replaceAll(/[[\]]/g, '');
  if (!ipaddr.isValid(address)) return [];
  const family = ipaddr.parse(address).kind() === 'ipv4' ? 'ip' : 'ip6';
  if (protocol === 'tftp:') return [`${family} daddr ${address} meta l4proto udp accept`]; // it answers from any port
  const standard = protocol === 'https:' ? '443' : '80';
  return [`${family} daddr ${address} tcp dport ${port || standard} accept`];
}

function rules(family: 'ip' | 'ip6', networks: readonly string[], verdict: string): string[] {
  return networks.map((network) => `${family} daddr ${network} ${verdict}`);
}

/** Networks in CIDR form, of addresses with or without a prefix. */
export function byFamily(addresses: readonly string[]): Networks {
  const networks: Networks = { v4: [], v6: [] };
  for (const address of addresses) {
    const [host = '', prefix] = address.split('/');
    if (ipaddr.parse(host).kind() === 'ipv4') {
      const bits = prefix ?? '32';
      networks.v4.push(`${ipaddr.IPv4.networkAddressFromCIDR(`${host}/${bits}`)}/${bits}`);
    } else {
      const bits = prefix ?? '128';
      networks.v6.push(`${ipaddr.IPv6.networkAddressFromCIDR(`${host}/${bits}`)}/${bits}`);
    }
  }
  return networks;
}
