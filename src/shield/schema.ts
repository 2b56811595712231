import { type TSchema, Type } from 'typebox';
import {
  Choice,
  Day,
  Id,
  ListQuery,
  line,
  lineOrBlank,
  listOf,
  Nullable,
  named,
  SortBy,
  Strict,
  shownAs,
  Timestamp,
} from '../platform/http/index.ts';
import { kinds, levels, mitigations, modes, type Thresholds } from './addresses/words.ts';
import { deciders, mostTraced } from './explain/trace.ts';
import { reasons } from './mitigation/defence.ts';
import { measures } from './mitigation/measures.ts';
import {
  flagNames,
  largestPort,
  matchTypes,
  numberFields,
  protocols,
  type Rate,
  ratesPer,
} from './rules/match.ts';
import { certainties } from './simulate/certainty.ts';
import { hoursToLearn, sources } from './watch/limits.ts';

/** Ids of Shield fit in 31 bits. */
const SmallId = Type.Integer({ minimum: 1, maximum: 2_147_483_647, examples: [1_873_920_411] });
export const SmallIdParams = Strict({ id: SmallId });

const Network = line(64, {
  description: 'A network of your addresses, or one address, with or without its length',
  examples: ['203.0.113.10/32'],
});
const Source = lineOrBlank(64, { minLength: 0, examples: ['198.51.100.0/24'] });
const Action = named('ShieldAction', Choice(['permit', 'deny']));
const Protocol = Type.Unsafe<(typeof protocols)[number]>({
  type: 'integer',
  enum: [...protocols],
  description: '1 ICMP (of IPv6: ICMPv6), 4 IP in IP, 6 TCP, 17 UDP, 47 GRE, 50 ESP',
});
const Order = Type.Integer({
  minimum: 0,
  maximum: 10_000,
  description: 'The lowest first, and of the same the older one; the first rule that matches decides',
});
const Note = Type.String({ maxLength: 200, description: 'For people; one line without quotes and braces' });
const MatchType = named('ShieldMatchType', Choice(matchTypes));
const Moment = Type.String({
  pattern: '^([1-9]\\d{3}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,3})?Z)?$',
  'x-message': 'must be a moment in UTC, such as 2026-01-31T12:00:00Z',
  examples: ['2036-01-31T12:00:00Z'],
});

const span = (largest: number) =>
  Type.Object({
    start: Type.Integer({ minimum: 0, maximum: largest }),
    end: Type.Integer({ minimum: 0, maximum: largest }),
  });
