import { type Example, exampleIds, onlyPage } from '../platform/http/index.ts';
import { attack, attackId, attackInfo as info, mitigation } from './examples.ts';

const product = {
  id: 1,
  name: 'VPS',
  level: null,
  mode: 'enabled',
  mitigation: null,
  thresholds: { udp: { pps: 40_000 } },
};

const edgeId = 1;
const edge = {
  id: edgeId,
  name: 'node-1 routers',
  kind: 'routers',
  node: { id: 1, name: 'node-1', reachable: true },
  engine: 'bgp',
  reason: null,
  capabilities: [],
  served: true,
  health: {
    seen_at: '2026-01-31T12:00:00.000Z',
    error: null,
    error_since: null,
    full_kinds: [],
    full_since: null,
    peers_down_since: null,
  },
  nodes: null,
  moving: null,
  routers: {
    prefixes: ['203.0.113.0/24'],
    most_routes: 1_000,
    rule_routes: 200,
    blackholes: true,
    communities: ['64500:666'],
    next_hop4: '192.0.2.1',
    next_hop6: null,
    routes: 3,
    peers: [
      {
        address: '192.0.2.254',
        asn: 64_500,
        state: 'established',
        refusals: 0,
        takes: [{ kind: 'flow', family: 4, announced: 3 }],
      },
    ],
  },
};
const prefix = {
  id: 1,
  edge: { id: edgeId, name: edge.name },
  network: '203.0.113.0/24',
  created_at: '2026-01-31T12:00:00.000Z',
};
const ofOrganization = {
  organization: { id: exampleIds.organization, name: 'Example GmbH' },
  service_id: 4503599627370801,
};
const attackOfStaff = { ...attack, ...ofOrganization };
const organization = { id: exampleIds.organization, name: 'Example GmbH', blackholes: 'allowed' };

export const staffExamples = {
  listShieldEdges: { query: { kind: 'routers' }, data: { edges: [edge], ...onlyPage(1) } },
  getShieldEdge: { params: { id: edgeId }, data: { edge } },
  updateShieldEdge: {
    params: { id: edgeId },
    body: { rule_routes: 200, blackholes: true, communities: ['64500:666'], next_hop4: '192.0.2.1' },
    data: { edge },
  },
  removeShieldEdge: { params: { id: edgeId }, data: {} },
  listShieldAnnouncements: {
    params: { id: edgeId },
    data: {
      announcements: [
        {
          address: '203.0.113.10',
          organization_id: organization.id,
          service_id: ofOrganization.service_id,
          measure: 'flowspec',
          rules: 3,
          in_force: true,
          since: '2026-01-31T12:00:09.000Z',
          error: null,
        },
      ],
      ...onlyPage(1),
    },
  },
  listShieldRulesAtRouters: {
    params: { id: edgeId },
    data: {
      rules: [
        {
          address: '203.0.113.10',
          organization_id: organization.id,
          routes: 1,
          left_out: [{ rule: 1_873_920_411, why: 'rule 1873920411: FlowSpec does not look at the TTL' }],
          error: null,
          updated_at: '2026-01-31T12:00:00.000Z',
        },
      ],
      ...onlyPage(1),
    },
  },
  listShieldPrefixes: { data: { prefixes: [prefix], ...onlyPage(1) } },
  addShieldPrefix: { body: { edge_id: edgeId, network: '203.0.113.0/24' }, data: { prefix } },
  getShieldPrefix: { params: { id: 1 }, data: { prefix } },
  removeShieldPrefix: { params: { id: 1 }, data: {} },
  listShieldAddressLists: {
    data: {
      address_lists: [
        {
          ...{
            name: 'cloudflare',
            title: 'Cloudflare',
            dated: '2023-09-28',
            source: 'https://www.cloudflare.com/ips/',
          },
          ...{ prefixes: { ipv4: 15, ipv6: 7 }, presets: ['allow-cf-web'] },
        },
      ],
    },
  },
  listAttacksAsStaff: { query: { going: false }, data: { attacks: [attackOfStaff], ...onlyPage(1) } },
  getAttackAsStaff: {
    params: { id: attackId },
    data: { attack: attackOfStaff, info },
    beside: { notices: [{ text: 'IP Geolocation by DB-IP', url: 'https://db-ip.com' }] },
  },
  releaseMitigationAsStaff: { params: { id: mitigation.id }, data: { mitigation } },
  getShieldOrganization: { params: { id: organization.id }, data: { organization } },
  updateShieldOrganization: {
    params: { id: organization.id },
    body: { blackholes: 'allowed' },
    data: { organization },
  },
  listShieldProducts: { data: { products: [product], ...onlyPage(1) } },
  getShieldProduct: { params: { id: 1 }, data: { product } },
  updateShieldProduct: {
    params: { id: 1 },
    body: { mode: 'enabled', thresholds: { udp: { pps: 40_000 } } },
    data: { product },
  },
} satisfies Record<string, Example>;
