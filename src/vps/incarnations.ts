import type { Cluster, Hypervisor, MachineReport } from '../drivers/hypervisor/index.ts';
import { unseenSince } from '../fleet/index.ts';
import { type Context, fail, findHeldRestore, statement } from '../platform/index.ts';
import { machineNamed } from './machine.ts';

/**
 * A machine is made anew under another name, so a service may have several machines with one address and one disk's history, of which the
 * highest incarnation lives. The database knows which that is, unless it was restored from before: then what it takes for the machine is an
 * old copy, and the machine is somewhere among those that it does not know. Nothing is started, and nothing taken away, before that is ruled out.
 */
export interface Incarnation {
  machine: string;
  incarnation: number;
  /** The node or member that has it. */
  at: string;
}

/** In SQL: the next incarnation of the machine `m`, which nothing was or is going to be made as; that after it is what backups pass as. */
export const nextIncarnation = `1 + greatest(m.incarnation,
  coalesce((select max(b.incarnation) + 1 from vps_moves b where b.service_id = m.service_id), 1),
  coalesce((select max(r.incarnation) from vps_recoveries r where r.service_id = m.service_id), 1))`;

// What an attempt of ours has left that never ran is no machine; as the one after that of a move backups have passed, which nobody starts.
const neverRan = `exists (select 1 from vps_moves v where v.service_id = t.service_id and not v.is_disowned
    and (t.incarnation = v.incarnation + 1 or (t.incarnation = v.incarnation and not v.may_run_there)))
  or exists (select 1 from vps_recoveries r where r.service_id = t.service_id and not r.is_disowned and r.incarnation = t.incarnation)`;
const mayLive = statement<{ incarnation: number }, { serviceId: number; incarnations: number[] }>(
  'vps.mayLive',
  `select t.incarnation from (select :serviceId::bigint as service_id, unnest(:incarnations::int[]) as incarnation) t
   where not (${neverRan}) order by t.incarnation desc`,
);
const unknownOf = statement<{ machine: string; at: string }, { serviceId: number }>(
  'vps.unknownIncarnations',
  `select u.machine, n.name as at from vps_unknown_machines u join nodes n on n.id = u.node_id where u.service_id = :serviceId`,
);

// Where a service is or ever was to go, by what this database knows.
const clustersOf = statement<{ id: number }, { serviceId: number }>(
  'vps.clustersOfService',
  `select n.cluster_id as id from machines m join nodes n on n.id = m.node_id where m.service_id = :serviceId and n.cluster_id is not null
   union select n.cluster_id from vps_recoveries r join nodes n on n.id = r.node_id where r.service_id = :serviceId and n.cluster_id is not null
   union select e.cluster_id from vps_moves v join vps_evacuations e on e.id = v.evacuation_id
     where v.service_id = :serviceId and e.cluster_id is not null`,
);

/** All that a cluster has of a service. */
export async function incarnationsIn(
  cluster: Pick<Cluster, 'list'>,
  serviceId: number,
): Promise<Incarnation[]> {
  return namedIn(await cluster.list(), serviceId);
}

function namedIn(reports: Iterable<MachineReport>, serviceId: number): Incarnation[] {
  return [...reports].flatMap(({ id: machine, power, node }) => {
    const named = power === 'absent' ? null : machineNamed(machine);
    if (named?.serviceId !== serviceId) return [];
    return [{ machine, incarnation: named.incarnation, at: node ?? 'its cluster' }];
  });
}

/** Of what engines have of a service, the highest that may be the machine instead of this incarnation; null: none. */
export async function laterOf(
  ctx: Context,
  { serviceId, incarnation }: { serviceId: number; incarnation: number },
  there: readonly Incarnation[],
): Promise<Incarnation | null> {
  const later = there.filter((each) => each.incarnation > incarnation);
  if (later.length === 0) return null;
  const incarnations = later.map((each) => each.incarnation);
  const [row] = await ctx.db.many(mayLive, { serviceId, incarnations });
  return later.find((each) => each.incarnation === row?.incarnation) ?? null;
}

/** The same of what any node was found to have, and of what is reported just now. */
export async function laterKnown(
  ctx: Context,
  of: { serviceId: number; incarnation: number },
  reports: Iterable<MachineReport> = [],
): Promise<Incarnation | null> {
  const listed = (await ctx.db.many(unknownOf, { serviceId: of.serviceId })).map(({ machine, at }) => ({
    ...{ machine, at, incarnation: machineNamed(machine)?.incarnation ?? 1 },
  }));
  return laterOf(ctx, of, [...namedIn(reports, of.serviceId), ...listed]);
}

/** Why nobody starts a machine of which there is a later incarnation, a sentence without the full stop. */
export function livesElsewhere(machine: string, later: Incarnation): string {
  return `${later.at} has ${later.machine}, a later one of ${machine} than the database knows: it may be the machine by now, and ${machine} an old copy of it, which is left alone`;
}

