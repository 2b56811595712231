import type { WantedCluster } from '../../drivers/hypervisor/index.ts';
import { record } from '../../events/index.ts';
import { type Context, statement, transaction } from '../../platform/index.ts';
import { clusterBack, clusterSilent } from '../events.ts';
import { openKey } from './credential.ts';
import { accessOf, type ClusterRow } from './rows.ts';

type Known =
  | ('id' | 'name' | 'generation' | 'endpoints' | 'fingerprints' | 'project' | 'pool' | 'bridge')
  | ('engine' | 'certificate' | 'token_id' | 'files' | 'first_vmid' | 'last_vmid');

interface DrivenRow extends Pick<ClusterRow, Known> {
  server_certificate: string;
  credential: Buffer;
  nodes: { id: number; member: string }[];
}

const driven = statement<DrivenRow>(
  'fleet.clustersToDrive',
  `select c.id, c.name, c.engine, c.generation, to_jsonb(c.endpoints) as endpoints,
     to_jsonb(array[c.fingerprint] || c.further_fingerprints) as fingerprints, c.server_certificate, c.certificate, c.token_id,
     c.credential, c.project, c.pool, c.bridge, c.files, c.first_vmid, c.last_vmid,
     coalesce((select jsonb_agg(jsonb_build_object('id', n.id, 'member', n.member) order by n.id)
       from nodes n where n.cluster_id = c.id), '[]') as nodes
   from clusters c where c.fit_generation = c.generation and c.server_certificate is not null order by c.id`,
);
const takeWatch = statement<{ id: number }, { id: number; by: string; now: Date; until: Date }>(
  'fleet.takeWatch',
  `update clusters set watched_by = :by::uuid, watched_until = :until
   where id = :id and (watched_by = :by::uuid or watched_until is null or watched_until < :now or watched_until > :until)
   returning id`,
);
const leaveWatch = statement<never, { id: number; by: string }>(
  'fleet.leaveWatch',
  'update clusters set watched_until = null where id = :id and watched_by = :by::uuid',
);
const noteAnswer = statement<{ name: string; was_silent: boolean }, { id: number; now: Date }>(
  'fleet.noteAnswer',
  `update clusters c set answered_at = :now, trouble = null, troubled_at = null
   from (select id, trouble from clusters where id = :id for no key update) before
   where c.id = before.id returning c.name, before.trouble is not null as was_silent`,
);
const noteSilence = statement<
  { name: string; is_news: boolean },
  { id: number; trouble: string; now: Date; before: Date }
>(
  'fleet.noteSilence',
  `update clusters c set trouble = :trouble, troubled_at = coalesce(c.troubled_at, :now)
   from (select id, trouble from clusters where id = :id for no key update) was
   where c.id = was.id and coalesce(c.answered_at, c.created_at) < :before and was.trouble is distinct from :trouble
   returning c.name, was.trouble is null as is_news`,
);
const setCompared = statement<never, { id: number; now: Date }>(
  'fleet.noteCompared',
  'update clusters set compared_at = :now where id = :id',
);
const unseen = statement<Unseen, { since: Date; madeAt: Date; ids: number[]; isFresh: boolean }>(
  'fleet.clustersUnseenSince',
  `select name, :isFresh and trouble is null as "isComing" from clusters where fit_generation > 0 and created_at <= :madeAt and (compared_at is null or compared_at < :since)
     and (id = any(:ids::bigint[]) or (:isFresh and trouble is null)) order by "isComing", id`,
);

const everyCluster = statement<{ id: number }>('fleet.everyCluster', 'select id from clusters order by id');

/** How long a process has the say over a cluster after its last turn. */
const watchMs = 15_000;
/** Another process may still reach it, or it is back in a moment. */
const silentAfterMs = 15_000;

/** The clusters that machines may run on, with what opens them. */
export async function clustersToDrive(ctx: Context): Promise<WantedCluster[]> {
  return (await ctx.db.many(driven)).map((row) => ({
    ...{ id: row.id, name: row.name, generation: row.generation, nodes: row.nodes },
    connection: {
      ...{ endpoints: row.endpoints, fingerprints: row.fingerprints },
      ...{ serverCertificate: row.server_certificate, project: row.project, pool: row.pool },
      ...{ bridge: row.bridge, ...accessOf(row, openKey(ctx, row.id, row.credential)) },
    },
  }));
}

/**
 * Whether this process (`by`: a UUID of its own) is the one that writes down what happens in a cluster. It stays so while it asks every few
 * seconds; when it does not reach the cluster it must not ask, and another one goes on.
 */
export async function watchesCluster(ctx: Context, id: number, by: string): Promise<boolean> {
  const now = ctx.clock.now();
  const until = new Date(now.getTime() + watchMs);
  return (await ctx.db.maybe(takeWatch, { id, by, now, until })) !== null;
}

/** Leaves it to another process, if this one had it: it does not reach the cluster. */
export async function leaveCluster(ctx: Context, id: number, by: string): Promise<void> {
  await ctx.db.run(leaveWatch, { id, by });
}

/** Writes down that a cluster answers. */
export async function hearCluster(ctx: Context, id: number): Promise<void> {
  await transaction(ctx, 'fleet.hearCluster', async (tx) => {
    const heard = await tx.db.maybe(noteAnswer, { id, now: tx.clock.now() });
    if (!heard?.was_silent) return;
    const data = { name: heard.name };
    await record(tx, clusterBack, { subject: { type: 'cluster', id }, organizationId: null, data });
  });
}

/** Writes down why a cluster cannot be reached, once no process has heard of it for a while. */
export async function missCluster(ctx: Context, id: number, reason: string): Promise<void> {
  await transaction(ctx, 'fleet.missCluster', async (tx) => {
    const now = tx.clock.now();
    const before = new Date(now.getTime() - silentAfterMs);
    const missed = await tx.db.maybe(noteSilence, { id, trouble: reason, now, before });
    if (!missed?.is_news) return;
    const data = { name: missed.name, reason };
    tx.log.error({ cluster: missed.name, reason }, 'a cluster does not answer');
    await record(tx, clusterSilent, { subject: { type: 'cluster', id }, organizationId: null, data });
  });
}

/** Writes down that what the machines of a cluster are was compared with what they should be just now. */
export async function noteCompared(ctx: Context, id: number): Promise<void> {
  await ctx.db.run(setCompared, { id, now: ctx.clock.now() });
}

/** Whoever has no reason to take a machine to be in a cluster waits for one that answers, and for no longer than this. */
const answersWithinMs = 5 * 60_000;

/** A cluster whose machines nobody has compared since a restore. */
export interface Unseen {
  name: string;
  /** It answers, and the restore was minutes ago: it is compared in a moment. */
  isComing: boolean;
}

/** As {@link unseenSince}, of all clusters. */
export async function unseenAnywhere(
  ctx: Context,
  restore: { made_at: Date; restored_at: Date },
): Promise<Unseen[]> {
  return unseenSince(
    ctx,
    restore,
    (await ctx.db.many(everyCluster)).map(({ id }) => id),
  );
}

/**
 * Clusters that were there when a backup was made which was restored, and whose machines nobody has compared since: of those with
 * these ids, and for the first minutes of all that answer. Those of which nobody knows when first.
 */
export async function unseenSince(
  ctx: Context,
  restore: { made_at: Date; restored_at: Date },
  ids: number[],
): Promise<Unseen[]> {
  const { made_at: madeAt, restored_at: since } = restore;
  const isFresh = ctx.clock.now().getTime() - since.getTime() < answersWithinMs;
  return ctx.db.many(unseen, { since, madeAt, ids, isFresh });
}
