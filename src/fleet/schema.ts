import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  Nothing,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../platform/http/index.ts';

const Count = Type.Integer({ minimum: 0 });
const Size = named('NodeSize', Type.Object({ cpu_cores: Count, memory_mib: Count, disk_gib: Count }));
export const Location = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$',
  'x-message':
    'must begin with a letter or digit and have at most 32 letters, digits, dots, hyphens and underscores',
  examples: ['AMS'],
});
const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[^\\u0000-\\u001f\\u007f]+$',
  'x-message': 'must be one line, without control characters',
  examples: ['AMS 2'],
});

const FullInDays = Nullable(
  Type.Integer({ minimum: 0, description: 'Null: it does not grow, or two weeks of it are not known yet' }),
);

const NodeState = named(
  'NodeState',
  Choice(['active', 'draining', 'down'], {
    description: 'draining: keeps its machines and takes no new ones; down: may not even grow those it has',
  }),
);

export const Node = named(
  'Node',
  Type.Object({
    id: Id,
    name: Type.String(),
    location: Type.String(),
    cluster_id: Nullable(
      Type.Integer({ description: 'The cluster that it is a member of; null: a host of our own' }),
    ),
    state: NodeState,
    reachable: Type.Boolean({ description: 'Whether it was heard from within the last minute' }),
    trouble: Nullable(
      Type.String({ description: 'What its host lacks, for which it takes no new machines; null: nothing' }),
    ),
    runs_machines: Type.Boolean({
      description: 'false: a host that only filters packets, for machines of other nodes',
    }),
    accepts_machines: Type.Boolean(),
    capacity: Type.Object(Size.properties, { description: 'What it physically has' }),
    cpu_overcommit: Type.Number(),
    memory_reserve_mib: Count,
    disk_reserve_gib: Count,
    promised: Type.Object(Size.properties, {
      description: 'What it may promise: capacity × overcommit − reserves',
    }),
    taken: Type.Object(Size.properties, {
      description: 'Used by machines and their copies, and held by orders',
    }),
    copies_gib: Type.Integer({
      description: 'Of the disk that is taken, what snapshots and backups may come to take',
    }),
    free: Type.Object(Size.properties, {
      description:
        'What new machines get: promised to nobody and, on a member of a cluster, used by nobody as its engine tells',
    }),
    full_in_days: Type.Object(
      { memory: FullInDays, disk: FullInDays },
      { description: 'If it goes on as in the last four weeks' },
    ),
    machines: Type.Integer({ description: 'Machines and orders that have room here' }),
    last_seen_at: Nullable(Timestamp),
    created_at: Timestamp,
  }),
  'A host that machines run on, or that filters packets before those of others',
);
export const NodeData = named('NodeAnswer', Type.Object({ node: Node }));
export const NodeList = named('NodeList', listOf('nodes', Node));
export const ByLocation = ListQuery({
  location: Type.Optional(Location),
  sort: SortBy(['id', 'name'], 'id'),
});
export const NodeChange = named(
  'NodeChange',
  Strict({
    state: Type.Optional(NodeState),
    cpu_overcommit: Type.Optional(
      Type.Number({ minimum: 1, maximum: 64, description: 'Cores promised for each one it has' }),
    ),
    memory_reserve_mib: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })),
    disk_reserve_gib: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })),
  }),
);

const RestHours = Type.Integer({
  minimum: 0,
  maximum: 8_760,
  description: 'How long a freed address rests before somebody else gets it',
});
export const Pool = named(
  'AddressPool',
  Type.Object({
    id: Id,
    name: Type.String(),
    location: Type.String(),
    family: Type.Integer({ description: '4 or 6' }),
    network: Type.String({ examples: ['192.0.2.0/24'] }),
    gateway: Type.String(),
    rest_hours: Type.Integer(),
    addresses: Type.Object({
      free: Nullable(Type.Integer({ description: 'Null for IPv6, where nearly all are free' })),
      taken: Count,
      resting: Count,
      reserved: Count,
    }),
    full_in_days: FullInDays,
    created_at: Timestamp,
  }),
  'A network that machines get their addresses from',
);
export const PoolData = named('AddressPoolAnswer', Type.Object({ address_pool: Pool }));
export const PoolList = named('AddressPoolList', listOf('address_pools', Pool));
export const NewPool = named(
  'NewAddressPool',
  Strict({
    name: Name,
    location: Location,
    network: Type.String({ maxLength: 50, description: 'CIDR', examples: ['192.0.2.0/24', '2001:db8::/64'] }),
    gateway: Type.Optional(Type.String({ maxLength: 45, description: "Default: the network's first host" })),
    rest_hours: Type.Optional(RestHours),
  }),
);
export const PoolChange = named(
  'AddressPoolChange',
  Strict({ name: Type.Optional(Name), rest_hours: Type.Optional(RestHours) }),
);