const Port = named(
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
const OtherMatch = named(
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
const rateFields = {
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

const optional = {
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
const words = { destination: Network, action: Action, protocol: Protocol, order: Order, ...optional };

export const RuleWords = named('ShieldRuleWords', Strict(words), 'What a rule says');
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

const Enforced = named(
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
const Rule = named(
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

const Minutes = Type.Array(Type.Integer({ format: 'int64' }), { minItems: 30, maxItems: 30 });
const Ip = named(
  'ShieldIp',
  Type.Object({
    address: Type.String({ examples: ['203.0.113.10/32'] }),
    dns_name: Nullable(Type.String()),
    family: Type.Object({ value: Type.Integer({ enum: [4, 6] }) }),
    service_id: Id,
    hostname: Nullable(Type.String({ description: 'Of the machine that has it' })),
    unmatched: Action,
    shield: Type.Object({ enabled: Type.Boolean(), under_attack: Type.Boolean() }),
    rules: Type.Integer({ description: 'How many are active for it' }),
    recent: Type.Object(
      { packets: Minutes, dropped: Minutes },
      {
        description:
          'Packets that came in each of the last thirty minutes, and those of them that rules dropped',
      },
    ),
  }),
  'An address of yours',
);
export const IpList = named(
  'ShieldIpList',
  Type.Object({ ips: Type.Array(Ip), count: Type.Integer(), pages: Type.Integer() }),
);
export const IpChange = named(
  'ShieldIpChange',
  Strict({
    address: line(64, { examples: ['203.0.113.10/32'] }),
    dns_name: Type.Optional(
      Nullable(lineOrBlank(253, { minLength: 0, description: 'Its name in reverse DNS' })),
    ),
    unmatched: Type.Optional(Nullable(Action)),
  }),
);

const GamePort = Type.Integer({ minimum: 1, maximum: largestPort, examples: [25_565] });
const Group = named(
  'ShieldGroup',
  Type.Object({
    id: SmallId,
    preset: Type.String(),
    destination: Network,
    note: Nullable(Type.String()),
    ips: Type.Array(Type.String()),
    ports: Nullable(Type.Array(GamePort, { description: 'Of a game profile: the ports that it holds' })),
    dated: Nullable({ ...Day, description: 'Of which day the list is that it was made from' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
  'Rules that a preset made',
);
export const GroupData = Type.Object({ group: Group, rules: Type.Array(Rule) });

const Preset = named(
  'ShieldPreset',
  Type.Object({
    name: Type.String({ examples: ['block-ssh'] }),
    title: Type.String(),
    description: Type.String(),
    ips: Nullable(Type.String({ description: 'What `ips` are; null: it takes none' })),
    ports: Nullable(
      Type.Object(
        { ipv4: Type.Array(GamePort), ipv6: Type.Array(GamePort) },
        {
          description:
            'Of a game profile: the ports that it holds unless others are given; where there are none, some have to be. null: it takes none',
        },
      ),
    ),
    dated: Nullable(Day),
    sources: Nullable(Type.String({ description: 'Where its addresses, ports or lengths are from' })),
    rules: Type.Object(
      { ipv4: Type.Integer(), ipv6: Type.Integer() },
      { description: 'How many it makes without `ips`, by the ports above' },
    ),
  }),
  'Rules that are made together',
);
export const PresetList = Type.Object({ presets: Type.Array(Preset) });
export const NewGroup = named(
  'NewShieldGroup',
  Strict({
    destination: Network,
    preset: line(100, { examples: ['block-ssh'] }),
    note: Type.Optional(Nullable(Note)),
    ips: Type.Optional(Nullable(Type.Array(Source, { maxItems: 50 }))),
    ports: Type.Optional(
      Nullable(
        Type.Array(GamePort, { maxItems: 16, description: 'Of a game profile: those that the server is on' }),
      ),
    ),
    id: Type.Optional(Nullable({ ...SmallId, description: 'Makes this group anew' })),
  }),
);
export const GroupMade = Type.Object({ group_id: SmallId, rule_ids: Type.Array(SmallId) });

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

export const IpParams = Strict({
  ip: Type.String({ minLength: 1, maxLength: 64, examples: ['203.0.113.10'] }),
});
const rate = Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })));
export const thresholdsOf = (empty: (schema: TSchema) => TSchema) =>
  Object.fromEntries(kinds.map((kind) => [kind, Type.Optional(empty(Strict({ pps: rate, mbps: rate })))]));
export type { Thresholds };
export const Level = Choice(levels);
export const Mode = Choice(modes, {
  description: 'monitor: attacks are told of, and nothing is done about them',
});
export const Mitigation = Choice(mitigations, {
  description: 'permanent: what is done against attacks stays in place',
});
const Synproxy = Type.Boolean({
  description:
    'Your machine has no SYN cookies: during a flood of SYNs the edge may answer in its place. Such connections are slower',
});
const Blackhole = Type.Boolean({
  description:
    'Routers in front may drop all packets to the address, good ones too, when an attack is more than the line bears and nothing else has helped',
});
const SetBy = Choice(['own', 'product', 'default']);
const LimitOfRate = Type.Object({
  value: Nullable(Type.Integer({ format: 'int64' })),
  by: Choice(sources, {
    description:
      'own: your threshold; product: its; usual: what usually comes to the address; level: of all addresses',
  }),
});
const LimitInForce = named('ShieldLimit', Type.Object({ pps: LimitOfRate, mbps: LimitOfRate }));
const Sensitivity = named(
  'ShieldSensitivity',
  Type.Object({
    address: Type.String({ examples: ['203.0.113.10/32'] }),
    level: Level,
    mode: Mode,
    mitigation: Mitigation,
    thresholds: Type.Unsafe<Thresholds>(
      Type.Object(
        thresholdsOf((schema) => schema),
        { description: 'Your own, by kind; for the others see `limits`' },
      ),
    ),
    whitelist: Type.Array(Type.String(), { description: 'Senders whose traffic is no attack' }),
    synproxy: Synproxy,
    blackhole: Blackhole,
    may_blackhole: Type.Boolean({
      description: 'Whether that counts: our staff may allow or forbid it for your organization',
    }),
    set_by: Type.Object(
      { level: SetBy, mode: SetBy, mitigation: SetBy },
      { description: 'Whose word each is: yours, that of the product that you bought, or what is so of all' },
    ),
    limits: Nullable(
      Type.Object(
        Object.fromEntries(kinds.map((kind) => [kind, LimitInForce])) as Record<
          (typeof kinds)[number],
          typeof LimitInForce
        >,
        {
          description: 'What is in force, in a second, and whose word it is; null where nothing is an attack',
        },
      ),
    ),
    usual: Nullable(
      Type.Object(
        {
          hours: Type.Integer({
            description: 'Hours with traffic within the last four weeks, without those of attacks',
          }),
          since: Timestamp,
          pps: Type.Integer(),
          mbps: Type.Integer(),
          enough: Type.Boolean({ description: `Whether limits go by it: from ${hoursToLearn} hours on` }),
        },
        { description: 'What usually comes: the busiest hour but for one in a hundred, by its mean' },
      ),
    ),
  }),
  'From where on traffic to an address is an attack, and what is done about it',
);
export const SensitivityData = Type.Object({ sensitivity: Sensitivity });
export const SensitivityChange = named(
  'ShieldSensitivityChange',
  Strict({
    level: Type.Optional(Nullable(Level)),
    mode: Type.Optional(Nullable(Mode)),
    mitigation: Type.Optional(Nullable(Mitigation)),
    thresholds: Type.Optional(Nullable(Type.Unsafe<Thresholds>(Strict(thresholdsOf(Nullable))))),
    synproxy: Type.Optional(Nullable(Synproxy)),
    blackhole: Type.Optional(Nullable(Blackhole)),
    whitelist: Type.Optional(
      Nullable(
        Type.Array(line(64, { examples: ['198.51.100.0/24'] }), {
          maxItems: 50,
          description: 'All of them; null: none',
        }),
      ),
    ),
  }),
);

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
const Apply = named(
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

const Small = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });
const Tops = Type.Array(Type.Object({ name: Type.String(), type: Type.String(), value: Small }), {
  description: 'Packets by name, the most frequent first',
});
const wideCount = (description?: string) =>
  Type.Integer({ minimum: 0, format: 'int64', ...(description !== undefined && { description }) });
const tally = {
  packets: wideCount(),
  bytes: wideCount(),
  samples: wideCount('So many of the packets were looked at; the others are estimated by them'),
  margin: wideCount('The true number of packets is at most so far away, 95 times in 100'),
};
const Tally = named('ShieldTally', Type.Object(tally), 'What packets add up to, as samples tell');
const Change = named(
  'ShieldSimulatedChange',
  Type.Object({
    ...tally,
    tops: Type.Object({ dport: Tops, sport: Tops, plen: Tops, sip: Tops }),
  }),
  'Packets that would meet something else than with the rules that are wanted now',
);
export const Simulated = Type.Object({
  since: Timestamp,
  until: Timestamp,
  in_force: Type.Boolean({ description: 'Whether the edge has the rules that are wanted now as they stand' }),
  certainty: Type.Object(
    {
      level: Choice(certainties, {
        description: 'none: there are no flows to judge; exact: each packet that came was looked at',
      }),
      samples: wideCount('Packets that were looked at'),
      one_in: Nullable(
        Type.Number({ description: 'For how many packets one of them stands, on average', minimum: 1 }),
      ),
      margin: wideCount('Of the packets in all'),
      message: Type.String({ description: 'The same in words' }),
    },
    { description: 'How sure this is: it goes by samples of packets' },
  ),
  total: Tally,
  rules: Type.Array(
    Type.Object({
      rule_id: Nullable({ ...SmallId, description: 'Null: it is a new one' }),
      destination: Type.String(),
      action: Action,
      limited: Type.Boolean({ description: 'Whether it has a rate, which is not applied here' }),
      ...tally,
    }),
    { description: 'What each would have decided about, in the order of the request' },
  ),
  unmatched: Tally,
  newly_dropped: Change,
  newly_permitted: Change,
});

const Asked = line(64, { examples: ['203.0.113.10'] });
const port = Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: largestPort })));
const upTo = (maximum: number) => Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum })));
export const Explain = named(
  'ShieldExplain',
  Strict({
    source: { ...Asked, examples: ['198.51.100.9'] },
    destination: Asked,
    protocol: Type.Integer({ minimum: 0, maximum: 255 }),
    source_port: port,
    destination_port: port,
    flags: Type.Optional(
      Nullable(Type.Array(Choice(flagNames), { maxItems: 6, description: 'syn, when absent' })),
    ),
    dscp: upTo(63),
    ecn: upTo(3),
    ttl: upTo(255),
    length: upTo(65_575),
    fragment: Type.Optional(Nullable(Type.Boolean())),
    live: Type.Optional(
      Nullable(
        Type.Boolean({
          description: 'Wait for the next packets like it; of what is left out they may have any',
        }),
      ),
    ),
    packets: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 1,
          maximum: mostTraced.packets,
          description: 'Of live, at most; 20 when absent',
        }),
      ),
    ),
    seconds: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 1,
          maximum: mostTraced.seconds,
          description: 'Of live, at most; 10 when absent',
        }),
      ),
    ),
  }),
  'A packet to one of your addresses',
);
export const Explained = Type.Object({
  action: Action,
  rule_id: Nullable({ ...SmallId, description: 'Null: no rule matches it' }),
  limited: Type.Boolean({ description: 'Whether the rule has a rate: packets above it are dropped' }),
  in_force: Type.Boolean({ description: 'Whether the edge has these rules as they stand' }),
  way: Type.Array(
    Type.Object({
      rule_id: SmallId,
      action: Action,
      matches: Type.Boolean(),
      unmet: Type.Array(Type.String(), { description: 'What of the rule is not so of the packet' }),
    }),
    { description: 'Each rule that was looked at, in order' },
  ),
  live: Nullable(
    Type.Object(
      {
        seconds: Type.Integer(),
        packets: Type.Array(
          named(
            'ShieldTracedPacket',
            Type.Object({
              source: Type.String(),
              protocol: Nullable(Type.Integer({ description: 'As it arrived: ICMPv6 is 58' })),
              source_port: Nullable(Type.Integer()),
              destination_port: Nullable(Type.Integer()),
              flags: Nullable(Type.Array(Choice(flagNames))),
              dscp: Type.Integer(),
              ecn: Type.Integer(),
              ttl: Type.Integer(),
              length: Type.Integer(),
              fragment: Type.Boolean(),
              action: Action,
              by: Choice(deciders, {
                description:
                  'Who had the last word: a rule, what is said of packets that none matches, a measure against an attack, or nobody, ' +
                  'as nothing is in force',
              }),
              rule_id: Nullable(SmallId),
            }),
            'A packet that came by, and what was decided on it',
          ),
        ),
      },
      { description: 'Fewer than were asked for: no more came in that time' },
    ),
  ),
});

