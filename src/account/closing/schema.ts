import { Type } from 'typebox';
import { Id, named, Strict } from '../../platform/http/index.ts';

export const ClosingWish = named(
  'ClosingWish',
  Strict({
    give_up_credit: Type.Optional(
      Type.Boolean({ description: 'Whether credit that is left may go; without it, it stands in the way' }),
    ),
  }),
);
export const ClosedData = named(
  'AccountClosed',
  Type.Object({
    closed: Type.Boolean(),
    organization_ids: Type.Array(Id, { description: 'The organizations that were closed with it' }),
    kept: Type.Array(
      Type.Object({
        tables: Type.Array(Type.String(), { description: 'Named as in the export' }),
        why: Type.String(),
      }),
      { description: 'What stays, without a name' },
    ),
  }),
);
