import { type TSchema, Type } from 'typebox';
import { Choice, line, Nullable, named, Strict, Timestamp } from '../../platform/http/index.ts';
import { kinds, levels, mitigations, modes, type Thresholds } from '../addresses/words.ts';
import { hoursToLearn, sources } from '../watch/limits.ts';

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
