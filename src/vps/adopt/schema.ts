import { Type } from 'typebox';
import { Id, named } from '../../platform/http/index.ts';

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