const Count = Type.Integer({ format: 'int64', minimum: 0 });
const WholeRate = Type.Object({ pps: Nullable(Count), mbps: Nullable(Count) });
export const MitigationOfAttack = named(
  'ShieldMitigation',
  Type.Object({
    id: Id,
    attack_id: Type.String({ examples: ['4503599627370801'] }),
    kind: Choice(kinds),
    measure: Choice(measures, { description: 'What is done' }),
    by: Choice(['edge', 'routers'], {
      description:
        'edge: what filters before your machine; routers: those in front, of which nobody hears what they drop',
    }),
    description: Type.String({ examples: ['Drops what is reflected from port 123'] }),
    ports: Type.Array(Type.Integer({ minimum: 0, maximum: largestPort }), {
      description: 'Of what is reflected: where it comes from',
    }),
    why: Type.Object(
      { arrived: WholeRate, past: Nullable(WholeRate), limit: WholeRate },
      {
        description:
          'In a second, when it was begun: what came of this kind, what of it went past that which was done already, and its limit',
      },
    ),
    started_at: Timestamp,
    in_force: Type.Boolean(),
    in_force_since: Nullable(Timestamp),
    counters: Type.Object({ packets: Count, bytes: Count }, { description: 'What it has dropped' }),
    error: Nullable(Type.String({ description: 'Why it is not in force' })),
    releasing: Type.Boolean({ description: 'Somebody has asked for its release' }),
    released_at: Nullable(Timestamp),
    because: Nullable(Choice(reasons, { description: 'Why it was released' })),
  }),
  'One thing that is done against an attack; the next one is begun only when those before it did not help',
);
export const MitigationData = Type.Object({ mitigation: MitigationOfAttack });

