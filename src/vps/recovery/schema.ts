import { Type } from 'typebox';
import { Choice, Id, Nullable, named, Strict, Timestamp } from '../../platform/http/index.ts';
import { recoveryStates } from './rows.ts';

export const Recover = named(
  'NodeRecovery',
  Strict({
    confirm: Type.String({
      maxLength: 128,
      description: 'The name of the node: what its machines wrote after their backups stays behind',
    }),
    service_ids: Type.Optional(
      Type.Array(Id, {
        minItems: 1,
        maxItems: 1_000,
        uniqueItems: true,
        description: 'Without it, all machines that have a backup which can be read',
      }),
    ),
  }),
);

const Machine = named(
  'RecoverableMachine',
  Type.Object({
    service_id: Id,
    organization_id: Id,
    hostname: Nullable(Type.String({ description: 'Null once the machine is gone' })),
    state: named(
      'RecoverableMachineState',
      Choice(['possible', 'impossible', ...recoveryStates], {
        description:
          'possible: it can be made anew; impossible: it cannot, for `reason`; running: it is being made anew; recovered: it is ' +
          'another node’s by now; stays: the last try came to nothing, for `reason`',
      }),
    ),
    reason: Nullable(Type.String()),
    backup: Nullable(
      Type.String({ description: 'The newest backup that can be read while the node is away' }),
    ),
    backup_at: Nullable(Timestamp),
    kept_on: Nullable(Type.String({ description: 'The node that has the backup' })),
    node: Nullable(Type.String({ description: 'Where the machine is since' })),
    left_over: Nullable(
      Type.String({
        description:
          'What the node still has of it, by the engine’s name: it is never started, and yours to remove',
      }),
    ),
    ended_at: Nullable(Timestamp),
  }),
  'A machine of a node, and whether it can be made anew on another',
);

export const RecoveryData = named(
  'RecoveryAnswer',
  Type.Object({
    recovery: named(
      'Recovery',
      Type.Object({
        node_id: Id,
        name: Type.String({ description: 'What has to be typed for it' }),
        possible: Type.Boolean({ description: 'Whether machines of this node may be made anew elsewhere' }),
        reason: Nullable(Type.String({ description: 'Why not' })),
        machines: Type.Array(Machine),
      }),
      'What of a node’s machines can be made anew on other nodes, and what has become of those that were',
    ),
  }),
);
