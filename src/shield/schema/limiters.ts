import { Type } from 'typebox';
import {
  Choice,
  ListQuery,
  line,
  listOf,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { rateFields, SmallId } from './words.ts';

const limiter = { name: line(100, { examples: ['Web'] }), ...rateFields };

const Limiter = named(
  'ShieldRateLimiter',
  Type.Object({
    id: SmallId,
    name: limiter.name,
    packets_per_second: Nullable(limiter.packets_per_second),
    bits_per_second: Nullable(limiter.bits_per_second),
    per: limiter.per,
    burst: limiter.burst,
    action: Choice(['drop']),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
  'A rate that rules hold packets to',
);

export const LimiterQuery = ListQuery({ sort: SortBy(['name'], 'name') });

export const LimiterList = named('ShieldRateLimiterList', listOf('rate_limiters', Limiter));

export const LimiterData = Type.Object({ rate_limiter: Limiter });

export const NewLimiter = named(
  'NewShieldRateLimiter',
  Strict({
    name: limiter.name,
    packets_per_second: Type.Optional(Nullable(limiter.packets_per_second)),
    bits_per_second: Type.Optional(Nullable(limiter.bits_per_second)),
    per: limiter.per,
    burst: limiter.burst,
    action: Type.Optional(Choice(['drop'])),
  }),
);

export const LimiterChange = named(
  'ShieldRateLimiterChange',
  Strict({
    name: Type.Optional(limiter.name),
    packets_per_second: Type.Optional(Nullable(limiter.packets_per_second)),
    bits_per_second: Type.Optional(Nullable(limiter.bits_per_second)),
    per: Type.Optional(limiter.per),
    burst: Type.Optional(limiter.burst),
    action: Type.Optional(Choice(['drop'])),
  }),
);
