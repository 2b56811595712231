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

export const Evacuate = named('NodeEvacuation', Strict({ cold: Cold }));
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
          state: named(
            'EvacuationState',
            Choice(evacuationStates, { description: 'done: no machine waits or moves any more' }),
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
