import { Type } from 'typebox';
import { Choice, Id, Nullable, named, Strict, Timestamp } from '../../platform/http/index.ts';
import { evacuationStates, moveStates } from './rows.ts';

const Count = Type.Integer({ minimum: 0 });
const Cold = Type.Optional(
  Type.Boolean({
    description:
      'Machines that cannot go while they run are shut down, moved and started again; without it they stay',
  }),
);

export const Evacuate = named(
  'NodeEvacuation',
  Strict({
    cold: Cold,
    cluster_id: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Of a host of our own: the cluster that its machines go into, each made anew there of its disk as it is once it was shut down',
      }),
    ),
    service_ids: Type.Optional(
      Type.Array(Id, {
        minItems: 1,
        maxItems: 1_000,
        uniqueItems: true,
        description: 'With `cluster_id`: these machines alone, and the host goes on taking new ones',
      }),
    ),
    drop_copies: Type.Optional(
      Type.Boolean({
        description:
          'With `cluster_id`: machines go without the snapshots and backups that the plan names in `loses_copies`, which are lost; else they stay',
      }),
    ),
    begins_at: Type.Optional({
      ...Timestamp,
      description: 'No machine goes before this moment, at most 90 days ahead; default: at once',
    }),
  }),
);
export const PlanQuery = Strict({ cluster_id: Type.Integer({ minimum: 1 }) });
export const Restore = named(
  'NodeRestoration',
  Strict({
    bring_back: Type.Optional(
      Type.Boolean({
        description: 'The machines that were taken away since they were brought back last come back',
      }),
    ),
    cold: Cold,
  }),
);

const Machine = named(
  'EvacuatedMachine',
  Type.Object({
    service_id: Id,
    organization_id: Id,
    state: named(
      'EvacuatedMachineState',
      Choice(moveStates, { description: 'stays: it does not move, for `reason`' }),
    ),
    reason: Nullable(Type.String()),
    node: Nullable(Type.String({ description: 'Where it is now; null once it is gone' })),
    live: Nullable(
      Type.Boolean({
        description: 'Whether it ran on meanwhile; null of one that was off, or has not moved',
      }),
    ),
    away_s: Nullable(
      Type.Integer({
        description: 'How long it was off for it, until it was ready again; null: it was not taken down',
      }),
    ),
    began_at: Nullable(Timestamp),
    ended_at: Nullable(Timestamp),
  }),
  'A machine of a node that is emptied, and how far it is',
);

export const EvacuationData = named(
  'EvacuationAnswer',
  Type.Object({
    evacuation: Nullable(
      named(
        'Evacuation',
        Type.Object({
          node_id: Id,
          kind: Choice(['evacuate', 'restore'], {
            description: 'evacuate: machines leave the node; restore: they come back to it',
          }),
          cold: Type.Boolean(),
          cluster_id: Nullable(
            Type.Integer({
              description: 'The cluster that machines of a host of our own go into',
            }),
          ),
          begins_at: Nullable({ ...Timestamp, description: 'No machine goes before this moment' }),
          state: named(
            'EvacuationState',
            Choice(evacuationStates, { description: 'done: no machine waits or moves any more' }),
          ),
          halted_for: Nullable(
            Type.String({
              description:
                'Why it stands, and no other machine begins, until staff evacuates again or stops it',
            }),
          ),
          started_at: Timestamp,
          ended_at: Nullable(Timestamp),
          waiting: Count,
          moving: Count,
          moved: Count,
          stay: Count,
          machines: Type.Array(Machine),
        }),
        'How far the machines of a node have gone to others of its cluster, or come back',
      ),
    ),
  }),
);

const Planned = named(
  'PlannedMachine',
  Type.Object({
    service_id: Id,
    organization_id: Id,
    hostname: Type.String(),
    runs: Type.Boolean({ description: 'It is shut down for it, and started again there' }),
    possible: Type.Boolean(),
    reason: Nullable(Type.String({ description: 'Why it would stay' })),
    snapshots: Count,
    backups: Count,
    loses_copies: named(
      'LostCopies',
      Type.Object({
        snapshots: Type.Integer({ minimum: 0, description: 'They are layers of a disk that stays behind' }),
        backups: Type.Integer({
          minimum: 0,
          description: '0 where the cluster keeps backups: they go along',
        }),
      }),
      'Copies of a machine that are lost when it goes: see `drop_copies`',
    ),
    loses: Type.Array(Type.String(), {
      description: 'What it has where it is, and will not have in the cluster, in words',
    }),
  }),
  'A machine of a host of our own, and what a cluster would mean to it',
);

export const PlanData = named(
  'EvacuationPlanAnswer',
  Type.Object({
    plan: named(
      'EvacuationPlan',
      Type.Object({
        node_id: Id,
        name: Type.String(),
        cluster_id: Id,
        cluster: Type.String(),
        possible: Type.Boolean({ description: 'Whether machines of this host may go into this cluster' }),
        reason: Nullable(Type.String({ description: 'Why not' })),
        machines: Type.Array(Planned),
      }),
      'What would become of each machine of a host of our own that goes into a cluster',
    ),
  }),
);
