import { Type } from 'typebox';
import { Choice, line, lineOrBlank, Nullable, named, Strict, shownAs } from '../../platform/http/index.ts';
import { flagNames, largestPort, matchTypes, numberFields, protocols, ratesPer } from '../rules/match.ts';

/** Ids of Shield fit in 31 bits. */
export const SmallId = Type.Integer({ minimum: 1, maximum: 2_147_483_647, examples: [1_873_920_411] });

export const SmallIdParams = Strict({ id: SmallId });

export const Network = line(64, {
  description: 'A network of your addresses, or one address, with or without its length',
  examples: ['203.0.113.10/32'],
});

export const Source = lineOrBlank(64, { minLength: 0, examples: ['198.51.100.0/24'] });

export const Action = named('ShieldAction', Choice(['permit', 'deny']));

export const Protocol = Type.Unsafe<(typeof protocols)[number]>({
  type: 'integer',
  enum: [...protocols],
  description: '1 ICMP (of IPv6: ICMPv6), 4 IP in IP, 6 TCP, 17 UDP, 47 GRE, 50 ESP',
});

export const Order = Type.Integer({
  minimum: 0,
  maximum: 10_000,
  description: 'The lowest first, and of the same the older one; the first rule that matches decides',
});

export const Note = Type.String({
  maxLength: 200,
  description: 'For people; one line without quotes and braces',
});

const MatchType = named('ShieldMatchType', Choice(matchTypes));

export const Moment = Type.String({
  pattern: '^([1-9]\\d{3}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,3})?Z)?$',
  'x-message': 'must be a moment in UTC, such as 2026-01-31T12:00:00Z',
  examples: ['2036-01-31T12:00:00Z'],
});

const span = (largest: number) =>
  Type.Object({
    start: Type.Integer({ minimum: 0, maximum: largest }),
    end: Type.Integer({ minimum: 0, maximum: largest }),
  });

export const Port = named(
  'ShieldPort',
  Type.Object({
    match_type: MatchType,
    match_value: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0, maximum: largestPort }), {
        description: 'Ports; with gt and lt one. Not with range',
      }),
    ),
    range: Type.Optional(span(largestPort)),
  }),
  'Which ports',
);

export const OtherMatch = named(
  'ShieldMatch',
  Type.Object({
    match: Choice([...flagNames, 'fragments', ...Object.keys(numberFields)] as const),
    match_type: MatchType,
    match_value: Type.Optional(
      Type.Unsafe<number | boolean>({
        type: ['integer', 'boolean'],
        description:
          'true or false of a flag and of fragments, else a number; length is that of the whole packet in bytes, with its IP header',
      }),
    ),
    range: Type.Optional(span(numberFields.length)),
  }),
  'What else has to be so of a packet',
);

export const rateFields = {
  packets_per_second: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
  bits_per_second: Type.Integer({ minimum: 8, maximum: 10_000_000_000_000 }),
  per: Choice(ratesPer, {
    description: 'What has the rate for itself: the rule at each address, each source, each address',
  }),
  burst: Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Packets that may come at once' }),
};

const NewRate = named(
  'NewShieldRate',
  Strict({
    packets_per_second: Type.Optional(Nullable(rateFields.packets_per_second)),
    bits_per_second: Type.Optional(Nullable(rateFields.bits_per_second)),
    per: rateFields.per,
    burst: rateFields.burst,
  }),
  'A rate of the rule’s own, of packets or bits or both: what comes above it is dropped. Not beside a rate limiter',
);

/** Clients send these as texts that hold JSON, too; the room reads them. */
const Anything = Type.Unknown();

const sentPort = Type.Optional(shownAs(Nullable(Port), Anything));

const sentMatches = Type.Optional(shownAs(Nullable(Type.Array(OtherMatch)), Anything));

export const optional = {
  source: Type.Optional(Nullable(Source)),
  note: Type.Optional(Nullable(Note)),
  source_port: sentPort,
  destination_port: sentPort,
  matches: sentMatches,
  rate_limiter_id: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 0,
        maximum: 2_147_483_647,
        description: 'Of a rule that permits: what comes above the rate is dropped',
      }),
    ),
  ),
  rate: Type.Optional(Nullable(NewRate)),
  expires_at: Type.Optional(Nullable(Moment)),
};

export const words = { destination: Network, action: Action, protocol: Protocol, order: Order, ...optional };

export const RuleWords = named('ShieldRuleWords', Strict(words), 'What a rule says');

const Warning = named(
  'ShieldWarning',
  Type.Object({
    code: Choice(['never_matches', 'drops_answers', 'shuts_out_caller']),
    message: Type.String(),
    address: Type.String({ examples: ['203.0.113.10/32'] }),
    rule_id: Nullable(SmallId),
    shadowed_by: Nullable(SmallId),
  }),
  'What may surprise about rules that were taken all the same',
);

/** Stands beside `data`. */
export const warned = { warnings: Type.Array(Warning) };

export const PageQuery = Strict({
  page: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Counts from zero' }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 25 }),
  filter: Type.Optional(
    Type.String({ maxLength: 200, description: 'A part of an address, a name, an action or a note' }),
  ),
});

export const IpParams = Strict({
  ip: Type.String({ minLength: 1, maxLength: 64, examples: ['203.0.113.10'] }),
});

export const Small = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });

export const Count = Type.Integer({ format: 'int64', minimum: 0 });