/** Why a machine is not started after a restore: a cluster that may have a later one has not said so far. */
interface Awaited {
  message: string;
  /** It is known in a moment, of its own accord. */
  isComing: boolean;
}

/**
 * What a machine's start waits for after a restore, until staff has released that; null: nothing. One that never had to do with a cluster waits
 * for none that is silent, and for a few minutes at most.
 */
export async function awaitedSinceRestore(ctx: Context, machine: string): Promise<Awaited | null> {
  const named = machineNamed(machine);
  if (named === null) return null;
  const restore = await findHeldRestore(ctx);
  if (restore === null) return null;
  const ids = (await ctx.db.many(clustersOf, { serviceId: named.serviceId })).map(({ id }) => id);
  const [unseen] = await unseenSince(ctx, restore, ids);
  if (unseen === undefined) return null;
  const message = `The database was restored, and ${unseen.name} has not said since what machines it has: ${machine} may be one of them by now, and is not started before it has, or the restore is released`;
  return { message, isComing: unseen.isComing };
}

/**
 * Fails for good where a node has a later incarnation of a machine that is to be started, and fails (`waits`) while a restore has it wait for
 * clusters.
 */
export async function requireLatest(ctx: Context, machine: string): Promise<void> {
  await requireNoLater(ctx, machine);
  const awaited = await awaitedSinceRestore(ctx, machine);
  if (awaited !== null) throw Object.assign(new Error(awaited.message), { code: notCompared, waits: true });
}

/**
 * As {@link requireLatest}, and fails for good where that may wait without end: what its customer asks of a machine keeps nobody waiting for a
 * cluster that is silent, with the machine locked.
 */
export async function requireLatestSoon(ctx: Context, machine: string): Promise<void> {
  await requireNoLater(ctx, machine);
  const awaited = await awaitedSinceRestore(ctx, machine);
  if (awaited === null) return;
  const failure = awaited.isComing ? { waits: true } : { permanent: true, unwanted: true };
  throw Object.assign(new Error(awaited.message), { code: notCompared, ...failure });
}

/**
 * As {@link requireLatest}, and fails for good where that waits: of a machine that would be stopped for what its customer asks. It is as well as
 * before, and nobody keeps its lock until a cluster is heard of again.
 */
export async function requireLatestNow(ctx: Context, machine: string): Promise<void> {
  await requireNoLater(ctx, machine);
  const awaited = await awaitedSinceRestore(ctx, machine);
  if (awaited === null) return;
  const failure = { code: notCompared, permanent: true, unwanted: true };
  throw Object.assign(new Error(awaited.message), failure);
}

/** Fails for good where a node has a later incarnation of a machine: what is done with this one is done with an old copy. */
export async function requireNoLater(ctx: Context, machine: string): Promise<void> {
  const named = machineNamed(machine);
  const later = named === null ? null : await laterKnown(ctx, named);
  if (later === null) return;
  throw Object.assign(new Error(livesElsewhere(machine, later)), { code: mayLiveElsewhere, permanent: true });
}

/** Codes of failures whose messages name members and incarnations, for staff alone. */
export const mayLiveElsewhere = 'lives_elsewhere';
export const notCompared = 'not_compared';

/** What a customer reads instead, a sentence without the full stop. */
export const anotherCopy = 'Another copy of this machine may exist; our staff has been told';

/** Code of an attempt that ends because staff has dismissed its stuck job. */
export const seenToOtherwise = 'seen_to';

/** What a customer reads of an action whose job is stuck. */
export const standsStill = 'It stands still, and we look at it; the machine is left as it is meanwhile';

/**
 * Fails for good, in words for staff, where a cluster has a later incarnation of `machine`, or anything under a name that is about to be made:
 * it is nobody's attempt that this database knows of, and may be the machine.
 */
export async function requireFreeIn(
  ctx: Context,
  there: readonly Incarnation[],
  machine: string,
  wanted: readonly string[],
): Promise<void> {
  const named = machineNamed(machine);
  if (named === null) throw new Error(`${machine} is no machine of a service`);
  const taken = there.find((each) => wanted.includes(each.machine)) ?? (await laterOf(ctx, named, there));
  if (taken === null) return;
  const message = `${taken.at} has ${taken.machine} already, which this database does not know: it may be the machine, as after the restore of a backup`;
  throw Object.assign(fail('conflict', { message }), { permanent: true, unwanted: true });
}

/** Fails for good where something is under a name, whatever it is: after a restore it may be the machine, by what this database has forgotten. */
export async function requireGone(there: Pick<Hypervisor, 'inspect'>, machine: string): Promise<void> {
  const { power } = await there.inspect(machine);
  if (power === 'absent') return;
  const message = `${machine} is in the cluster and is left alone: it may be the machine by now. Remove it there when nobody needs it, and retry this job`;
  throw Object.assign(new Error(message), { permanent: true });
}
