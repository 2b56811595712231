import { fingerprintOf } from '../../drivers/hypervisor/index.ts';
import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  type Context,
  enqueue,
  fail,
  findHeldRestore,
  isDuplicate,
  refuse,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { clusterCheckAsked, clusterCreated, clusterDeleted, clusterUpdated } from '../events.ts';
import { clusterCheck } from './check.ts';
import { type Access, type Credential, readCredential, readPinned, sealKey } from './credential.ts';
import { unseenSince } from './drive.ts';
import { readEndpoints } from './endpoints.ts';
import { type ClusterRow, clusterById, lockRow, selectCluster } from './rows.ts';

export interface NewCluster {
  name: string;
  engine: ClusterRow['engine'];
  location: string;
  endpoints: string[];
  server_certificate: string;
  credential: Credential;
  project: string;
  pool: string;
  bridge: string;
  /** Of Proxmox VE alone, where the first must be given. */
  files?: string;
  vmids?: { first: number; last: number };
}

/** Far above those that people give by hand, which begin at 100. */
const usualVmids = { first: 1_000_000, last: 1_999_999 };

export interface ClusterChange {
  name?: string;
  state?: 'active' | 'draining';
  endpoints?: string[];
  server_certificate?: string;
  credential?: Credential;
  bridge?: string;
}

// One change of all clusters at a time: of two at once for the same place one would not see the other.
const lockAll = statement<{ locked: number }>(
  'fleet.lockClusters',
  `select 1 as locked from pg_advisory_xact_lock(hashtextextended('clusters', 0))`,
);
const samePlace = statement<
  { name: string },
  { id: number; project: string; endpoints: string[]; fingerprints: string[] }
>(
  'fleet.sameCluster',
  `select name from clusters where id <> :id and project = :project
     and (endpoints && :endpoints::text[] or (array[fingerprint] || further_fingerprints) && :fingerprints::text[]) limit 1`,
);
const insertCluster = statement<
  { id: number },
  {
    name: string;
    engine: string;
    location: string;
    endpoints: string[];
    project: string;
    pool: string;
    bridge: string;
    fingerprints: string[];
    serverCertificate: string | null;
    certificate: string | null;
    tokenId: string | null;
    files: string | null;
    firstVmid: number | null;
    lastVmid: number | null;
    now: Date;
  }
>(
  'fleet.insertCluster',
  `insert into clusters (name, engine, location, endpoints, project, pool, bridge, fingerprint, further_fingerprints,
     server_certificate, certificate, token_id, files, first_vmid, last_vmid, credential, created_at)
   values (:name, :engine, :location, :endpoints::text[], :project, :pool, :bridge, (:fingerprints::text[])[1],
     (:fingerprints::text[])[2:], :serverCertificate, :certificate, :tokenId, :files, :firstVmid::integer, :lastVmid::integer, '',
     :now) returning id`,
);
const writeAccess = statement<
  never,
  { id: number; certificate: string | null; tokenId: string | null; credential: Buffer }
>(
  'fleet.writeClusterAccess',
  'update clusters set certificate = :certificate, token_id = :tokenId, credential = :credential where id = :id',
);
const updateCluster = statement<
  never,
  {
    id: number;
    name: string;
    state: string;
    endpoints: string[];
    fingerprints: string[];
    serverCertificate: string | null;
    bridge: string;
    isReached: boolean;
  }
>(
  'fleet.updateCluster',
  `update clusters set name = :name, state = :state, endpoints = :endpoints::text[],
     fingerprint = (:fingerprints::text[])[1], further_fingerprints = (:fingerprints::text[])[2:],
     server_certificate = :serverCertificate, bridge = :bridge,
     generation = generation + case when :isReached::boolean then 1 else 0 end,
     check_state = case when :isReached::boolean then 'checking' else check_state end where id = :id`,
);
const renameNodes = statement<never, { id: number; name: string }>(
  'fleet.renameNodesOfCluster',
  `update nodes set name = :name || '/' || member where cluster_id = :id`,
);
const beginCheck = statement<never, { id: number }>(
  'fleet.beginClusterCheck',
  `update clusters set check_state = 'checking' where id = :id`,
);
// As after the restore of a backup: a later copy of a machine than the database knows, beside which nothing starts while it stands there.
const unknownIn = statement<{ machine: string; node: string; answers: boolean }, { id: number }>(
  'fleet.unknownMachinesInCluster',
  `select u.machine, n.name as node, n.reachable as answers from vps_unknown_machines u join nodes n on n.id = u.node_id
   join services s on s.id = u.service_id
   where n.cluster_id = :id and n.left_at is null and s.status in ('active', 'suspended') order by not n.reachable, u.id limit 100`,
);
const deleteNodes = statement<never, { id: number }>(
  'fleet.deleteNodesOfCluster',
  'delete from nodes where cluster_id = :id',
);
const deleteCluster = statement<never, { id: number }>(
  'fleet.deleteCluster',
  'delete from clusters where id = :id',
);

