import { readOwners } from '../../organizations/index.ts';
import { AppError, attempt, type PeriodicJob, statement, type TxContext } from '../../platform/index.ts';
import { beginSystemAction, noteSystemFailure } from '../actions/act.ts';
import { holdsLock } from '../actions/lock.ts';
import { inSql, openStatuses, rules } from '../states.ts';
import { writeSnapshot } from './rows.ts';
import { snapshotJobs } from './sagas.ts';
import { backupPrefix } from './snapshots.ts';

/** Of a node. Each writes a whole disk, so more at once would take the node from the machines that it is there for. */
const mostOfNode = 4;
/** Of one owner's machines on a node, so that large disks, or ones that hang, keep no neighbour waiting. */
const mostOfOwner = 2;
/** How many of a node are looked at to find those: of each organization no more than may begin. */
const mostLookedAt = 32;

interface Idle {
  service_id: number;
  organization_id: number;
  node_id: number;
  state: 'running' | 'stopped';
  wanted: 'running' | 'stopped';
}

const idle = `s.status = 'active' and m.state in ${inSql(rules.create_backup.from)}
  and not exists (select 1 from vps_actions a where a.service_id = m.service_id and ${holdsLock('a')})`;

// A machine that is busy now is looked at again a minute later, through the whole hour and those after it. One that
// failed waits, so that it never takes the turns of the others.
const due = `m.backup_enabled and ${idle}
     and m.backup_hour <= extract(hour from :now::timestamptz at time zone 'UTC')
     and (m.backed_up_at is null or m.backed_up_at < date_trunc('day', :now::timestamptz, 'UTC')
       or m.backed_up_at > :now::timestamptz + interval '1 minute')
     and (m.backup_tried_at is null or m.backup_tried_at <= :now::timestamptz - interval '1 hour'
       or m.backup_tried_at > :now::timestamptz + interval '1 minute')`;
// Machines of a node that is away, or of an owner whose disks hang, stay due and come to wait longest: they are left out here,
// and counted by node, or they alone would be looked at and nobody anywhere would be backed up.
const dueMachines = statement<
  Pick<Idle, 'service_id' | 'organization_id' | 'node_id'>,
  { now: Date; each: number; most: number; fullNodes: number[]; spentNodes: number[]; spentBy: number[] }
>(
  'vps.dueForBackup',
  `select service_id, organization_id, node_id from (
     select ready.*, row_number() over (partition by node_id order by backed_up_at nulls first, service_id) as nth_there
     from (
       select m.service_id, m.organization_id, m.node_id, m.backed_up_at, row_number() over (
         partition by m.node_id, m.organization_id order by m.backed_up_at nulls first, m.service_id) as nth
       from machines m join services s on s.id = m.service_id
       where ${due} and m.node_id <> all(:fullNodes::bigint[])
         and not exists (select 1 from unnest(:spentNodes::bigint[], :spentBy::bigint[]) spent(node_id, organization_id)
           where spent.node_id = m.node_id and spent.organization_id = m.organization_id)) ready
     where nth <= :each) there
   where nth_there <= :most order by backed_up_at nulls first, service_id`,
);
const lockDue = statement<Idle, { serviceId: number; now: Date }>(
  'vps.lockDueForBackup',
  `select m.service_id, m.organization_id, m.node_id, m.state, m.wanted
   from machines m join services s on s.id = m.service_id
   where m.service_id = :serviceId and ${due} for update of s skip locked`,
);
const openBackups = statement<{ node_id: number; organization_id: number; backups: number }>(
  'vps.openBackups',
  `select m.node_id, m.organization_id, count(*)::int as backups
   from vps_actions a join machines m on m.service_id = a.service_id
   where a.command = 'create_backup' and a.status in ${inSql(openStatuses)} group by 1, 2`,
);
// What failed is no backup: it takes no place of one that is good, and goes when there is a newer one, or too many like it. What cannot be read now is
// none to rely on either: while the node of the machine does not answer nothing goes, and what is kept on another that does not takes no place.
const isToBeRead =
  'not exists (select 1 from nodes k where k.id = kept_on and (not k.reachable or k.left_at is not null))';
const surplusBackups = statement<Idle & { name: string }, { now: Date }>(
  'vps.surplusBackups',
  `select m.service_id, m.organization_id, m.node_id, m.state, m.wanted, b.name
   from machines m join services s on s.id = m.service_id
   join nodes host on host.id = m.node_id and host.reachable and host.left_at is null
   join lateral (select name from (
       select name, state, created_at, count(*) filter (where state = 'ready' and ${isToBeRead}) over newer as newer_good,
         count(*) filter (where state = 'error') over newer as newer_bad
       from vps_snapshots where service_id = m.service_id and kind = 'backup' and state in ('ready', 'error')
       window newer as (order by created_at desc, name desc rows between unbounded preceding and 1 preceding)
     ) copies
     where case state when 'ready' then newer_good >= m.backup_keep else newer_good > 0 or newer_bad >= m.backup_keep end
     order by created_at limit 1) b on true
   where m.backup_enabled and ${idle}
     and not exists (select 1 from vps_actions a where a.service_id = m.service_id and a.command = 'delete_snapshot'
       and a.status = 'error' and a.created_at > :now::timestamptz - interval '1 hour')
   limit 4 for update of s skip locked`,
);
// Which are due, and which copies are too many, changes with everything that is done to a machine.
const anyMachine = statement<{ at: Date | null }, { now: Date }>(
  'vps.anyMachine',
  'select case when exists (select 1 from machines) then :now::timestamptz end as at',
);
const markBackedUp = statement<never, { serviceId: number; now: Date }>(
  'vps.markBackedUp',
  'update machines set backed_up_at = :now where service_id = :serviceId',
);
const markTried = statement<never, { serviceId: number; now: Date }>(
  'vps.markBackupTried',
  'update machines set backup_tried_at = :now where service_id = :serviceId',
);
const markDeleting = statement<never, { serviceId: number; name: string }>(
  'vps.markDeleting',
  `update vps_snapshots set state = 'deleting' where service_id = :serviceId and name = :name`,
);

