import { type Example, onlyPage } from '../../platform/http/index.ts';

const pem = (what: string) => `-----BEGIN ${what}-----\n…\n-----END ${what}-----\n`;

const cluster = {
  id: 1,
  name: 'ams1',
  engine: 'incus',
  location: 'AMS',
  endpoints: ['https://192.0.2.1:8443', 'https://192.0.2.2:8443', 'https://192.0.2.3:8443'],
  project: 'innkeeper',
  pool: 'local',
  bridge: 'br0',
  fingerprints: ['5f3c1a'.padEnd(64, '0')],
  our_fingerprint: '9be07d'.padEnd(64, '0'),
  token_id: null,
  files: null,
  vmids: null,
  state: 'active',
  check: {
    state: 'ok',
    checked_at: '2026-01-31T22:02:14.101Z',
    version: '6.0.4',
    tested: 'tested',
    problems: [],
    notes: [],
  },
  fit: true,
  answers: true,
  answered_at: '2026-01-31T22:05:11.947Z',
  trouble: null,
  nodes: 3,
  machines: 0,
  created_at: '2026-01-31T22:02:11.947Z',
};
const checking = { ...cluster.check, state: 'checking', checked_at: null, version: null, tested: null };
const added = { ...cluster, check: checking, fit: false, answers: false, answered_at: null, nodes: 0 };

/** A request and its answer for each operation, parts of one story. */
export const clusterExamples = {
  listClusters: { data: { clusters: [cluster], ...onlyPage(1) } },
  addCluster: {
    body: {
      ...{ name: 'ams1', engine: 'incus', location: 'AMS', endpoints: cluster.endpoints },
      ...{ server_certificate: '5f3c1a'.padEnd(64, '0'), project: 'innkeeper', pool: 'local', bridge: 'br0' },
      credential: { certificate: pem('CERTIFICATE'), key: pem('PRIVATE KEY') },
    },
    data: { cluster: added },
  },
  getCluster: { params: { id: 1 }, data: { cluster } },
  changeCluster: {
    params: { id: 1 },
    body: { state: 'draining' },
    data: { cluster: { ...cluster, state: 'draining' } },
  },
  checkCluster: {
    params: { id: 1 },
    data: { cluster: { ...cluster, check: { ...cluster.check, state: 'checking' } } },
  },
  removeCluster: { params: { id: 1 }, data: {} },
} satisfies Record<string, Example>;
