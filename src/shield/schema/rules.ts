import { type TSchema, Type } from 'typebox';
import { Choice, Nullable, named, Strict, Timestamp } from '../../platform/http/index.ts';
import { matchTypes, type Rate } from '../rules/match.ts';
import {
  Action,
  Network,
  Order,
  OtherMatch,
  optional,
  Port,
  Protocol,
  rateFields,
  SmallId,
  Source,
  words,
} from './words.ts';

export const NewRule = named(
  'NewShieldRule',
  Strict({
    ...words,
    id: Type.Optional(
      Nullable({ ...SmallId, description: 'Replaces this rule, which keeps its id and its counters' }),
    ),
  }),
);

export const RuleChange = named(
  'ShieldRuleChange',
  Strict({
    ...optional,
    destination: Type.Optional(Nullable(Network)),
    action: Type.Optional(Nullable(Action)),
    protocol: Type.Optional(Nullable(Protocol)),
    order: Type.Optional(Nullable(Order)),
  }),
);

export const Enforced = named(
  'ShieldEnforced',
  Type.Object({
    active: Type.Boolean({ description: 'Whether it filters at this moment as it stands here' }),
    generation: Nullable(
      Type.Integer({ description: 'Which version of it the edge has; null: none yet', format: 'int64' }),
    ),
    since: Nullable(Timestamp),
    error: Nullable(
      Type.String({
        description:
          'Why what is wanted is not in force, or, where it is active, not at routers in front as well',
      }),
    ),
  }),
  'What the edge does about it',
);

const Counters = named(
  'ShieldCounters',
  Type.Object({
    packets: Type.Integer({ format: 'int64' }),
    bytes: Type.Integer({ format: 'int64' }),
    dropped_packets: Type.Integer({ format: 'int64', description: 'Of them: above the rate of its limiter' }),
    dropped_bytes: Type.Integer({ format: 'int64' }),
  }),
  'Packets that it decided about, over all that it ever said; read every few seconds',
);

export const Rule = named(
  'ShieldRule',
  Type.Object({
    id: SmallId,
    destination: Network,
    source: Nullable(Source),
    action: Action,
    protocol: Protocol,
    order: Order,
    note: Nullable(Type.String()),
    disabled: Type.Boolean(),
    src_port_type: Nullable(Choice(matchTypes)),
    dst_port_type: Nullable(Choice(matchTypes)),
    source_port: Type.Unsafe<unknown>(Nullable(Port) as TSchema),
    destination_port: Type.Unsafe<unknown>(Nullable(Port) as TSchema),
    matches: Type.Unsafe<unknown[]>(Type.Array(OtherMatch)),
    matched_packets: Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      description: 'Stops at 2147483647; `counters` does not',
    }),
    counters: Counters,
    group_id: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: '0: in no group' }),
    rate_limiter_id: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: '0: none' }),
    rate: Type.Unsafe<Rate | null>(
      Nullable(
        Type.Object(
          {
            packets_per_second: Nullable(rateFields.packets_per_second),
            bits_per_second: Nullable(rateFields.bits_per_second),
            per: rateFields.per,
            burst: rateFields.burst,
          },
          { description: 'Of its own' },
        ),
      ) as TSchema,
    ),
    expires_at: Nullable(Timestamp),
    enforced: Enforced,
    created_at: Timestamp,
    last_rule_update: Timestamp,
    updated_at: Timestamp,
  }),
  'A rule for packets to your addresses',
);

export const RuleList = named(
  'ShieldRuleList',
  Type.Object({
    limit: Type.Integer(),
    total: Type.Integer({ description: 'With a filter counted up to 10,000' }),
    page: Type.Integer({ description: 'Counts from zero' }),
    pages: Type.Integer(),
    rules: Type.Array(Rule),
  }),
);

export const RuleData = Type.Object({ rule: Rule });

export const RuleMade = Type.Object({ rule_id: SmallId });