const AddressState = named(
  'AddressState',
  Choice(['free', 'taken', 'resting', 'reserved']),
  '`resting`: freed a short while ago, and kept back so that nobody gets traffic meant for another',
);
const PoolAddress = named(
  'PoolAddress',
  Type.Object({
    address: Type.String(),
    state: AddressState,
    service_id: Nullable(Id),
    organization_id: Nullable(Id),
    held: Type.Boolean({ description: 'Taken for a change of size that is not paid yet' }),
    dns_name: Nullable(Type.String()),
    rests_until: Nullable(Timestamp),
    note: Nullable(Type.String()),
  }),
  'An address of a pool, and who has it',
);
export const PoolAddressData = named('PoolAddressAnswer', Type.Object({ address: PoolAddress }));
export const PoolAddressList = named('PoolAddressList', listOf('addresses', PoolAddress));
export const PoolAddressQuery = ListQuery({
  state: Type.Optional(AddressState),
  sort: SortBy(['address'], 'address'),
});
export const Reservation = named(
  'AddressReservation',
  Strict({
    address: Type.String({ maxLength: 45, examples: ['192.0.2.9'] }),
    reserved: Type.Boolean({ description: 'false gives it back' }),
    note: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
  }),
);

const slug = {
  pattern: '^[a-z0-9][a-z0-9.-]{0,63}$',
  'x-message':
    'must begin with a small letter or digit and have at most 64 small letters, digits, dots and hyphens',
  examples: ['debian-13'],
};
const Slug = Type.String(slug);
export const ImageParams = Strict({ slug: Slug });
const MemoryMib = Type.Integer({ minimum: 16, maximum: 1_048_576 });
const DiskGib = Type.Integer({ minimum: 1, maximum: 65_536 });
const Title = Type.String({
  minLength: 1,
  maxLength: 60,
  pattern: '^[^\\u0000-\\u001f\\u007f]+$',
  'x-message': 'must be one line, without control characters',
  examples: ['Debian'],
});

const build = { kind: Choice(['build']), recipe: Type.String({ ...slug, examples: ['tiny', 'debian-12'] }) };
const download = {
  kind: Choice(['download']),
  url: Type.String({ maxLength: 2_000, examples: ['https://images.example.com/disk.qcow2'] }),
  sha256: Type.String({
    pattern: '^[0-9a-fA-F]{64}$',
    'x-message': 'must be a SHA-256 in 64 hexadecimal digits',
    examples: ['0'.repeat(64)],
  }),
  guest: Choice(['cloud-init']),
};
const ForServers = Type.Boolean({
  description:
    'Offer it for servers out of the rack, too. It has to start by itself on real hardware (no “cloud” kernel), by BIOS or UEFI as the servers do, and have partitions and cloud-init',
});
const ImageSource = named(
  'NewImageSource',
  Type.Union([Strict(build), Strict(download)]),
  'How the image is made',
);

export const Image = named(
  'Image',
  Type.Object({
    id: Id,
    slug: Type.String(),
    name: Type.String(),
    version: Type.String(),
    source: Type.Union([Type.Object(build), Type.Object(download)]),
    min_memory_mib: Type.Integer(),
    min_disk_gib: Type.Integer(),
    active: Type.Boolean(),
    for_servers: Type.Boolean({ description: 'Servers out of the rack can be installed with it' }),
    state: named(
      'ImageState',
      Choice(['new', 'preparing', 'ready', 'failed'], {
        description: 'new: made when the first machine needs it',
      }),
    ),
    progress: Nullable(Type.String()),
    error: Nullable(Type.String()),
    prepared_at: Nullable(Timestamp),
    created_at: Timestamp,
    clusters: Type.Array(
      named(
        'ClusterImage',
        Type.Object({
          id: Id,
          name: Type.String(),
          state: Choice(['preparing', 'ready', 'failed', 'rejected'], {
            description: 'rejected: this cluster cannot have it, for `error`',
          }),
          progress: Nullable(Type.String()),
          error: Nullable(Type.String()),
        }),
      ),
      { description: 'How far it is in each cluster; machines with it are made where it is ready' },
    ),
  }),
  'An operating system that machines can have',
);
export const ImageData = named('ImageAnswer', Type.Object({ image: Image }));
export const ImageList = named('ImageList', listOf('images', Image));
export const ImageQuery = ListQuery({ sort: SortBy(['slug'], 'slug') });
export const NewImage = named(
  'NewImage',
  Strict({
    slug: Slug,
    name: Title,
    version: Title,
    source: ImageSource,
    min_memory_mib: MemoryMib,
    min_disk_gib: DiskGib,
    for_servers: Type.Optional(ForServers),
  }),
);
export const ImageChange = named(
  'ImageChange',
  Strict({
    name: Type.Optional(Title),
    version: Type.Optional(Title),
    min_memory_mib: Type.Optional(MemoryMib),
    min_disk_gib: Type.Optional(DiskGib),
    active: Type.Optional(Type.Boolean()),
    for_servers: Type.Optional(ForServers),
  }),
);

export const Removed = Nothing;
