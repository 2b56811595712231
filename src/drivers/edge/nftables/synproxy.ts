import type { Match, Measure } from '../contract.ts';
import { longestAcknowledgement } from '../handshakes.ts';
import { type Network, shortText } from '../prefix.ts';
import { conditions, sourcesMatch, type Text, unmatchedMark } from './compile.ts';
import type { Listing } from './kernel.ts';

/**
 * The kernel's synproxy stands in the forward hook, behind connection tracking, by which it knows how far what both sides count differs.
 * A SYN goes through connection tracking like others do: only so an old connection that has ended makes way, when its client comes back
 * from the same port. Untracked, as is often seen, the client's answer is taken for one of the old connection, and both sides wait for
 * ever. One that the guest has reset does not make way: it is forgotten after a second, until when its client's SYN is dropped, which
 * comes again.
 *
 * All of this is there while a measure wants it, and as long after it as connections live that were made so.
 */
const chainOf = (writing: string) => `${writing}_syn`;

/** What stands around the chains of measures: whether it is as we wrote it, and leaves out connections of others. */
export interface Around {
  state: 'absent' | 'broken' | 'whole';
  leavesOut: boolean;
}

const families = [4, 6] as const;
/** As the driver writes them: others are somebody else's doing. */
const ruleCounts = { handshakes: 5, opened: 2 } as const;
const trackedRules = 9;
export const aroundChains = ['handshakes', 'opened', 'tracked'] as const;
/** Of connections made by a synproxy: that long after their last packet nothing is kept for them any more. */
const adjustedFor = 'size 65536; flags dynamic,timeout; timeout 1h;';
/** IPS_SEQ_ADJUST of linux/netfilter/nf_conntrack_common.h, of which nft has no name. */
const isAdjusted = 'ct direction original ct status & 64 == 64';
/** No state of TCP but that after a reset ends so soon; of a kernel that does not know ours yet it is ten. */
const isAboutToEnd = 'ct expiration <= 10s';

const words = {
  4: { address: 'ip', type: 'ipv4_addr' },
  6: { address: 'ip6', type: 'ipv6_addr' },
} as const;

/** What is told to each end of a segment's size: that of Ethernet. */
const mss = { 4: 1_460, 6: 1_440 } as const;

/** The text of a measure with its synproxy, if it is to have one. */
export function withSynproxy(text: Text, network: Network, measure: Measure): Text {
  if (measure.kind !== 'filter' || measure.synproxy === undefined) return text;
  const { synproxy, exempt } = measure;
  const { family } = network;
  const chain = chainOf(text.name);
  const add = (rule: string) => text.rules.push({ chain, text: rule, only: 'inet' });
  text.objects.push({ kind: 'chain', name: chain, spec: '', only: 'inet' });
  const spared = sourcesMatch(network, exempt);
  if (spared !== null) add(`${spared} return`);
  const answer = (match: Match, more: string, mark: string) =>
    add(
      [
        ...conditions({ destinationPorts: synproxy, ...match }, network),
        `ct state { new, invalid, untracked } ${more}synproxy mss ${mss[family]} ${mark}`,
      ].join(' '),
    );
  const opens = { fin: false, syn: true, rst: false, ack: false };
  answer({ flags: opens }, 'counter ', `comment "${unmatchedMark}"`);
  add(
    `${conditions({ destinationPorts: synproxy, flags: opens }, network).join(' ')} ${isAdjusted} ${isAboutToEnd} drop`,
  );
  // An answer to ours has no data yet, as it was told to wait. What has is of a connection from before.
  const acknowledges = { fin: false, syn: false, rst: false, psh: false, ack: true };
  answer({ flags: acknowledges, lengths: [[0, longestAcknowledgement[family]]] }, '', '');
  return text;
}

/** Whether a measure's text has one. */
export function hasSynproxy({ name, objects }: Text): boolean {
  return objects.some((each) => each.name === chainOf(name));
}

/** The writing's chain, where a measure has a synproxy. */
export function synproxyOf(
  { parts }: { parts: ReadonlyMap<string, readonly { name: string }[]> },
  writing: string,
): string | null {
  const chain = chainOf(writing);
  return (parts.get(writing) ?? []).some(({ name }) => name === chain) ? chain : null;
}