const PlainMoment = Type.String({ examples: ['2026-01-31 12:00:00'], description: 'In UTC' });
export const attackFields = {
  attack_id: Type.String({ examples: ['4503599627370801'] }),
  service_id: Id,
  dest: Type.String({ examples: ['203.0.113.10/32'] }),
  status: Choice(['start', 'ongoing', 'end'], {
    description:
      'start for the first minute, then ongoing for one at least, also where it is over already: see ended_at',
  }),
  start_time: PlainMoment,
  event_time: { ...PlainMoment, description: 'When it ended, or was looked at last, in UTC' },
  duration: { ...Small, description: 'Seconds' },
  mbps: { ...Small, description: 'At most, in a second' },
  pps: { ...Small, description: 'At most, in a second' },
  volume: { ...Small, description: 'Megabytes' },
  description: Type.String({ examples: ['DNS reflection'] }),
  kind: Choice(kinds),
  counters: Type.Object(
    { packets: Type.Integer({ format: 'int64' }), bytes: Type.Integer({ format: 'int64' }) },
    { description: 'All that came to the address meanwhile, before any rule' },
  ),
  mitigations: Type.Array(MitigationOfAttack, { description: 'What was done against it, in this order' }),
  started_at: Timestamp,
  updated_at: Timestamp,
  ended_at: Type.String({ description: 'Empty while it goes on', examples: ['2026-01-31T12:05:00.000Z'] }),
};
const Attack = named(
  'ShieldAttack',
  Type.Object(attackFields),
  'Traffic to an address of yours that is far more than usual',
);
export const AttackQuery = Strict({
  chunk: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Counts from zero' }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 25 }),
  filter: Type.Optional(Type.String({ maxLength: 200, description: 'A part of an address, or a kind' })),
  ip: Type.Optional(line(64, { description: 'One of your addresses', examples: ['203.0.113.10'] })),
});
export const AttackList = named('ShieldAttackList', Type.Object({ attacks: Type.Array(Attack) }));
export const AttackInfo = Type.Object({
  dport: Tops,
  sport: Tops,
  plen: Tops,
  sip: Tops,
  'src-asn': Tops,
  'src-country': Tops,
});
export const AttackData = Type.Object({ attack: Attack, info: AttackInfo });

