import { Type } from 'typebox';
import {
  Choice,
  Day,
  Id,
  ListQuery,
  line,
  listOf,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../platform/http/index.ts';
import { kinds } from './addresses/words.ts';
import {
  AttackInfo,
  attackFields,
  Level,
  Mitigation,
  MitigationOfAttack,
  Mode,
  type Thresholds,
  thresholdsOf,
} from './schema.ts';

const ShieldProduct = named(
  'ShieldProduct',
  Type.Object({
    id: Id,
    name: Type.String(),
    level: Nullable(Level),
    mode: Nullable(Mode),
    mitigation: Nullable(Mitigation),
    thresholds: Type.Unsafe<Thresholds>(
      Type.Object(
        thresholdsOf((schema) => schema),
        { description: 'Instead of the level’s, by kind' },
      ),
    ),
  }),
  'What is so of the addresses of machines of a product until their owner says otherwise; null: as for all others',
);
export const ProductQuery = ListQuery({ sort: SortBy(['id'], 'id') });
export const ProductList = named('ShieldProductList', listOf('products', ShieldProduct));
export const ProductData = Type.Object({ product: ShieldProduct });
export const ProductChange = named(
  'ShieldProductChange',
  Strict({
    level: Type.Optional(Nullable(Level)),
    mode: Type.Optional(Nullable(Mode)),
    mitigation: Type.Optional(Nullable(Mitigation)),
    thresholds: Type.Optional(Nullable(Type.Unsafe<Thresholds>(Strict(thresholdsOf(Nullable))))),
  }),
);

const Network = Type.String({ examples: ['203.0.113.0/24'] });
const Family = Type.Unsafe<4 | 6>({ type: 'integer', enum: [4, 6] });
const Peer = named(
  'ShieldPeer',
  Type.Object({
    address: Type.String(),
    asn: Type.Integer(),
    state: Choice(['established', 'connecting', 'refusing', 'shut'], {
      description:
        'refusing: it is there, and broke off less than ten seconds ago, as a router does that takes fewer routes than it is told of. shut: gobgpd speaks to it no more until somebody says so there',
    }),
    refusals: Type.Integer({
      description: 'How often the router broke off, as it does when it is told of more routes than it takes',
    }),
    takes: Type.Array(
      Type.Object({ kind: Choice(['flow', 'blackhole']), family: Family, announced: Type.Integer() }),
      { description: 'Kinds of routes that it takes, and how many of each it has been told of' },
    ),
  }),
  'A router that gobgpd speaks to',
);
const most = Type.Integer({ minimum: 1, maximum: 100_000 });
const Community = Type.String({
  pattern: '^\\d{1,5}:\\d{1,5}$',
  'x-message': 'must be two numbers with a colon, such as 64500:666',
  examples: ['64500:666'],
});
const ShieldEdge = named(
  'ShieldEdge',
  Type.Object({
    id: Id,
    name: Type.String(),
    kind: Choice(['node', 'router', 'routers'], {
      description:
        'node: filters before its own machines; router: a host of ours that only filters, for machines of others; routers: not ours, told by BGP',
    }),
    node: Type.Object(
      { id: Id, name: Type.String(), reachable: Type.Boolean() },
      { description: 'Whose process speaks to it' },
    ),
    engine: Type.String({ examples: ['nftables'] }),
    reason: Nullable(Type.String({ description: 'Why nothing filters there' })),
    capabilities: Type.Array(Type.String(), { description: 'What it can of all that one may lack' }),
    served: Type.Boolean({ description: 'Whether its process spoke to it when it was started last' }),
    health: Type.Object({
      seen_at: Nullable(Timestamp),
      error: Nullable(Type.String()),
      error_since: Nullable(Timestamp),
      full_kinds: Type.Array(Type.String(), {
        description:
          'Traffic of which more is to be counted than there is room for: some attacks are not seen',
      }),
      full_since: Nullable(Timestamp),
      peers_down_since: Nullable(Timestamp),
    }),
    nodes: Nullable(
      Type.Array(Id, { description: 'Of a router: for the machines of which nodes it filters' }),
    ),
    moving: Nullable(
      Type.Array(Id, {
        description:
          'Of a router: nodes that it is about to filter for, or no more, and that go over at this moment',
      }),
    ),
    routers: Nullable(
      Type.Object({
        prefixes: Type.Array(Network, { description: 'The networks that they may be told of' }),
        most_routes: most,
        rule_routes: Type.Integer(),
        blackholes: Type.Boolean(),
        communities: Type.Array(Community),
        next_hop4: Nullable(Type.String()),
        next_hop6: Nullable(Type.String()),
        routes: Nullable(Type.Integer({ description: 'How many stand now; null while that is not known' })),
        peers: Type.Array(Peer),
      }),
    ),
  }),
  'What stands in front of addresses',
);
export const EdgeQuery = ListQuery({
  sort: SortBy(['id', 'name'], 'id'),
  kind: Type.Optional(Choice(['node', 'router', 'routers'])),
});
export const EdgeList = named('ShieldEdgeList', listOf('edges', ShieldEdge));
export const EdgeData = Type.Object({ edge: ShieldEdge });
const hop = (example: string) =>
  Type.Optional(
    Nullable(
      Type.String({
        minLength: 2,
        maxLength: 45,
        examples: [example],
        description: 'Where routers send what is for nowhere; null: the address of gobgpd',
      }),
    ),
  );
export const EdgeChange = named(
  'ShieldEdgeChange',
  Strict({
    name: Type.Optional(line(100)),
    most_routes: Type.Optional({ ...most, description: 'How many routes stand at most' }),
    rule_routes: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 50_000,
        description:
          'How many of them rules of customers may take, half at most; 0: routers are told of attacks alone',
      }),
    ),
    blackholes: Type.Optional(
      Type.Boolean({
        description:
          'Whether packets may be sent to nowhere there at all, where that is allowed for the address',
      }),
    ),
    communities: Type.Optional(
      Type.Array(Community, {
        maxItems: 10,
        description: 'What routes to nowhere bear besides that of RFC 7999',
      }),
    ),
    next_hop4: hop('192.0.2.1'),
    next_hop6: hop('100::1'),
    nodes: Type.Optional(
      Type.Array(Id, {
        maxItems: 1_000,
        description: 'Of a router: all nodes for the machines of which it filters',
      }),
    ),
  }),
);

