import { Type } from 'typebox';
import { clusterEngines } from '../../drivers/hypervisor/index.ts';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { Location } from '../schema.ts';

const Named = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$',
  'x-message':
    'must begin with a letter or digit and have at most 32 letters, digits, dots, hyphens and underscores',
  examples: ['ams1'],
});
/** As engines take them for projects, pools and bridges. */
const Theirs = (example: string, description: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$',
    'x-message':
      'must begin with a letter or digit and have at most 63 letters, digits, dots, hyphens and underscores',
    description,
    examples: [example],
  });
const Count = Type.Integer({ minimum: 0 });
const Engine = named('ClusterEngine', Choice(clusterEngines));
const State = named(
  'ClusterState',
  Choice(['active', 'draining'], {
    description:
      'draining: its nodes keep their machines and take no new ones, and neither do members that join',
  }),
);
const Endpoints = Type.Array(Type.String({ maxLength: 300, examples: ['https://192.0.2.1:8443'] }), {
  minItems: 1,
  maxItems: 16,
  description:
    'Where it answers, one of each member: any of them will do, and each tells what its own machines use',
});
const Pinned = Type.String({
  minLength: 1,
  maxLength: 20_000,
  description:
    'The certificate that it presents: in PEM, or its SHA-256 fingerprint; where each member has its own, as in Proxmox VE, one under the other. Whoever presents another is told nothing',
});
const Credential = named(
  'ClusterCredential',
  Strict({
    certificate: Type.Optional(Type.String({ minLength: 1, maxLength: 20_000, description: 'PEM' })),
    key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 20_000,
        description: 'Its private key, PEM, without a passphrase. It is kept sealed and never shown',
      }),
    ),
    token_id: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: '^[^\\s:/!]+@[A-Za-z][A-Za-z0-9._-]+![A-Za-z][A-Za-z0-9._-]+$',
        'x-message': 'must look like user@realm!name',
        description: 'Of an API token',
        examples: ['innkeeper@pve!product'],
      }),
    ),
    token_secret: Type.Optional(
      Type.String({
        pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
        'x-message': 'must be a UUID',
        description: 'Of the token. It is kept sealed and never shown',
      }),
    ),
  }),
  'What the cluster knows us by: Incus by a client certificate and its key, Proxmox VE by an API token and its secret',
);
const Vmid = Type.Integer({ minimum: 100, maximum: 999_999_999 });
const Vmids = named(
  'ClusterVmids',
  Strict({ first: Vmid, last: Vmid }),
  'Numbers that our machines take, both included; nobody else should',
);
const Bridge = Theirs('br0', 'The bridge or network that machines are plugged into, on every member');

const Check = named(
  'ClusterCheck',
  Type.Object({
    state: Choice(['checking', 'ok', 'failed']),
    checked_at: Nullable(Timestamp),
    version: Nullable(Type.String({ examples: ['6.0.4'] })),
    tested: Nullable(
      Choice(['older', 'tested', 'newer'], {
        description: 'How its version stands to those that were tested',
      }),
    ),
    problems: Type.Array(Type.String(), { description: 'What it lacks, a sentence each; none: it is fit' }),
    notes: Type.Array(Type.String(), { description: 'What is no problem and still to be known' }),
  }),
  'What was found when it was looked at last',
);
export const Cluster = named(
  'Cluster',
  Type.Object({
    id: Id,
    name: Type.String(),
    engine: Engine,
    location: Type.String(),
    endpoints: Type.Array(Type.String()),
    project: Type.String(),
    pool: Type.String(),
    bridge: Type.String(),
    fingerprints: Type.Array(Type.String(), {
      description: 'SHA-256 of the certificates of which it has to present one',
    }),
    our_fingerprint: Nullable(
      Type.String({
        description: 'SHA-256 of the certificate that it knows us by; null where it is a token',
      }),
    ),
    token_id: Nullable(
      Type.String({ description: 'Of the token that it knows us by; null where it is a certificate' }),
    ),
    files: Nullable(Type.String({ description: 'As given; Proxmox VE only' })),
    vmids: Nullable(Vmids),
    state: State,
    check: Check,
    fit: Type.Boolean({
      description: 'Whether it was found fit as it is reached now; until then nothing runs there',
    }),
    answers: Type.Boolean(),
    answered_at: Nullable(Timestamp),
    trouble: Nullable(Type.String({ description: 'Why it does not answer' })),
    nodes: Count,
    machines: Type.Integer({ description: 'Machines and orders that have room there' }),
    created_at: Timestamp,
  }),
  'Hosts that an engine keeps together, each of them a node',
);
export const ClusterData = named('ClusterAnswer', Type.Object({ cluster: Cluster }));
export const ClusterList = named('ClusterList', listOf('clusters', Cluster));
export const ClusterQuery = ListQuery({
  location: Type.Optional(Location),
  sort: SortBy(['id', 'name'], 'id'),
});
export const ClusterRemoval = Strict({
  confirm: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'The name of the cluster: you know that nothing runs on its members that do not answer',
    }),
  ),
});
export const NewCluster = named(
  'NewCluster',
  Strict({
    name: Named,
    engine: Engine,
    location: Location,
    endpoints: Endpoints,
    server_certificate: Pinned,
    credential: Credential,
    project: Theirs(
      'innkeeper',
      'A project (in Proxmox VE a resource pool) that is ours alone: what others run there is never listed, counted or touched',
    ),
    pool: Theirs(
      'local',
      'The storage pool (in Proxmox VE the storage) that disks are made in, on every member',
    ),
    bridge: Bridge,
    files: Type.Optional(
      Theirs(
        'files',
        'For Proxmox VE, which must have it: a storage with the contents iso and import, on every member, for images and for what guests are told',
      ),
    ),
    vmids: Type.Optional(Vmids),
  }),
);
export const ClusterChange = named(
  'ClusterChange',
  Strict({
    name: Type.Optional(Named),
    state: Type.Optional(State),
    endpoints: Type.Optional(Endpoints),
    server_certificate: Type.Optional(Pinned),
    credential: Type.Optional(Credential),
    bridge: Type.Optional(Bridge),
  }),
);
