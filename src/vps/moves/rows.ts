import { statement } from '../../platform/index.ts';
import { nextIncarnation } from '../incarnations.ts';

/** What becomes of a machine while its node is emptied, or gets back what was taken away from it. */
export const moveStates = ['waiting', 'moving', 'moved', 'stays'] as const;
export type MoveState = (typeof moveStates)[number];

export const evacuationStates = ['running', 'stopped', 'done'] as const;

export interface EvacuationRow {
  id: number;
  node_id: number;
  /** `evacuate`: machines leave the node; `restore`: those that an evacuation took away come back to it. */
  kind: 'evacuate' | 'restore';
  cold: boolean;
  /** Of a host of our own: the cluster that its machines go into. */
  cluster_id: number | null;
  drops_copies: boolean;
  /** Why it stands until staff goes on with it; null: it does not. */
  halted_for: string | null;
  /** No machine goes before. */
  begins_at: Date | null;
  state: (typeof evacuationStates)[number];
  started_at: Date;
  ended_at: Date | null;
}

const evacuationColumns =
  'id, node_id, kind, cold, cluster_id, drops_copies, halted_for, begins_at, state, started_at, ended_at';

export const latestEvacuation = statement<EvacuationRow, { nodeId: number }>(
  'vps.latestEvacuation',
  `select ${evacuationColumns} from vps_evacuations where node_id = :nodeId order by id desc limit 1`,
);
export const lockEvacuation = statement<EvacuationRow, { id: number }>(
  'vps.lockEvacuation',
  `select ${evacuationColumns} from vps_evacuations where id = :id for update`,
);
export const runningEvacuations = statement<{ id: number }>(
  'vps.runningEvacuations',
  `select id from vps_evacuations where state = 'running' order by id`,
);
export const insertEvacuation = statement<
  { id: number },
  {
    nodeId: number;
    kind: EvacuationRow['kind'];
    cold: boolean;
    clusterId: number | null;
    dropsCopies: boolean;
    beginsAt: Date | null;
    now: Date;
  }
>(
  'vps.insertEvacuation',
  `insert into vps_evacuations (node_id, kind, cold, cluster_id, drops_copies, begins_at, started_at)
   values (:nodeId, :kind, :cold, :clusterId, :dropsCopies, :beginsAt, :now) returning id`,
);
export const endEvacuation = statement<never, { id: number; state: 'stopped' | 'done'; now: Date }>(
  'vps.endEvacuation',
  'update vps_evacuations set state = :state, ended_at = :now where id = :id',
);

export const haltEvacuationOf = statement<never, { moveId: number; reason: string }>(
  'vps.haltEvacuation',
  `update vps_evacuations e set halted_for = coalesce(e.halted_for, :reason) from vps_moves t
   where t.id = :moveId and e.id = t.evacuation_id and e.state = 'running'`,
);
export const unhaltEvacuation = statement<never, { id: number }>(
  'vps.unhaltEvacuation',
  'update vps_evacuations set halted_for = null where id = :id',
);

// With what is on its way there, whose room is there already.
export const machinesOnNode = statement<
  { service_id: number; organization_id: number },
  { nodeId: number; placed: number[] }
>(
  'vps.machinesToEvacuate',
  `select service_id, organization_id from machines where node_id = :nodeId or service_id = any(:placed::bigint[])
   order by service_id`,
);
// Of each the last time that it left the node or came back to it; one that is on its way is going to be away.
export const machinesTakenAway = statement<
  { service_id: number; organization_id: number },
  { nodeId: number }
>(
  'vps.machinesTakenAway',
  `select m.service_id, m.organization_id
   from (select distinct on (t.service_id) t.service_id, t.state, e.kind from vps_moves t
     join vps_evacuations e on e.id = t.evacuation_id
     where e.node_id = :nodeId and t.state in ('moving', 'moved') order by t.service_id, e.id desc) latest
   join machines m on m.service_id = latest.service_id
   join nodes at on at.id = m.node_id join nodes home on home.id = :nodeId and home.cluster_id = at.cluster_id
   where latest.kind = 'evacuate' and (m.node_id <> :nodeId or latest.state = 'moving') order by m.service_id`,
);
export const insertMoves = statement<
  never,
  { evacuationId: number; ids: number[]; serviceIds: number[]; organizationIds: number[]; told: boolean[] }
>(
  'vps.insertMoves',
  `insert into vps_moves (id, evacuation_id, service_id, organization_id, was_told)
   select t.id, :evacuationId, t.service_id, t.organization_id, t.told
   from unnest(:ids::bigint[], :serviceIds::bigint[], :organizationIds::bigint[], :told::boolean[]) as t (id, service_id, organization_id, told)`,
);
// A machine that is gone by its turn has no node to ask.
export const beginSome = statement<
  { id: number; service_id: number; organization_id: number; node_id: number | null },
  { evacuationId: number; most: number }
>(
  'vps.beginSomeMoves',
  `update vps_moves t set is_begun = true from (
     select w.id, m.node_id, coalesce(m.organization_id, w.organization_id) as organization_id
     from vps_moves w left join machines m on m.service_id = w.service_id
     where w.evacuation_id = :evacuationId and w.state = 'waiting' and not w.is_begun order by w.id
     limit greatest(0, :most::int - (select count(*) from vps_moves o
       where o.evacuation_id = :evacuationId and o.is_begun and o.state in ('waiting', 'moving')))) chosen
   where t.id = chosen.id returning t.id, t.service_id, chosen.organization_id, chosen.node_id`,
);
export const openMoves = statement<{ count: number }, { evacuationId: number }>(
  'vps.openMoves',
  `select count(*)::int as count from vps_moves where evacuation_id = :evacuationId and state in ('waiting', 'moving')`,
);
export const stayAll = statement<
  { service_id: number; was_told: boolean; organization_id: number; user_id: number; hostname: string },
  { evacuationId: number; reason: string; now: Date }
