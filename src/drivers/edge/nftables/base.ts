import { countedApart, otherProtocol } from '../counted.ts';
import { reflectors } from '../reflectors.ts';

/** The tables are ours alone; nobody else's are touched. */
export const table = 'innkeeper_edge';

/**
 * `inet` sees what is routed, before connection tracking puts parts of packets together (priority -400): behind that no rule
 * would see a fragment. `bridge` sees what one guest sends to another without the host's routing, and only that, so that
 * no packet meets a policy twice.
 */
export type TableFamily = 'inet' | 'bridge';
const hooks: Readonly<Record<TableFamily, string>> = {
  inet: 'type filter hook prerouting priority -450; policy accept;',
  bridge: 'type filter hook forward priority -450; policy accept;',
};

/** Kinds of what is held, by the maps that lead to it. A single address is found in a hash, a network in a tree. */
export const maps = {
  trials: ['trials', 'trialNets'],
  policies: ['policies', 'policyNets'],
  mitigations: ['mitigationNets', 'mitigationNets'],
} as const;

export type Kind = keyof typeof maps;

/** Leads to the counting, and from there to the measure, what has a measure and no policy. */
export const measured = 'measured';

/** What chains of a trace begin with: they stand before all others. */
export const tracePrefix = 'trace_';

/** Sets that count, and what is full when one is. */
export const countingSets = ['protocol', 'syn', 'fragment', 'reflection'] as const;
/** Elements; a flood of false protocols or of an IPv6 network's addresses does not take the kernel's memory. */
export const countedAtMost = 131_072;

/** Of what stands behind an address there: a protocol, or a port. */
export const numberBytes = { protocol: 1, syn: 0, fragment: 0, reflection: 2 } as const;

export const families = [4, 6] as const;
const countedFor = `size ${countedAtMost}; flags dynamic,timeout; timeout 5m; counter;`;

/** Of which families a table judges packets, and so which rule its first chain has. */
export type Families = readonly (4 | 6)[];

export function familiesMark(of: Families): string {
  return of.join(' ');
}

/** How many rules each chain of the base has: one that has others was touched by somebody. */
export function baseChains(judged: Families): Readonly<Record<string, number>> {
  const counting = { first4: 7, first6: 7, tcp4: 3, tcp6: 4, udp4: 3, udp6: 4 };
  return { edge: judged.length, edge4: 5, edge6: 5, ...counting };
}

/** All that is there before any policy. Can be repeated: maps and what they lead to stay, and packets meet either text. */
export function baseText(of: TableFamily, judged: Families): string {
  const at = `${of} ${table}`;
  const leads = (family: 4 | 6) => `meta protocol ${family === 4 ? 'ip' : 'ip6'} goto edge${family}`;
  const lines = [
    `add table ${at}`,
    `add chain ${at} edge { ${hooks[of]} }`,
    // What it says changes with the load, and stays over a repetition.
    `add chain ${at} sample`,
    `add set ${at} reflectors { type inet_service; elements = { ${Object.keys(reflectors).join(', ')} }; }`,
    ...families.flatMap((family) => familyText(at, family)),
    `flush chain ${at} edge`,
    // One by one: to look two up in a map takes longer.
    ...judged.map((family) => `add rule ${at} edge ${leads(family)} comment "${familiesMark(judged)}"`),
  ];
  return `${lines.join('\n')}\n`;
}

function familyText(at: string, family: 4 | 6): string[] {
  const [address, type] = family === 4 ? ['ip daddr', 'ipv4_addr'] : ['ip6 daddr', 'ipv6_addr'];
  const isFragment = family === 4 ? 'ip frag-off & 0x3fff != 0' : 'exthdr frag exists';
  const map = (name: string, flags: string) =>
    `add map ${at} ${name}${family} { type ${type} : verdict; ${flags} }`;
  const set = (name: string, key: string) => `add set ${at} ${name}${family} { type ${key}; ${countedFor} }`;
  const look = (name: string) => `${address} vmap @${name}${family}`;
  const count = `update @protocol${family} { ${address} . meta l4proto }`;
  const chain = (name: string, rules: string[]) => [
    `add chain ${at} ${name}${family}`,
    `flush chain ${at} ${name}${family}`,
    ...rules.map((rule) => `add rule ${at} ${name}${family} ${rule}`),
  ];
  return [
    map('trials', 'flags timeout;'),
    map('trialNets', 'flags interval,timeout;'),
    map('policies', ''),
    map('policyNets', 'flags interval;'),
    map('mitigationNets', 'flags interval;'),
    map(measured, 'flags interval;'),
    set('protocol', `${type} . inet_proto`),
    set('syn', type),
    set('fragment', type),
    set('reflection', `${type} . inet_service`),
    ...chain('tcp', [
      count,
      ...withHead(family, 'tcp flags & (syn | ack) == syn', `update @syn${family} { ${address} }`),
      look('mitigationNets'),
    ]),
    ...chain('udp', [
      count,
      ...withHead(family, 'udp sport @reflectors', `update @reflection${family} { ${address} . udp sport }`),
      look('mitigationNets'),
    ]),
    // Every policy begins with it: what is sent to those who are held is counted, whatever becomes of it. TCP and UDP go their own way, as
    // each packet would be held against the rules of all others too.
    ...chain('first', [
      'jump sample',
      `${isFragment} update @fragment${family} { ${address} }`,
      `meta l4proto 6 goto tcp${family}`,
      `meta l4proto 17 goto udp${family}`,
      `meta l4proto { ${countedApart.join(', ')} } ${count}`,
      `meta l4proto != { ${countedApart.join(', ')} } update @protocol${family} { ${address} . ${otherProtocol} }`,
      look('mitigationNets'),
    ]),
    // The last is for measures where no policy is.
    ...chain('edge', ['trials', 'trialNets', 'policies', 'policyNets', measured].map(look)),
  ];
}

/** For later parts of a packet: what stands where others have their ports is no port, and the kernel does not look. */
export const isLaterPart = { 4: 'ip frag-off & 0x1fff != 0', 6: 'frag frag-off != 0' } as const;

function withHead(family: 4 | 6, match: string, then: string): string[] {
  if (family === 4) return [`${match} ip frag-off & 0x1fff == 0 ${then}`];
  return [`${match} exthdr frag missing ${then}`, `${match} frag frag-off 0 ${then}`];
}