const Announcement = named(
  'ShieldAnnouncement',
  Type.Object({
    address: Type.String(),
    organization_id: Id,
    service_id: Id,
    measure: Nullable(Choice(['flowspec', 'blackhole'], { description: 'Null: it is being withdrawn' })),
    rules: Type.Integer(),
    in_force: Type.Boolean(),
    since: Nullable(Timestamp),
    error: Nullable(Type.String()),
  }),
  'What routers are told against attacks on an address',
);
export const ByAddress = ListQuery({ sort: SortBy(['address'], 'address') });
export const AnnouncementList = named('ShieldAnnouncementList', listOf('announcements', Announcement));
const RulesAtRouters = named(
  'ShieldRulesAtRouters',
  Type.Object({
    address: Type.String(),
    organization_id: Id,
    routes: Type.Integer(),
    left_out: Type.Array(
      Type.Object({
        rule: Nullable(Type.Integer({ description: 'Null: what becomes of packets that no rule matches' })),
        why: Type.String(),
      }),
      { description: 'What routers cannot be told; what filters before the machine has it' },
    ),
    error: Nullable(Type.String()),
    updated_at: Timestamp,
  }),
  'What routers are told of the rules for an address',
);
export const RulesAtRoutersList = named('ShieldRulesAtRoutersList', listOf('rules', RulesAtRouters));

const ProtectedPrefix = named(
  'ShieldPrefix',
  Type.Object({
    id: Id,
    edge: Type.Object({ id: Id, name: Type.String() }),
    network: Network,
    created_at: Timestamp,
  }),
  'A network that routers in front may be told of; they are told of nothing outside of these',
);
export const PrefixQuery = ListQuery({ sort: SortBy(['id'], 'id'), edge_id: Type.Optional(Id) });
export const PrefixList = named('ShieldPrefixList', listOf('prefixes', ProtectedPrefix));
export const PrefixData = Type.Object({ prefix: ProtectedPrefix });
export const NewPrefix = named(
  'NewShieldPrefix',
  Strict({ edge_id: Id, network: line(64, { examples: ['203.0.113.0/24'] }) }),
);

const AttackAsStaff = named(
  'StaffShieldAttack',
  Type.Object({
    ...attackFields,
    organization: Type.Object({ id: Id, name: Type.String() }),
  }),
  'An attack on an address of a customer’s',
);
export const AttackQuery = ListQuery({
  sort: SortBy(['started_at'], '-started_at'),
  organization_id: Type.Optional(Id),
  address: Type.Optional(line(64, { examples: ['203.0.113.10'] })),
  kind: Type.Optional(Choice(kinds)),
  going: Type.Optional(Type.Boolean({ description: 'Those that go on, or those that are over' })),
});
export const AttackList = named('StaffShieldAttackList', listOf('attacks', AttackAsStaff));
export const AttackData = Type.Object({ attack: AttackAsStaff, info: AttackInfo });
export const MitigationData = Type.Object({ mitigation: MitigationOfAttack });

const Blackholes = Nullable(
  Choice(['allowed', 'forbidden'], {
    description:
      'Whether packets to its addresses may be sent to nowhere during an attack; null: what the owner of each says',
  }),
);
const ShieldOrganization = named(
  'ShieldOrganization',
  Type.Object({ id: Id, name: Type.String(), blackholes: Blackholes }),
  'What staff has said of an organization’s addresses',
);
export const OrganizationData = Type.Object({ organization: ShieldOrganization });
export const OrganizationChange = named(
  'ShieldOrganizationChange',
  Strict({ blackholes: Type.Optional(Blackholes) }),
);

const AddressList = named(
  'ShieldAddressList',
  Type.Object({
    name: Type.String({ examples: ['cloudflare'] }),
    title: Type.String(),
    dated: {
      ...Day,
      description: 'The day on which whoever publishes it last changed it, or on which it was compared',
    },
    source: Type.String({ description: 'Where it is from' }),
    prefixes: Type.Object({ ipv4: Type.Integer(), ipv6: Type.Integer() }, { description: 'How many it has' }),
    presets: Type.Array(Type.String(), { description: 'The presets that are made from it' }),
  }),
  'Addresses of others that come with this version',
);
export const AddressLists = Type.Object({ address_lists: Type.Array(AddressList) });
