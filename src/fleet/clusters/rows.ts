import type { ClusterEngine } from '../../drivers/hypervisor/index.ts';
import { statement } from '../../platform/index.ts';

export interface ClusterRow {
  id: number;
  name: string;
  engine: ClusterEngine;
  location: string;
  endpoints: string[];
  project: string;
  pool: string;
  bridge: string;
  fingerprint: string;
  server_certificate: string | null;
  certificate: string;
  state: 'active' | 'draining';
  generation: number;
  fit_generation: number;
  check_state: 'checking' | 'ok' | 'failed';
  checked_at: Date | null;
  version: string | null;
  tested: 'older' | 'tested' | 'newer' | null;
  problems: string[];
  notes: string[];
  answered_at: Date | null;
  trouble: string | null;
  nodes: number;
  machines: number;
  created_at: Date;
}

export const selectCluster = `
  select t.id, t.name, t.engine, t.location, to_jsonb(t.endpoints) as endpoints, t.project, t.pool, t.bridge, t.fingerprint,
    t.server_certificate, t.certificate, t.state, t.generation, t.fit_generation, t.check_state, t.checked_at, t.version,
    t.tested, to_jsonb(t.problems) as problems, to_jsonb(t.notes) as notes, t.answered_at, t.trouble, t.created_at,
    (select count(*)::int from nodes n where n.cluster_id = t.id and n.left_at is null) as nodes,
    (select count(*)::int from nodes n join placements p on p.node_id = n.id where n.cluster_id = t.id) as machines
  from clusters t`;

export const clusterById = statement<ClusterRow, { id: number }>(
  'fleet.cluster',
  `${selectCluster} where t.id = :id`,
);

export const lockRow = statement<never, { id: number }>(
  'fleet.lockCluster',
  'select id from clusters where id = :id for update',
);
