import { statement } from '../../platform/index.ts';
import { holdsLock } from '../actions/lock.ts';
import { nextIncarnation } from '../incarnations.ts';

/** What becomes of a machine whose node is lost, once staff wants it made anew. */
export const recoveryStates = ['running', 'recovered', 'stays'] as const;
export type RecoveryState = (typeof recoveryStates)[number];

export interface LostNode {
  id: number;
  name: string;
  cluster_id: number | null;
  answers: boolean;
}

const lostNode = 'id, name, cluster_id, reachable and left_at is null as answers from nodes where id = :id';
export const nodeOfRecovery = statement<LostNode, { id: number }>('vps.nodeOfRecovery', `select ${lostNode}`);
export const lockLostNode = statement<LostNode, { id: number }>(
  'vps.lockLostNode',
  `select ${lostNode} for no key update`,
);

/** A machine of a node, with the newest backup that can be read while the node is away. */
export interface LostMachine {
  service_id: number;
  organization_id: number;
  service_status: string;
  hostname: string;
  incarnation: number;
  /** Whether its engine keeps backups. */
  keeps: boolean;
  backup: string | null;
  backup_at: Date | null;
  /** Where that is; null: nothing of it can be read. */
  kept_on: string | null;
  /** Another node that has its newest backup and does not answer either. */
  kept_on_silent: string | null;
  has_backup: boolean;
  /** What is under way with it. */
  command: string | null;
}

const lost = `
  select m.service_id, m.organization_id, s.status as service_status, m.hostname, m.incarnation,
    'backups' = any(n.capabilities) as keeps, b.name as backup, b.created_at as backup_at, k.name as kept_on,
    (select other.name from vps_snapshots c join nodes other on other.id = c.kept_on
     where c.service_id = m.service_id and c.kind = 'backup' and c.state = 'ready' and c.kept_on <> m.node_id
     order by c.created_at desc limit 1) as kept_on_silent,
    exists (select 1 from vps_snapshots c where c.service_id = m.service_id and c.kind = 'backup' and c.state = 'ready') as has_backup,
    (select a.command from vps_actions a where a.service_id = m.service_id and ${holdsLock('a')}) as command
  from machines m join services s on s.id = m.service_id join nodes n on n.id = m.node_id
  left join lateral (select c.name, c.created_at, c.kept_on from vps_snapshots c join nodes at on at.id = c.kept_on
    where c.service_id = m.service_id and c.kind = 'backup' and c.state = 'ready' and c.kept_on <> m.node_id
      and at.reachable and at.left_at is null order by c.created_at desc, c.name limit 1) b on true
  left join nodes k on k.id = b.kept_on`;
export const lostMachines = statement<LostMachine, { nodeId: number }>(
  'vps.lostMachines',
  `${lost} where m.node_id = :nodeId order by m.service_id`,
);
export const lostMachine = statement<LostMachine & { node_id: number }, { serviceId: number }>(
  'vps.lostMachine',
  `select found.*, m.node_id from (${lost} where m.service_id = :serviceId) found
   join machines m on m.service_id = found.service_id`,
);

export interface RecoveryRow {
  id: number;
  node_id: number;
  machine: string;
  service_id: number;
  organization_id: number;
  backup: string;
  backup_at: Date;
  state: RecoveryState;
  reason: string | null;
  asked_at: Date;
  ended_at: Date | null;
}

const columns =
  'id, node_id, machine, service_id, organization_id, backup, backup_at, state, reason, asked_at, ended_at';

export const insertRecovery = statement<
  never,
  Pick<RecoveryRow, 'id' | 'machine' | 'backup'> & {
    nodeId: number;
    serviceId: number;
    organizationId: number;
    backupAt: Date;
    now: Date;
  }
