import type { LookedAt, Unseen } from '../../drivers/hypervisor/index.ts';
import { record } from '../../events/index.ts';
import {
  type Context,
  enqueue,
  type Failure,
  isJobUnfinishedAbout,
  type PeriodicJob,
  saga,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { clusterChecked } from '../events.ts';
import { openKey } from './credential.ts';
import { bringImages } from './images.ts';
import { accessOf, type ClusterRow, clusterById } from './rows.ts';

interface Payload {
  clusterId: number;
}

interface State {
  generation: number;
  found: LookedAt;
}

const keyOf = statement<{ credential: Buffer }, { id: number }>(
  'fleet.clusterKey',
  'select credential from clusters where id = :id',
);
// What was looked at before somebody changed it says nothing of how it is reached now.
const writeCheck = statement<
  { name: string; is_news: boolean },
  {
    id: number;
    generation: number;
    isOk: boolean;
    serverCertificate: string | null;
    version: string | null;
    tested: string | null;
    problems: string[];
    notes: string[];
    now: Date;
  }
>(
  'fleet.writeClusterCheck',
  `update clusters c set check_state = case when :isOk::boolean then 'ok' else 'failed' end, checked_at = :now,
     version = coalesce(:version, c.version), tested = coalesce(:tested, c.tested), problems = :problems::text[],
     notes = :notes::text[], server_certificate = coalesce(:serverCertificate, c.server_certificate),
     fit_generation = case when :isOk::boolean then :generation else c.fit_generation end
   from (select id, check_state, problems, version from clusters where id = :id for no key update) before
   where c.id = before.id and c.generation = :generation
   returning c.name, before.check_state = 'checking' or before.problems <> :problems::text[]
     or before.version is distinct from coalesce(:version, before.version) as is_news`,
);

/** Speaks to a cluster as staff described it, and writes down in words what it lacks. Nothing of it is changed. */
export const clusterCheck = saga<Payload, State>({
  name: 'fleet.checkCluster',
  steps: [
    {
      name: 'look',
      attempts: 2,
      do: async ({ ctx, drivers, payload }) => {
        const cluster = await ctx.db.maybe(clusterById, { id: payload.clusterId });
        if (cluster === null) return {}; // removed meanwhile
        const { credential } = await ctx.db.one(keyOf, { id: cluster.id });
        const secret = openKey(ctx, cluster.id, credential);
        const found = await drivers.clusters.look(unseen(cluster, secret)).catch(asFinding);
        return { generation: cluster.generation, found };
      },
    },
  ],
  succeeded: async (tx, { clusterId }, { generation, found }) => {
    if (found !== undefined && generation !== undefined) await end(tx, clusterId, generation, found);
  },
  failed: (tx, { clusterId }, failure) => endFailed(tx, clusterId, failure),
});

/** How long what was found of a fit cluster stands. An engine is upgraded, or our certificate loses a right, without anybody telling us. */
const looksEveryMs = 60 * 60_000;

const dueSince = statement<{ id: number }, { before: Date }>(
  'fleet.clustersToCheck',
  `select id from clusters where check_state = 'failed' or check_state = 'ok' and checked_at <= :before order by id`,
);

const nextDue = statement<{ at: Date | null }, { now: Date }>(
  'fleet.nextClusterCheck',
  `select min(case when check_state = 'failed' then :now::timestamptz
     else checked_at + interval '${looksEveryMs} milliseconds' end) as at from clusters where check_state <> 'checking'`,
);

/**
 * Looks again at clusters: every minute at those that lacked something, or were not to be reached when somebody had changed how they are, since
 * nothing runs there until they are found fit, and what heals waits for nobody's hand; every hour at all others, which may have become another
 * version or lack a right meanwhile. What they lack then is told, and they go on.
 */
export const clusterCheckPeriodicJob: PeriodicJob = {
  name: 'fleet.checkClusters',
  intervalMs: 60_000,
  due: nextDue,
  work: async (tx) => {
    const before = new Date(tx.clock.now().getTime() - looksEveryMs);
    for (const { id: clusterId } of await tx.db.many(dueSince, { before }))
      if (!(await isJobUnfinishedAbout(tx, clusterCheck, { clusterId })))
        await enqueue(tx, clusterCheck, { clusterId }, { organizationId: null });
  },
};

function unseen(cluster: ClusterRow, secret: string): Unseen {
  const { endpoints, fingerprints, project, pool, bridge } = cluster;
  return { endpoints, fingerprints, project, pool, bridge, ...accessOf(cluster, secret) };
}

/** A cluster that cannot be spoken to is what was found, and no failure of the look. */
function asFinding(error: unknown): LookedAt {
  if (!(error instanceof Error)) throw error;
  const nothing = { version: null, tested: null, members: [], notes: [], serverCertificate: null };
  return { ...nothing, problems: [error.message] };
}

async function end(tx: TxContext, id: number, generation: number, found: LookedAt): Promise<void> {
  const { problems, notes, version, tested, serverCertificate } = found;
  const written = await tx.db.maybe(writeCheck, {
    ...{ id, generation, isOk: problems.length === 0, serverCertificate, version, tested, problems, notes },
    now: tx.clock.now(),
  });
  if (!written?.is_news) return;
  const data = { name: written.name, version, problems };
  if (problems.length === 0) await bringImages(tx, { clusterId: id });
  await record(tx, clusterChecked, { subject: { type: 'cluster', id }, organizationId: null, data });
}

async function endFailed(tx: TxContext & Context, id: number, failure: Failure): Promise<void> {
  const cluster = await tx.db.maybe(clusterById, { id });
  if (cluster === null) return;
  const nothing = { version: null, tested: null, members: [], notes: [], serverCertificate: null };
  await end(tx, id, cluster.generation, { ...nothing, problems: [failure.message] });
}
