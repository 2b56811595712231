import { type Example, onlyPage } from '../platform/http/index.ts';

const node = {
  id: 1,
  name: 'node-1',
  location: 'AMS',
  cluster_id: null,
  state: 'active',
  reachable: true,
  trouble: null,
  runs_machines: true,
  accepts_machines: true,
  capacity: { cpu_cores: 64, memory_mib: 262144, disk_gib: 8192 },
  cpu_overcommit: 8,
  memory_reserve_mib: 0,
  disk_reserve_gib: 0,
  promised: { cpu_cores: 512, memory_mib: 262144, disk_gib: 8192 },
  taken: { cpu_cores: 2, memory_mib: 4096, disk_gib: 40 },
  copies_gib: 0,
  free: { cpu_cores: 510, memory_mib: 258048, disk_gib: 8152 },
  full_in_days: { memory: null, disk: null },
  machines: 2,
  last_seen_at: '2026-01-31T22:02:11.947Z',
  created_at: '2026-01-31T22:02:11.947Z',
};

const pool = {
  id: 3,
  name: 'AMS 2',
  location: 'AMS',
  family: 4,
  network: '192.0.2.0/24',
  gateway: '192.0.2.1',
  rest_hours: 24,
  addresses: { free: 253, taken: 0, resting: 0, reserved: 0 },
  full_in_days: null,
  created_at: '2026-01-31T22:04:15.830Z',
};

const image = {
  id: 3,
  slug: 'tiny-test',
  name: 'Tiny Linux',
  version: '2',
  source: { kind: 'build', recipe: 'tiny' },
  min_memory_mib: 64,
  min_disk_gib: 1,
  active: true,
  for_servers: true,
  state: 'ready',
  progress: null,
  error: null,
  prepared_at: '2026-01-31T22:04:16.009Z',
  created_at: '2026-01-31T22:04:15.966Z',
  clusters: [],
};

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  getNode: { params: { id: 1 }, data: { node: node } },
  listNodes: { data: { nodes: [node], ...onlyPage(1) } },
  updateNode: {
    params: { id: 1 },
    body: { cpu_overcommit: 4 },
    data: {
      node: {
        ...node,
        cpu_overcommit: 4,
        promised: { cpu_cores: 256, memory_mib: 262144, disk_gib: 8192 },
        free: { cpu_cores: 254, memory_mib: 258048, disk_gib: 8152 },
      },
    },
  },
  replaceNode: {
    params: { id: 1 },
    data: { node: { ...node, reachable: false, accepts_machines: false } },
  },
  getAddressPool: { params: { id: 3 }, data: { address_pool: pool } },
  listAddressPools: {
    query: { location: 'AMS' },
    data: {
      address_pools: [
        {
          ...pool,
          id: 1,
          name: 'AMS IPv4',
          network: '10.77.0.0/24',
          gateway: '10.77.0.1',
          addresses: { free: 251, taken: 2, resting: 0, reserved: 0 },
          created_at: '2026-01-31T22:02:11.930Z',
        },
        {
          ...pool,
          id: 2,
          name: 'AMS IPv6',
          family: 6,
          network: 'fd77:0:0:77::/64',
          gateway: 'fd77:0:0:77::1',
          addresses: { free: null, taken: 2, resting: 0, reserved: 0 },
          created_at: '2026-01-31T22:02:11.945Z',
        },
      ],
      ...onlyPage(2),
    },
  },
  addAddressPool: {
    body: { name: 'AMS 2', location: 'AMS', network: '192.0.2.0/24', rest_hours: 24 },
    data: { address_pool: pool },
  },
  changeAddressPool: {
    params: { id: 3 },
    body: { rest_hours: 48 },
    data: { address_pool: { ...pool, rest_hours: 48 } },
  },
  removeAddressPool: { params: { id: 3 }, data: {} },
  updatePoolAddress: {
    params: { id: 3 },
    body: { address: '192.0.2.9', reserved: true, note: 'For the monitoring' },
    data: {
      address: {
        address: '192.0.2.9',
        state: 'reserved',
        service_id: null,
        organization_id: null,
        held: false,
        dns_name: null,
        rests_until: null,
        note: 'For the monitoring',
      },
    },
  },
  listPoolAddresses: {
    params: { id: 3 },
    query: { state: 'reserved' },
    data: {
      addresses: [
        {
          address: '192.0.2.9',
          state: 'reserved',
          service_id: null,
          organization_id: null,
          held: false,
          dns_name: null,
          rests_until: null,
          note: 'For the monitoring',
        },
      ],
      ...onlyPage(1),
    },
  },
  getOperatingSystemImage: { params: { slug: 'tiny-test' }, data: { image: image } },
  listOperatingSystemImages: {
    data: {
      images: [
        {
          ...image,
          id: 1,
          slug: 'debian',
          name: 'Debian',
          version: '12',
          source: { kind: 'build', recipe: 'debian-12' },
          min_memory_mib: 512,
          min_disk_gib: 4,
          state: 'new',
          prepared_at: null,
          created_at: '2026-01-31T22:02:11.919Z',
        },
        {
          ...image,
          id: 2,
          slug: 'tiny',
          version: '1',
          state: 'new',
          prepared_at: null,
          created_at: '2026-01-31T22:02:11.922Z',
        },
      ],
      ...onlyPage(2),
    },
  },
  addOperatingSystemImage: {
    body: {
      slug: 'tiny-test',
      name: 'Tiny Linux',
      version: '2',
      source: { kind: 'build', recipe: 'tiny' },
      min_memory_mib: 64,
      min_disk_gib: 1,
    },
    data: { image: { ...image, state: 'preparing', prepared_at: null } },
  },
  changeOperatingSystemImage: {
    params: { slug: 'tiny-test' },
    body: { version: '2.1', active: false },
    data: { image: { ...image, version: '2.1', active: false } },
  },
  prepareOperatingSystemImage: {
    params: { slug: 'tiny-test' },
    data: { image: { ...image, version: '2.1', active: false } },
  },
  removeOperatingSystemImage: { params: { slug: 'tiny-test' }, data: {} },
} satisfies Record<string, Example>;