/** All that is to be known of one address. */
export const IpData = Type.Object({
  ip: Ip,
  rules: Type.Array(Rule, {
    description: 'All that are for it, also those for wider networks, in their order',
  }),
  groups: Type.Array(Group, { description: 'What presets made of them' }),
  trial: Nullable(Apply),
  attack: Nullable(Attack),
});

/** Stands beside `data`. */
export const noticed = {
  notices: Type.Array(Type.Object({ text: Type.String(), url: Type.String() }), {
    description: 'Whose data the names of networks and countries are: show them where you show those',
  }),
};

export const TrafficQuery = Strict({
  ip: line(64, { examples: ['203.0.113.10'] }),
  unit: Choice(['mbps', 'pps', 'bps'], { default: 'mbps' }),
  time: Type.Integer({
    minimum: 1,
    maximum: 527_040,
    default: 60,
    description: 'So many minutes until now, or `until`; how wide a row is goes by it',
  }),
  until: Type.Optional(Moment),
});
export const TrafficData = Type.Object({
  interval: Type.Integer({ description: 'How wide a row is, in minutes' }),
  traffic: Type.Array(Type.Array(Type.Integer({ format: 'int64' }), { minItems: 3, maxItems: 3 }), {
    description:
      'Unix seconds at the beginning of the row, allowed and dropped, oldest first: means of whole numbers in a second',
  }),
});

export const KeyForToken = named('ShieldKey', Strict({ key: line(512) }));
export const Token = Type.Object({ token: Type.String({ description: 'For the header `token`' }) });
