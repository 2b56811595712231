import { type Example, onlyPage } from '../../platform/http/index.ts';

const id = 4503599627371501;

const rules = {
  ...{ threads: 16, memory_gib: 64, model: null, product_id: null },
  ...{ disks: [{ kind: 'nvme', gb: 960, count: 2 }], port_mbps: null },
};
const profile = {
  ...{ id, name: 'AX-16', ...rules, product: null, note: null, servers: 0, ready: 0 },
  ...{ baseline: null, baseline_from: null, baseline_at: null },
  created_at: '2026-01-31T22:04:15.830Z',
};

/** A request and its answer for each operation, parts of one story. */
export const profileExamples = {
  listServerProfiles: { query: {}, data: { profiles: [profile], ...onlyPage(1) } },
  addServerProfile: {
    body: { name: 'AX-16', threads: 16, memory_gib: 64, disks: rules.disks },
    data: { profile },
  },
  getServerProfile: { params: { id }, data: { profile } },
  changeServerProfile: {
    params: { id },
    body: { note: 'Bought in spring' },
    data: { profile: { ...profile, note: 'Bought in spring' } },
  },
  removeServerProfile: { params: { id }, data: {} },
} satisfies Record<string, Example>;