const clusters = pagedList<ClusterRow>({
  name: 'fleet.clusters',
  from: 'clusters t',
  select: selectCluster,
  filters: { location: 't.location = :location' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: { id: null, name: { by: 't.name', type: 'text', of: (row) => row.name } },
  order: 'id',
});

export async function listClusters(ctx: Context, query: ListRequest & { location?: string | undefined }) {
  const { rows, at } = await clusters(ctx, query, { location: query.location });
  return listData('clusters', rows.map(view), at);
}

export async function readCluster(ctx: Context, id: number) {
  return { cluster: view(await requireRow(ctx, clusterById, { id })) };
}

/** Nobody changes the cluster until the transaction ends. */
export async function lockCluster(tx: TxContext, id: number): Promise<void> {
  await tx.db.many(lockRow, { id });
}

/**
 * Writes down a cluster and has it looked at; its members become nodes once it was found fit. `invalid_request` says what of it has no
 * meaning, `conflict` that there is one of its name, or of its place and project.
 */
export async function addCluster(ctx: Context, wanted: NewCluster) {
  const endpoints = readEndpoints(wanted.endpoints);
  const { name, engine, location, project, pool, bridge } = wanted;
  const { fingerprints, serverCertificate } = readPinned(engine, wanted.server_certificate);
  const access = readCredential(engine, wanted.credential);
  const { certificate, tokenId } = access;
  const own = readOwn(wanted);
  return transaction(ctx, 'fleet.addCluster', async (tx) => {
    await requireNobodys(tx, { id: 0, project, endpoints, fingerprints });
    const { id } = await named(name, () =>
      tx.db.one(insertCluster, {
        ...{ name, engine, location, endpoints, project, pool, bridge, fingerprints, serverCertificate },
        ...{ certificate, tokenId, ...own, now: tx.clock.now() },
      }),
    );
    await letIn(tx, id, access);
    await record(tx, clusterCreated, {
      ...about(id),
      data: { name, engine, location, endpoints, project, fingerprints },
    });
    await enqueue(tx, clusterCheck, { clusterId: id }, { organizationId: null });
    return readCluster(tx, id);
  });
}

/** What only one engine has; `invalid_request` where it is given for another, or lacks. */
function readOwn({ engine, files, vmids }: NewCluster) {
  if (engine !== 'proxmox') {
    const [given] = Object.entries({ files, vmids }).filter(([, value]) => value !== undefined);
    if (given) throw refuse(given[0], `has no meaning for a cluster of ${engine}`);
    return { files: null, firstVmid: null, lastVmid: null };
  }
  if (files === undefined) throw refuse('files', `must be given for a cluster of ${engine}`);
  const { first, last } = vmids ?? usualVmids;
  if (last < first) throw refuse('vmids.last', 'must not be below the first');
  return { files, firstVmid: first, lastVmid: last };
}

/** Keeps what the cluster knows us by, its secret sealed. */
async function letIn(tx: TxContext, id: number, { certificate, tokenId, secret }: Access): Promise<void> {
  await tx.db.run(writeAccess, { id, certificate, tokenId, credential: sealKey(tx, id, secret) });
}

/** Changes how a cluster is reached, and has it looked at anew; or whether its nodes take new machines. */
export async function changeCluster(ctx: Context, id: number, change: ClusterChange) {
  return transaction(ctx, 'fleet.changeCluster', async (tx) => {
    await tx.db.many(lockAll);
    const before = await requireRow(tx, clusterById, { id });
    const access = change.credential && readCredential(before.engine, change.credential);
    const endpoints = change.endpoints ? readEndpoints(change.endpoints) : before.endpoints;
    const pinned = change.server_certificate ? readPinned(before.engine, change.server_certificate) : null;
    const { fingerprints } = pinned ?? before;
    const isSame = fingerprints[0] === before.fingerprints[0];
    const serverCertificate = pinned?.serverCertificate ?? (isSame ? before.server_certificate : null);
    const { name = before.name, state = before.state, bridge = before.bridge } = change;
    await requireNobodys(tx, { id, project: before.project, endpoints, fingerprints });
    // Said once more it is as it was: nothing that runs there is to wait for another look.
    const isReached =
      access !== undefined ||
      fingerprints.join() !== before.fingerprints.join() ||
      bridge !== before.bridge ||
      endpoints.join() !== before.endpoints.join();
    await named(name, () =>
      tx.db.run(updateCluster, {
        id,
        name,
        state,
        endpoints,
        fingerprints,
        serverCertificate,
        bridge,
        isReached,
      }),
    );
    if (name !== before.name) await tx.db.run(renameNodes, { id, name });
    if (access) await letIn(tx, id, access);
    const { credential: _key, server_certificate: _pinned, ...rest } = change;
    const told = {
      ...rest,
      ...(pinned && { fingerprints }),
      ...(access && { credential: 'another' as const }),
    };
    await record(tx, clusterUpdated, { ...about(id), data: { name, change: told } });
    if (isReached) await enqueue(tx, clusterCheck, { clusterId: id }, { organizationId: null });
    return readCluster(tx, id);
  });
}

/** Has a cluster looked at once more. */
export async function checkCluster(ctx: Context, id: number) {
  return transaction(ctx, 'fleet.requestClusterCheck', async (tx) => {
    await lockCluster(tx, id);
    const { name } = await requireRow(tx, clusterById, { id });
    await tx.db.run(beginCheck, { id });
    await record(tx, clusterCheckAsked, { ...about(id), data: { name } });
    await enqueue(tx, clusterCheck, { clusterId: id }, { organizationId: null });
    return readCluster(tx, id);
  });
}

/**
 * Forgets a cluster with its nodes; `conflict` while there are machines on it, or orders for it, or a member has a machine of a service that the
 * database does not know, and after a restore, until that is released, while it has not said what it has. `confirm`: the cluster's name, where what a
 * silent member has does not run any more; `invalid_request` for another one. What it has stays there untouched.
 */
export async function removeCluster(ctx: Context, id: number, confirm: string | null = null) {
  return transaction(ctx, 'fleet.removeCluster', async (tx) => {
    await lockCluster(tx, id);
    const { name, machines } = await requireRow(tx, clusterById, { id });
    if (machines > 0) {
      const message = `${machines === 1 ? 'A machine or an order has' : `${machines} machines and orders have`} room on ${name}; end them first, or drain the cluster until they are gone`;
      throw fail('conflict', { message });
    }
    await requireNothingLater(tx, id, name, confirm);
    await forgettingNodes(name, async () => {
      await tx.db.run(deleteNodes, { id });
      await tx.db.run(deleteCluster, { id });
    });
    await record(tx, clusterDeleted, { ...about(id), data: { name } });
    return {};
  });
}

/** Without the cluster an older copy would start beside what may run there. */
async function requireNothingLater(
  tx: TxContext,
  id: number,
  name: string,
  confirm: string | null,
): Promise<void> {
  const unknown = await tx.db.many(unknownIn, { id });
  const there = unknown.filter(({ answers }) => answers);
  const [first] = there;
  const concerned = first === undefined ? unknown : there;
  if (concerned.length > 0 && (first !== undefined || confirm !== name)) {
    if (first === undefined && confirm !== null)
      throw refuse('confirm', `must be the name of the cluster, ${name}`);
    const all = concerned.map(({ node, machine }) => `${machine} on ${node}`).join(', ');
    const message = `The database does not know ${all}: it may be what a customer uses, and without the cluster an older copy of it would start`;
    const way =
      first !== undefined
        ? 'Adopt it, or remove it there first'
        : `No node of these answers: where you know that none of it runs, confirm with ${name}`;
    throw fail('conflict', { message: `${message}. ${way}` });
  }
  const restore = await findHeldRestore(tx);
  const unseen = restore === null ? [] : await unseenSince(tx, restore, [id]);
  if (!unseen.some((each) => each.name === name)) return;
  const message = `The database was restored, and ${name} has not said since what machines it has: some of them may be what customers use by now. Remove it once it has, or once the restore is released`;
  throw fail('conflict', { message });
}

async function forgettingNodes(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === '23503')) throw error;
    const message = `Something still knows a node of ${name}, such as the machine of an order that is being taken back; try again shortly`;
    throw fail('conflict', { message, cause: error });
  }
}

