import type { Match, Packet } from '../contract.ts';
import { type Family, flags } from './hands.testbed.ts';

export interface Case {
  says: string;
  match: Match;
  hits: Partial<Packet>[];
  misses: Partial<Packet>[];
}

function bitsFlipped(value: number, bits: number): number[] {
  return Array.from({ length: bits }, (_, bit) => value ^ (1 << bit));
}

const withoutPorts = { ports: null, flags: null };
/** Extension headers in IPv6: what follows them would be the protocol. */
const noProtocols = [0, 43, 44, 51, 59, 60, 135, 139, 140];

/** Each match, in both families: what it hits, and what it misses by one bit. */
export function cases(family: Family): Case[] {
  const at = (four: string, six: string) => (family === 4 ? four : six);
  const protocol = (value: number) =>
    value === 6 || value === 17
      ? { protocol: value, ...(value === 6 ? { flags: ['ack'] as const } : {}) }
      : { protocol: value, ...withoutPorts };
  const port = (side: 'source' | 'destination', value: number): Partial<Packet> => ({
    ports: { source: 1, destination: 1, [side]: value },
  });
  /** In IPv6 alone there are packets whose protocol cannot be told. */
  const untold: Partial<Packet>[] =
    family === 4 ? [] : [false, true].map((fragment) => ({ protocol: null, ...withoutPorts, fragment }));
  const sides = ['source', 'destination'] as const;
  return [
    {
      says: 'one source',
      match: { sources: [at('198.18.4.7/32', '2001:db8:4::7/128')] },
      hits: [{ source: at('198.18.4.7', '2001:db8:4::7') }],
      misses: [
        { source: at('198.18.4.6', '2001:db8:4::6') },
        { source: at('70.18.4.7', '2001:db8:8004::7') },
      ],
    },
    {
      says: 'networks as sources, one within another',
      match: {
        sources: [
          at('198.18.4.0/23', '2001:db8:4::/47'),
          at('198.18.5.0/24', '2001:db8:5::/48'),
          at('198.19.0.0/17', '2001:db8:f000::/36'),
        ],
      },
      hits: [
        { source: at('198.18.4.1', '2001:db8:4::') },
        { source: at('198.18.5.255', '2001:db8:5:ffff:ffff:ffff:ffff:ffff') },
        { source: at('198.19.127.255', '2001:db8:ffff::1') },
      ],
      misses: [
        { source: at('198.18.6.0', '2001:db8:6::') },
        { source: at('198.18.3.255', '2001:db8:3:ffff:ffff:ffff:ffff:ffff') },
        { source: at('198.19.128.0', '2001:db8:efff::1') },
      ],
    },
    ...[1, 4, 6, 17, 47, 50].map((each): Case => {
      const value = each === 1 && family === 6 ? 58 : each;
      const others = bitsFlipped(value, 8).filter((other) => !noProtocols.includes(other));
      return {
        says: `protocol ${value}`,
        match: { protocols: [[value, value]] },
        hits: [protocol(value)],
        misses: others.map(protocol),
      };
    }),
    {
      says: 'protocols from and to, and later parts of packets',
      match: {
        protocols: [
          [6, 6],
          [17, 50],
        ],
      },
      hits: [...[6, 17, 33, 50].map(protocol), { ...protocol(17), ...withoutPorts, fragment: true }],
      misses: [1, 16, 52].map(protocol),
    },
    {
      says: 'protocol, any',
      match: { protocols: [[0, 255]] },
      hits: [protocol(47), protocol(17), { ...protocol(17), ...withoutPorts, fragment: true }],
      misses: untold,
    },
    ...sides.flatMap((side): Case[] => {
      const name = side === 'source' ? 'sourcePorts' : 'destinationPorts';
      return [
        {
          says: `${side} port`,
          match: { [name]: [[5_353, 5_353]] },
          hits: [
            port(side, 5_353),
            { ...port(side, 5_353), ...protocol(6) },
            { ...port(side, 5_353), fragment: true },
          ],
          misses: [
            ...bitsFlipped(5_353, 16).map((value) => port(side, value)),
            port(side === 'source' ? 'destination' : 'source', 5_353),
            { ...port(side, 5_353), ...withoutPorts, fragment: true },
            protocol(47),
          ],
        },
        {
          says: `${side} ports, all but some`,
          match: {
            protocols: [[17, 17]],
            [name]: [
              [0, 52],
              [54, 122],
              [124, 65_535],
            ],
          },
          hits: [0, 52, 54, 122, 124, 65_535].map((value) => port(side, value)),
          misses: [port(side, 53), port(side, 123), { ...port(side, 0), ...protocol(6) }],
        },
        {
          says: `${side} port, any`,
          match: { [name]: [[0, 65_535]] },
          hits: [port(side, 0), port(side, 65_535), { ...port(side, 7), ...protocol(6) }],
          misses: [protocol(47), { ...withoutPorts, fragment: true }, ...untold],
        },
      ];
    }),
    ...flags.flatMap((flag) =>
      [true, false].map((isSet): Case => {
        const [has, not]: [Partial<Packet>, Partial<Packet>] = [
          { protocol: 6, flags: [flag] },
          { protocol: 6, flags: flags.filter((each) => each !== flag) },
        ];
        return {
          says: `${flag} ${isSet ? 'set' : 'not set'}`,
          match: { flags: { [flag]: isSet } },
          hits: [isSet ? has : not],
          misses: [isSet ? not : has, {}, { protocol: 6, ...withoutPorts, fragment: true }, ...untold],
        };
      }),
    ),
    {
      says: 'syn without ack',
      match: { flags: { syn: true, ack: false } },
      hits: [
        { protocol: 6, flags: ['syn'] },
        { protocol: 6, flags: ['syn', 'psh', 'urg'] },
      ],
      misses: [
        { protocol: 6, flags: ['syn', 'ack'] },
        { protocol: 6, flags: [] },
        { protocol: 6, flags: ['ack'] },
      ],
    },
    {
      says: 'dscp',
      match: { dscp: [[46, 46]] },
      hits: [
        { dscp: 46, ecn: 0 },
        { dscp: 46, ecn: 3 },
      ],
      misses: bitsFlipped(46, 6).map((dscp) => ({ dscp })),
    },
    {
      says: 'dscp from and to',
      match: {
        dscp: [
          [0, 9],
          [20, 40],
          [63, 63],
        ],
      },
      hits: [0, 9, 20, 40, 63].map((dscp) => ({ dscp })),
      misses: [10, 19, 41, 62].map((dscp) => ({ dscp })),
    },
    ...[0, 1, 2, 3].map((ecn): Case => {
      return {
        says: `ecn ${ecn}`,
        match: { ecn: [[ecn, ecn]] },
        hits: [{ ecn }],
        misses: bitsFlipped(ecn, 2).map((other) => ({ ecn: other })),
      };
    }),
    {
      says: 'ecn all but one',
      match: {
        ecn: [
          [0, 1],
          [3, 3],
        ],
      },
      hits: [{ ecn: 0 }, { ecn: 1 }, { ecn: 3 }],
      misses: [{ ecn: 2 }],
    },
    {
      says: 'ttl',
      match: { ttl: [[85, 85]] },
      hits: [{ ttl: 85 }],
      misses: bitsFlipped(85, 8).map((ttl) => ({ ttl })),
    },
    {
      says: 'ttl above, and below',
      match: {
        ttl: [
          [0, 5],
          [250, 255],
        ],
      },
      hits: [{ ttl: 5 }, { ttl: 250 }, { ttl: 255 }],
      misses: [{ ttl: 6 }, { ttl: 249 }],
    },
    {
      says: 'length',
      match: {
        lengths: [
          [100, 100],
          [512, 600],
        ],
      },
      hits: [{ length: 100 }, { length: 512 }, { length: 600 }],
      misses: [...bitsFlipped(100, 5), 511, 601].map((length) => ({ length })),
    },
    {
      says: 'parts of packets',
      match: { fragment: true },
      hits: [{ fragment: true }, { ...withoutPorts, fragment: true }],
      misses: [{}, protocol(47)],
    },
    {
      says: 'whole packets',
      match: { fragment: false },
      hits: [{}, protocol(47)],
      misses: [{ fragment: true }, { ...withoutPorts, fragment: true }],
    },
    {
      says: 'everything at once',
      match: {
        sources: [at('198.18.0.0/15', '2001:db8::/32')],
        protocols: [[17, 17]],
        sourcePorts: [[1_024, 65_535]],
        destinationPorts: [[27_015, 27_030]],
        dscp: [[0, 0]],
        ecn: [[0, 0]],
        ttl: [[32, 128]],
        lengths: [[60, 128]],
        fragment: false,
      },
      hits: [{ ports: { source: 1_024, destination: 27_020 }, dscp: 0, ecn: 0 }],
      misses: [
        { ports: { source: 1_023, destination: 27_020 }, dscp: 0, ecn: 0 },
        { ports: { source: 1_024, destination: 27_031 }, dscp: 0, ecn: 0 },
        { ports: { source: 1_024, destination: 27_020 }, dscp: 0, ecn: 1 },
        { ports: { source: 1_024, destination: 27_020 }, dscp: 0, ecn: 0, ttl: 129 },
        { ports: { source: 1_024, destination: 27_020 }, dscp: 0, ecn: 0, length: 129 },
      ],
    },
    {
      says: 'every packet',
      match: {},
      hits: [{}, protocol(47), protocol(6), { ...withoutPorts, fragment: true }, ...untold],
      misses: [],
    },
  ];
}