/**
 * Makes the nightly backups that are due, a few at a time, and takes away the oldest beyond what is to be kept.
 * A night that was missed because the product was down is made up for later the same day.
 */
export const backupPeriodicJob: PeriodicJob = {
  name: 'vps.backups',
  intervalMs: 60_000,
  due: anyMachine,
  anyTime: true,
  work: async (ctx) => {
    const now = ctx.clock.now();
    for (const { name, ...machine } of await ctx.db.many(surplusBackups, { now })) {
      await apart(ctx, machine, (one) => dropBackup(one, machine, name));
    }
    for (const serviceId of await chooseDue(ctx, now)) {
      const machine = await ctx.db.maybe(lockDue, { serviceId, now });
      if (machine !== null) await apart(ctx, machine, (one) => backUp(one, machine));
    }
  },
};

/** Whose backups begin now, the one that has waited longest first: as many as its node and its owner's share there allow. */
async function chooseDue(ctx: TxContext, now: Date): Promise<number[]> {
  const open = await ctx.db.many(openBackups);
  const taken = new Map<string, number>();
  const take = (key: string, by: number) => taken.set(key, (taken.get(key) ?? 0) + by);
  const count = (owners: Owners, each: Whose, by: number) => {
    const { node, theirs } = keysOf(owners, each);
    for (const key of [node, theirs]) take(key, by);
  };
  const mayBegin = (owners: Owners, each: Whose) => {
    const { node, theirs } = keysOf(owners, each);
    return (taken.get(node) ?? 0) < mostOfNode && (taken.get(theirs) ?? 0) < mostOfOwner;
  };
  const busy = await ownersOf(ctx, open);
  for (const each of open) count(busy, each, each.backups);
  const fullNodes = open
    .map(({ node_id: nodeId }) => nodeId)
    .filter((nodeId) => (taken.get(`${nodeId}`) ?? 0) >= mostOfNode);
  const spent = open
    .filter((each) => !fullNodes.includes(each.node_id) && !mayBegin(busy, each))
    .flatMap(({ node_id: nodeId, organization_id: id }) =>
      [...(busy.get(id)?.organizationIds ?? [id])].map((organizationId) => ({ nodeId, organizationId })),
    );
  const waiting = await ctx.db.many(dueMachines, {
    ...{ now, each: mostOfOwner, most: mostLookedAt, fullNodes },
    spentNodes: spent.map(({ nodeId }) => nodeId),
    spentBy: spent.map(({ organizationId }) => organizationId),
  });
  const owners = await ownersOf(ctx, waiting);
  return waiting
    .filter((each) => {
      if (!mayBegin(owners, each)) return false;
      count(owners, each, 1);
      return true;
    })
    .map(({ service_id: serviceId }) => serviceId);
}

type Whose = Pick<Idle, 'node_id' | 'organization_id'>;
type Owners = Awaited<ReturnType<typeof readOwners>>;

async function ownersOf(ctx: TxContext, machines: readonly Whose[]): Promise<Owners> {
  if (machines.length === 0) return new Map();
  return readOwners(ctx, [...new Set(machines.map((each) => each.organization_id))]);
}

function keysOf(owners: Owners, { node_id: nodeId, organization_id: organizationId }: Whose) {
  const owner = owners.get(organizationId)?.ownerId ?? -organizationId;
  return { node: `${nodeId}`, theirs: `${nodeId} of ${owner}` };
}

/** Does what is to be done for one machine; when it fails, the others keep what was done for them. */
async function apart(
  ctx: TxContext,
  { service_id: serviceId }: Idle,
  work: (ctx: TxContext) => Promise<void>,
): Promise<void> {
  await attempt(ctx, work).catch(async (error: Error) => {
    await ctx.db.run(markTried, { serviceId, now: ctx.clock.now() });
    ctx.log.warn({ service: serviceId, err: error.message }, 'the backups of a machine could not be seen to');
  });
}

async function dropBackup(ctx: TxContext, machine: Idle, name: string): Promise<void> {
  await ctx.db.run(markDeleting, { serviceId: machine.service_id, name });
  await beginSystemAction(ctx, machine, snapshotJobs.delete_snapshot, { name, kind: 'backup' });
}

async function backUp(ctx: TxContext, machine: Idle): Promise<void> {
  const now = ctx.clock.now();
  const name = `${backupPrefix}${now.toISOString().slice(0, 10)}`;
  await ctx.db.run(markBackedUp, { serviceId: machine.service_id, now });
  const { organization_id: organizationId, service_id: serviceId } = machine;
  const refusal = await attempt(ctx, (one) =>
    writeSnapshot(one, organizationId, serviceId, name, 'backup', 'Nightly backup'),
  ).then(() => null, onlyNoSpace);
  if (refusal !== null) return noteSystemFailure(ctx, machine, 'create_backup', refusal);
  await beginSystemAction(ctx, machine, snapshotJobs.create_backup, { name, kind: 'backup' });
}

/** Without room the machine is as well as before; its owner reads of it in the history, and it has its turn tomorrow. */
function onlyNoSpace(error: unknown): AppError {
  if (error instanceof AppError && error.code === 'no_space') return error;
  throw error;
}
