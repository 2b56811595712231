import { readFile } from 'node:fs/promises';
import type { Connections } from './options.ts';

/*
 * What others begin to a guest stands in the host's table of connections, which is everybody's: full, no guest and no service of
 * the host gets a new one. Whoever calls a guest may be its own accomplice, or somebody who means it ill, so a guest has a part
 * of the table, and each who calls it a part of that.
 */

/** How many connections are followed at a time: those that a guest begins, those to it, and those to it from one source. */
export interface Most extends Connections {
  fromOne: number;
}

/** What the kernel has room for where it has 4 GiB of memory and nobody says otherwise. */
const usualTable = 262_144;
const mostFromGuest = 10_000;

/**
 * The kernel looks through a whole list for each new connection, so long ones are cut: by a secret hash, so that nobody chooses
 * the part that he fills. Parts shorter than that would be full at very different times.
 */
const mostParts = 64;
const leastOfPart = 256;

/** How many connections the host's table holds; null before anything has asked for them. */
export async function tableSize(): Promise<number | null> {
  const text = await readFile('/proc/sys/net/netfilter/nf_conntrack_max', 'latin1').catch(() => null);
  return text === null ? null : Number(text);
}

/** What was not set follows from the size of the host's table. */
export function mostConnections(set: Partial<Connections> = {}, table: number | null): Most {
  const toGuest = set.toGuest ?? Math.max(1, Math.floor((table ?? usualTable) / 4));
  return { fromGuest: set.fromGuest ?? mostFromGuest, toGuest, fromOne: Math.ceil(toGuest / 4) };
}

/**
 * The rules for connections to guests. With `timeouts` they are forgotten soon where nobody answers, which is how floods look, and
 * two hours after the last word where somebody did: keep-alives of TCP come every two (RFC 1122 4.2.3.6). What is forgotten and
 * goes on is a new connection again.
 */
export function callRules(bridge: string, table: string, most: Most, timeouts: boolean): string[] {
  const chain = `${table} inward`;
  const limits = (['ip', 'ip6'] as const).flatMap((family) => {
    const version = family === 'ip' ? 4 : 6;
    // In IPv6 whoever has one address has a whole network of them.
    const source = family === 'ip' ? 'ip saddr' : 'ip6 saddr & ffff:ffff:ffff:ffff::';
    const limit = (set: string, key: string, connections: number, hashed: string) => {
      const parts = Math.max(1, Math.min(mostParts, Math.floor(connections / leastOfPart)));
      const of = `jhash ${hashed} mod ${parts}`;
      return `add @${set}${version} { ${key} . ${of} ct count over ${Math.ceil(connections / parts)} } counter drop`;
    };
    const byPort = (rule: (port: string) => string) => [
      `meta l4proto { tcp, udp } ${rule(' . th sport')}`,
      `meta l4proto != { tcp, udp } ${rule('')}`,
    ];
    return [
      ...byPort((port) =>
        limit('callers', `${source} . ${family} daddr`, most.fromOne, `${family} saddr${port}`),
      ),
      ...byPort((port) => limit('called', `${family} daddr`, most.toGuest, `${family} saddr${port}`)),
    ];
  });
  return [
    ...[4, 6].flatMap((version) => {
      const address = `ipv${version}_addr`;
      return [
        `add set ${table} callers${version} { type ${address} . ${address} . mark; flags dynamic; }`,
        `add set ${table} called${version} { type ${address} . mark; flags dynamic; }`,
        // What stands in them keeps the limit that it came with.
        `flush set ${table} callers${version}`,
        `flush set ${table} called${version}`,
      ];
    }),
    ...(timeouts
      ? [
          `add ct timeout ${table} calls_tcp { protocol tcp; l3proto ip; policy = { syn_sent: 10, syn_recv: 10, established: 7500, time_wait: 10 }; }`,
          `add ct timeout ${table} calls_udp { protocol udp; l3proto ip; policy = { unreplied: 10 }; }`,
        ]
      : []),
    `add chain ${chain} { type filter hook forward priority -11; policy accept; }`,
    `flush chain ${chain}`,
    `add rule ${chain} oifname != "${bridge}" accept`,
    `add rule ${chain} ct state != new accept`,
    ...(timeouts
      ? (['tcp', 'udp'] as const).map(
          (protocol) => `add rule ${chain} meta l4proto ${protocol} ct timeout set "calls_${protocol}"`,
        )
      : []),
    ...limits.map((rule) => `add rule ${chain} ${rule}`),
  ];
}
