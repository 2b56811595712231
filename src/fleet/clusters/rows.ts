import type { ClusterAccess, ClusterEngine } from '../../drivers/hypervisor/index.ts';
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
  fingerprints: string[];
  server_certificate: string | null;
  /** What the engine knows us by, and what else only that engine has; null at the others. */
  certificate: string | null;
  token_id: string | null;
  files: string | null;
  first_vmid: number | null;
  last_vmid: number | null;
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
  select t.id, t.name, t.engine, t.location, to_jsonb(t.endpoints) as endpoints, t.project, t.pool, t.bridge,
    to_jsonb(array[t.fingerprint] || t.further_fingerprints) as fingerprints, t.server_certificate, t.certificate, t.token_id,
    t.files, t.first_vmid, t.last_vmid, t.state, t.generation, t.fit_generation, t.check_state, t.checked_at, t.version,
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

/** How an engine is spoken to, by what is kept of the cluster and the secret that is kept sealed. */
export function accessOf(
  row: Pick<ClusterRow, 'engine' | 'certificate' | 'token_id' | 'files' | 'first_vmid' | 'last_vmid'>,
  secret: string,
): ClusterAccess {
  const { engine, certificate, token_id: tokenId, files, first_vmid: first, last_vmid: last } = row;
  if (engine === 'incus') return { engine, certificate: certificate ?? '', key: secret };
  const vmids = { first: first ?? 0, last: last ?? 0 };
  return { engine, tokenId: tokenId ?? '', tokenSecret: secret, files: files ?? '', vmids };
}
