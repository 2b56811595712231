import { games } from './games.ts';
import { cloudflare, ofFamily, resolvers } from './lists.ts';
import {
  denyAt,
  malformed,
  type Preset,
  type PresetRule,
  permitAt,
  ports,
  type RuleParts,
  tcp,
  udp,
  vectors,
} from './parts.ts';

function rule(action: 'permit' | 'deny', protocol: 6 | 17, parts: RuleParts): PresetRule {
  const nothing = { source: null, source_port: null, destination_port: null, matches: [], rate: null };
  return { action, protocol, order: action === 'permit' ? permitAt : denyAt, ...nothing, ...parts };
}

/** All of them, by the name that requests use. */
export const presets: readonly Preset[] = [
  {
    name: 'allow-cf-web',
    title: 'Web through Cloudflare alone',
    description:
      'Lets Cloudflare and the addresses in `ips` reach TCP ports 80 and 443, and drops what others send there.',
    ips: 'May reach both ports as well',
    ports: null,
    list: cloudflare,
    dated: cloudflare.dated,
    sources: cloudflare.source,
    rules: (family, ips) => [
      ...[...ofFamily(cloudflare, family), ...ips].map((source) =>
        rule('permit', tcp, { source, destination_port: ports(80, 443) }),
      ),
      rule('deny', tcp, { destination_port: ports(80, 443) }),
    ],
  },
  {
    name: 'allow-common-dns',
    title: 'Answers of common DNS resolvers alone',
    description:
      'Lets answers of Cloudflare’s, Google’s, Quad9’s and OpenDNS’ resolvers and of those in `ips` in, and drops all other UDP from port 53, by which DNS is misused to flood.',
    ips: 'Resolvers of your own',
    ports: null,
    list: resolvers,
    dated: resolvers.dated,
    sources: resolvers.source,
    rules: (family, ips) => [
      ...[...ofFamily(resolvers, family), ...ips].map((source) =>
        rule('permit', udp, { source, source_port: ports(53) }),
      ),
      rule('deny', udp, { source_port: ports(53) }),
    ],
  },
  {
    name: 'block-ssh',
    title: 'No SSH from outside',
    description: 'Drops TCP to port 22, but from the addresses in `ips`.',
    ips: 'May reach SSH all the same',
    ports: null,
    dated: null,
    sources: null,
    rules: (_, ips) => [
      ...ips.map((source) => rule('permit', tcp, { source, destination_port: ports(22) })),
      rule('deny', tcp, { destination_port: ports(22) }),
    ],
  },
  {
    name: 'block-rdp',
    title: 'No RDP from outside',
    description: 'Drops TCP and UDP to port 3389, but from the addresses in `ips`.',
    ips: 'May reach RDP all the same',
    ports: null,
    dated: null,
    sources: null,
    rules: (_, ips) => [
      ...ips.flatMap((source) => [
        rule('permit', tcp, { source, destination_port: ports(3389) }),
        rule('permit', udp, { source, destination_port: ports(3389) }),
      ]),
      rule('deny', tcp, { destination_port: ports(3389) }),
      rule('deny', udp, { destination_port: ports(3389) }),
    ],
  },
  {
    name: 'block-common-vectors',
    title: 'None of the common floods',
    description:
      'Drops UDP from ports whose services are misused to reflect floods (all but DNS and NTP, of which answers are wanted), and TCP with flags that no system sends.',
    ips: null,
    ports: null,
    dated: '2023-04-25',
    sources:
      'https://www.cisa.gov/news-events/alerts/2014/01/17/udp-based-amplification-attacks, and the advisories that named others since, up to that of SLP',
    rules: () => [
      rule('deny', udp, { source_port: ports(...vectors) }),
      ...malformed.map((matches) => rule('deny', tcp, { matches })),
    ],
  },
  ...games,
];