/** Has packets of a destination answered by this chain. */
export function proxying(at: string, network: Network, chain: string): string[] {
  const { family } = network;
  return [
    `add element ${at} proxied${family} { ${shortText(network)} }`,
    `add element ${at} handshakes${family} { ${shortText(network)} : goto ${chain} }`,
  ];
}

export function notProxying(at: string, network: Network): string[] {
  const { family } = network;
  return ['proxied', 'handshakes'].map(
    (name) => `delete element ${at} ${name}${family} { ${shortText(network)} }`,
  );
}

/** Chains that destinations lead to. */
export function proxiedBy({ maps }: Listing): Set<string> {
  const elements = families.flatMap((family) => maps.get(`handshakes${family}`) ?? []);
  return new Set(elements.flatMap(({ target }) => target ?? []));
}

/** As it is in the kernel. */
export function aroundOf({ chains }: Pick<Listing, 'chains'>): Around {
  const tracked = chains.get('tracked');
  const leavesOut = tracked !== undefined;
  if (!aroundChains.some((name) => chains.has(name))) return { state: 'absent', leavesOut };
  const isWhole =
    Object.entries(ruleCounts).every(([name, rules]) => chains.get(name)?.length === rules) &&
    (!leavesOut || tracked.length === trackedRules);
  return { state: isWhole ? 'whole' : 'broken', leavesOut };
}

/**
 * Can be repeated. Following connections halves the speed of forwarding, so those of addresses without a synproxy are left out, unless others
 * on this host follow them.
 */
export function aroundLines(at: string, leavesOut: boolean): string[] {
  const rule = (chain: string, text: string) => `add rule ${at} ${chain} ${text}`;
  const spares = families.flatMap((family) =>
    ['proxied', 'adjusted'].flatMap((set) =>
      ['daddr', 'saddr'].map((side) => `${words[family].address} ${side} @${set}${family} accept`),
    ),
  );
  return [
    ...families.flatMap((family) => [
      `add set ${at} proxied${family} { type ${words[family].type}; flags interval; }`,
      `add set ${at} adjusted${family} { type ${words[family].type}; ${adjustedFor} }`,
      `add map ${at} handshakes${family} { type ${words[family].type} : verdict; flags interval; }`,
    ]),
    // Right behind the policies, and before anything puts parts of packets together.
    ...(leavesOut
      ? [
          `add chain ${at} tracked { type filter hook prerouting priority -449; policy accept; }`,
          `flush chain ${at} tracked`,
          ...spares.map((text) => rule('tracked', text)),
          rule('tracked', 'notrack'),
        ]
      : []),
    ...families.map(
      (family) =>
        `add ct timeout ${at} reset${family} { protocol tcp; l3proto ${words[family].address}; policy = { close: 1 }; }`,
    ),
    `add chain ${at} opened { type filter hook output priority -150; policy accept; }`,
    `flush chain ${at} opened`,
    ...families.map((family) =>
      rule(
        'opened',
        `${words[family].address} daddr @proxied${family} meta l4proto tcp ct state new ct timeout set "reset${family}"`,
      ),
    ),
    // Before what others, such as the limits of our own bridges, make of new connections.
    `add chain ${at} handshakes { type filter hook forward priority -150; policy accept; }`,
    `flush chain ${at} handshakes`,
    rule('handshakes', 'meta l4proto != tcp accept'),
    ...families.map((family) =>
      rule('handshakes', `${isAdjusted} update @adjusted${family} { ${words[family].address} daddr }`),
    ),
    ...families.map((family) =>
      rule('handshakes', `${words[family].address} daddr vmap @handshakes${family}`),
    ),
  ];
}

/** With anything in them connections live that need what is here. */
export const adjustedSets = families.map((family) => {
  return { of: 'inet' as const, kind: 'set' as const, name: `adjusted${family}` };
});

/** All that `aroundLines` may have made, which it makes first: part of it may be gone. */
export function awayLines(at: string, { leavesOut }: Around): string[] {
  return [
    ...aroundLines(at, leavesOut),
    ...(leavesOut ? aroundChains : aroundChains.filter((name) => name !== 'tracked')).flatMap((name) => [
      `flush chain ${at} ${name}`,
      `delete chain ${at} ${name}`,
    ]),
    ...families.flatMap((family) => [
      `delete ct timeout ${at} reset${family}`,
      `delete map ${at} handshakes${family}`,
      `delete set ${at} adjusted${family}`,
      `delete set ${at} proxied${family}`,
    ]),
  ];
}
