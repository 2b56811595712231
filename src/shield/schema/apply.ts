import { Type } from 'typebox';
import { Choice, Nullable, named, Strict, Timestamp } from '../../platform/http/index.ts';
import { Enforced } from './rules.ts';
import { Network, SmallId, words } from './words.ts';

const applied = named(
  'ShieldApplyRule',
  Strict({
    ...words,
    id: Type.Optional(
      Nullable({ ...SmallId, description: 'A rule of these addresses that stays, with its counters' }),
    ),
    disabled: Type.Optional(
      Type.Boolean({
        description: 'Whether it is off; when absent one that stays is as it was, and a new one is on',
      }),
    ),
  }),
);

export const NewApply = named(
  'NewShieldApply',
  Strict({
    rules: Type.Array(applied, {
      maxItems: 1_000,
      description: 'All rules that these addresses are to have',
    }),
    destinations: Type.Optional(
      Nullable(
        Type.Array(Network, {
          maxItems: 256,
          description: 'Addresses that are to have no others, also where none of the rules is for them',
        }),
      ),
    ),
    keep_wider: Type.Optional(
      Type.Boolean({
        description:
          'Rules for wider networks, which are for other addresses as well, stay as they are; without it they have to be named',
      }),
    ),
    confirm_within_s: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 10,
          maximum: 3_600,
          description: 'Takes them back by itself unless they are confirmed in so many seconds',
        }),
      ),
    ),
    force: Type.Optional(
      Type.Boolean({ description: 'Also when they shut out the address that you come from' }),
    ),
  }),
);

export const ApplyMade = Type.Object({
  apply_id: SmallId,
  confirm_until: Nullable(Timestamp),
  rule_ids: Type.Array(SmallId, { description: 'In the order of the request' }),
});

export const Apply = named(
  'ShieldApply',
  Type.Object({
    id: SmallId,
    state: Choice(['applied', 'trying', 'confirmed', 'cancelled', 'superseded', 'over'], {
      description: 'over: nobody confirmed it in time; superseded: a later change took its place',
    }),
    destinations: Type.Array(Type.String()),
    rule_ids: Type.Array(SmallId),
    confirm_until: Nullable(Timestamp),
    seconds_left: Nullable(
      Type.Integer({ description: 'Until they are taken back, while they are tried out' }),
    ),
    enforced: Nullable(Enforced),
    created_at: Timestamp,
    ended_at: Nullable(Timestamp),
  }),
  'Rules that were put in force as one',
);

export const ApplyData = Type.Object({ apply: Apply });

export const Confirmation = Strict({
  new_connection: Type.Optional(
    Type.Boolean({
      description:
        'Refuses it over a connection that was open before these rules were in force, and ends that one: whoever is shut out has no newer one',
    }),
  ),
});