>(
  'vps.insertRecovery',
  `insert into vps_recoveries (id, node_id, machine, service_id, organization_id, backup, backup_at, asked_at)
   values (:id, :nodeId, :machine, :serviceId, :organizationId, :backup, :backupAt, :now) on conflict do nothing`,
);
export const lockRecovery = statement<RecoveryRow, { id: number }>(
  'vps.lockRecovery',
  `select ${columns} from vps_recoveries where id = :id and state = 'running' for update`,
);
export const openRecovery = statement<{ id: number }, { id: number }>(
  'vps.openRecovery',
  `select id from vps_recoveries where id = :id and state = 'running'`,
);
export const noteStuckRecovery = statement<never, { id: number; reason: string }>(
  'vps.noteStuckRecovery',
  `update vps_recoveries set reason = :reason where id = :id and state = 'running'`,
);
// Each attempt has a name of its own: what one before has left is never taken for what is made now.
export const nameRecovery = statement<{ incarnation: number }, { id: number; serviceId: number }>(
  'vps.nameRecovery',
  `update vps_recoveries t set incarnation = ${nextIncarnation}
   from machines m where t.id = :id and m.service_id = :serviceId returning t.incarnation`,
);
// The number stays, so that no other attempt is given it: the job of this one may go on later.
export const disownRecovery = statement<never, { id: number }>(
  'vps.disownRecovery',
  'update vps_recoveries set is_disowned = true where id = :id',
);
export const incarnationOfRecovery = statement<{ incarnation: number | null }, { id: number }>(
  'vps.incarnationOfRecovery',
  'select incarnation from vps_recoveries where id = :id',
);
/** Those under way. */
export const openRecoveries = statement<{ id: number; service_id: number; organization_id: number }>(
  'vps.openRecoveries',
  `select id, service_id, organization_id from vps_recoveries where state = 'running' order by id`,
);
export const endRecovery = statement<
  never,
  { id: number; state: 'recovered' | 'stays'; reason: string | null; now: Date }
>(
  'vps.endRecovery',
  `update vps_recoveries set state = :state, reason = :reason, ended_at = :now where id = :id and state = 'running'`,
);
export interface RecoveredRow extends RecoveryRow {
  hostname: string | null;
  /** Where the machine is now. */
  node: string | null;
  /** Whether the lost node was seen with what it has of it. */
  left_over: boolean;
}
/** The last of each machine of a node. */
export const recoveriesOf = statement<RecoveredRow, { nodeId: number }>(
  'vps.recoveriesOf',
  `select distinct on (r.service_id) ${columns
    .split(', ')
    .map((column) => `r.${column}`)
    .join(', ')}, m.hostname, n.name as node,
     exists (select 1 from vps_unknown_machines u where u.node_id = r.node_id and u.machine = r.machine) as left_over
   from vps_recoveries r left join machines m on m.service_id = r.service_id left join nodes n on n.id = m.node_id
   where r.node_id = :nodeId order by r.service_id, r.asked_at desc, r.ended_at desc nulls first`,
);

/** What nodes have of machines that run elsewhere by now, of those that were named. */
export const leftOvers = statement<
  {
    id: number;
    machine: string;
    node_id: number;
    service_id: number;
    organization_id: number;
    /** That which is the machine by now. */
    incarnation: number;
  },
  { machines: string[] }
>(
  'vps.leftOvers',
  `select r.id, r.machine, r.node_id, r.service_id, r.organization_id, m.incarnation from vps_recoveries r
   join machines m on m.service_id = r.service_id
   where r.state = 'recovered' and r.machine = any(:machines::text[])`,
);

export const writeIncarnation = statement<
  never,
  { serviceId: number; nodeId: number; incarnation: number; image: string }
>(
  'vps.writeIncarnation',
  `update machines set node_id = :nodeId, incarnation = :incarnation, image = :image, started_at = null, button = null,
     pressed_at = null, retry_at = null, host_failures = 0, in_rescue = false, rescue = false where service_id = :serviceId`,
);
export const forgetLostCopies = statement<never, { serviceId: number }>(
  'vps.forgetLostCopies',
  `delete from vps_snapshots where service_id = :serviceId and (kind = 'snapshot' or state <> 'ready' or kept_on is null)`,
);
export const copyToRecover = statement<
  { image: string | null; access: unknown },
  { serviceId: number; name: string }
>(
  'vps.copyToRecover',
  `select image, access from vps_snapshots where service_id = :serviceId and name = :name and kind = 'backup' and state = 'ready'`,
);
export const toldOf = statement<
  { user_id: number; name: string; before: string },
  { serviceId: number; from: number; to: number }
>(
  'vps.toldOfRecovery',
  `select s.user_id, n.name, before.name as before from services s, nodes before, nodes n
   where s.id = :serviceId and before.id = :from and n.id = :to`,
);