async function requireNobodys(
  tx: TxContext,
  place: { id: number; project: string; endpoints: string[]; fingerprints: string[] },
): Promise<void> {
  if (place.id === 0) await tx.db.many(lockAll);
  const other = await tx.db.maybe(samePlace, place);
  if (other === null) return;
  const message = `The project ${place.project} of this cluster is ${other.name} already`;
  throw fail('conflict', { message });
}

async function named<T>(name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isDuplicate(error, 'clusters_name_key')) throw error;
    throw fail('conflict', { message: `There is a cluster called ${name} already`, cause: error });
  }
}

function view(row: ClusterRow) {
  return {
    ...{ id: row.id, name: row.name, engine: row.engine, location: row.location, endpoints: row.endpoints },
    ...{ project: row.project, pool: row.pool, bridge: row.bridge, fingerprints: row.fingerprints },
    our_fingerprint: row.certificate === null ? null : fingerprintOf(row.certificate),
    token_id: row.token_id,
    files: row.files,
    vmids: row.first_vmid === null ? null : { first: row.first_vmid, last: row.last_vmid ?? row.first_vmid },
    state: row.state,
    check: {
      ...{ state: row.check_state, checked_at: row.checked_at, version: row.version, tested: row.tested },
      ...{ problems: row.problems, notes: row.notes },
    },
    fit: row.fit_generation === row.generation,
    answers: row.answered_at !== null && row.trouble === null,
    answered_at: row.answered_at,
    trouble: row.trouble,
    nodes: row.nodes,
    machines: row.machines,
    created_at: row.created_at,
  };
}

function about(id: number) {
  return { subject: { type: 'cluster', id }, organizationId: null };
}
