import { Type } from 'typebox';
import {
  Choice,
  Id,
  Nullable,
  named,
  PossibleActions,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { machineStates } from '../states.ts';
import { adoptActions, refusalCodes } from './actions.ts';

export const Adopt = named(
  'Adoption',
  Strict({
    confirm: Type.Optional(
      Type.String({
        maxLength: 1_024,
        pattern: '^[^\\r\\n]*$',
        'x-message': 'must be the names of the nodes, on one line',
        description:
          'What `confirm` of the unknown machine says: the names of the nodes that cannot say whether another copy runs there, where you know that none does',
      }),
    ),
  }),
);

export const AdoptedData = named(
  'AdoptedAnswer',
  Type.Object({
    adopted: named(
      'Adopted',
      Type.Object({
        service_id: Id,
        machine: Type.String({ description: 'What is the machine from now on, by its engine’s name' }),
        node: Type.String({ description: 'The node that has it' }),
        old_copy: Type.String({
          description:
            'What was taken for it before, by its engine’s name: it is never started, and yours to remove',
        }),
      }),
      'A machine that the database has caught up with',
    ),
  }),
);

export const UnknownMachineData = named(
  'UnknownMachineAnswer',
  Type.Object({
    unknown_machine: named(
      'UnknownMachine',
      Type.Object({
        id: Id,
        machine: Type.String({ description: 'What its engine calls it' }),
        node_id: Id,
        node: Type.String({ description: 'The node that has it' }),
        answers: Type.Boolean({ description: 'Whether that node answers' }),
        addresses: Type.Array(Type.String(), {
          description: 'Those that it answers on; nobody else gets them',
        }),
        service_id: Nullable(
          Type.Integer({
            ...Id,
            description: 'Whose machine it may be; null: of no service that the database knows',
          }),
        ),
        hostname: Nullable(Type.String()),
        old_copy: Nullable(
          named(
            'UnknownMachineOldCopy',
            Type.Object({
              machine: Type.String({ description: 'What its engine calls it' }),
              node_id: Id,
              node: Type.String(),
              state: Choice(machineStates),
              power: Choice(['running', 'stopped', 'absent', 'unknown'], {
                description: 'What its engine says just now; unknown: it does not answer, or cannot say',
              }),
            }),
            'What the database takes for the machine of its service',
          ),
        ),
        confirm: Nullable(
          Type.String({
            description:
              'What has to be typed to adopt it: the names of the nodes that cannot say whether another copy runs there, separated by a comma and a space; null: nothing',
          }),
        ),
        actions: PossibleActions(
          { each: 'PossibleUnknownMachineAction', all: 'PossibleUnknownMachineActions' },
          adoptActions,
          refusalCodes,
        ),
        found_at: Timestamp,
      }),
      'A machine that a node has and that the database does not know',
    ),
  }),
);