>(
  'vps.stayAll',
  `with stay as (update vps_moves set state = 'stays', reason = :reason, ended_at = :now
     where evacuation_id = :evacuationId and state = 'waiting' returning service_id, was_told)
   select t.service_id, t.was_told, m.organization_id, s.user_id, m.hostname from stay t
   join machines m on m.service_id = t.service_id join services s on s.id = t.service_id order by t.service_id`,
);

export interface OpenMove {
  node_id: number;
  node: string;
  kind: EvacuationRow['kind'];
  cold: boolean;
  cluster_id: number | null;
  drops_copies: boolean;
  began_at: Date | null;
}
export const openMove = statement<OpenMove, { id: number }>(
  'vps.openMove',
  `select e.node_id, n.name as node, e.kind, e.cold, e.cluster_id, e.drops_copies, t.began_at from vps_moves t join vps_evacuations e on e.id = t.evacuation_id
   join nodes n on n.id = e.node_id where t.id = :id and t.state in ('waiting', 'moving') for update of t`,
);
export const beginMove = statement<never, { id: number; now: Date }>(
  'vps.beginMove',
  `update vps_moves set state = 'moving', began_at = coalesce(began_at, :now) where id = :id`,
);
export const noteAway = statement<never, { id: number; now: Date }>(
  'vps.noteAway',
  'update vps_moves set away_since = coalesce(away_since, :now) where id = :id',
);
export const noteStayedOn = statement<never, { id: number }>(
  'vps.noteStayedOn',
  'update vps_moves set away_since = null where id = :id',
);
export const noteBack = statement<never, { id: number; now: Date }>(
  'vps.noteBack',
  'update vps_moves set back_at = coalesce(back_at, :now) where id = :id and away_since is not null',
);
export const endMove = statement<
  { evacuation_id: number; away_s: number | null; off_at: Date | null; was_told: boolean },
  { id: number; state: 'moved' | 'stays'; reason: string | null; live: boolean | null; now: Date }
>(
  'vps.endMove',
  `update vps_moves set state = :state, reason = :reason, live = :live, ended_at = :now
   where id = :id and state in ('waiting', 'moving')
   returning evacuation_id, extract(epoch from back_at - away_since)::int as away_s, away_since as off_at, was_told`,
);

// Each attempt has names of its own: what one before has left in a cluster that was silent is never taken for what is made now.
export const noteIncarnation = statement<{ incarnation: number }, { id: number; serviceId: number }>(
  'vps.noteIncarnation',
  `update vps_moves t set incarnation = ${nextIncarnation}
   from machines m where t.id = :id and m.service_id = :serviceId returning t.incarnation`,
);
// The number stays, so that no other attempt is given it: the job of this one may go on later.
export const disownIncarnation = statement<never, { id: number }>(
  'vps.disownIncarnation',
  'update vps_moves set is_disowned = true where id = :id',
);
export const moveIsOpen = statement<{ id: number }, { id: number }>(
  'vps.moveIsOpen',
  `select id from vps_moves where id = :id and state in ('waiting', 'moving')`,
);
export const noteStuckMove = statement<never, { id: number; reason: string }>(
  'vps.noteStuckMove',
  `update vps_moves set reason = :reason where id = :id and state in ('waiting', 'moving')`,
);
/** Those whose jobs have begun or are about to. */
export const movesUnderWay = statement<{
  id: number;
  service_id: number;
  organization_id: number;
  goes_into_cluster: boolean;
}>(
  'vps.movesUnderWay',
  `select t.id, t.service_id, t.organization_id, e.cluster_id is not null as goes_into_cluster from vps_moves t
   join vps_evacuations e on e.id = t.evacuation_id
   where t.is_begun and t.state in ('waiting', 'moving') order by t.id`,
);
export const noteMayRun = statement<never, { id: number }>(
  'vps.noteMayRun',
  'update vps_moves set may_run_there = true where id = :id',
);
/** One row where it was not noted before. */
export const noteRanThere = statement<never, { id: number }>(
  'vps.noteRanThere',
  'update vps_moves set ran_there = true where id = :id and not ran_there',
);
export const noteNeverRan = statement<never, { id: number }>(
  'vps.noteNeverRan',
  'update vps_moves set ran_there = false where id = :id',
);
export const mayRunThere = statement<
  { incarnation: number | null; may: boolean; ran: boolean },
  { id: number }
>(
  'vps.mayRunThere',
  'select incarnation, may_run_there as may, ran_there as ran from vps_moves where id = :id',
);
export interface MoveRow {
  service_id: number;
  organization_id: number;
  state: MoveState;
  reason: string | null;
  node: string | null;
  live: boolean | null;
  away_s: number | null;
  began_at: Date | null;
  ended_at: Date | null;
}
export const movesOf = statement<MoveRow, { evacuationId: number }>(
  'vps.movesOf',
  `select t.service_id, coalesce(m.organization_id, t.organization_id) as organization_id, t.state, t.reason, n.name as node, t.live,
     extract(epoch from t.back_at - t.away_since)::int as away_s, t.began_at, t.ended_at
   from vps_moves t left join machines m on m.service_id = t.service_id left join nodes n on n.id = m.node_id
   where t.evacuation_id = :evacuationId order by t.service_id`,
);
