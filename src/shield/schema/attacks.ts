import { Type } from 'typebox';
import { Choice, Id, line, Nullable, named, Strict, Timestamp } from '../../platform/http/index.ts';
import { kinds } from '../addresses/words.ts';
import { reasons } from '../mitigation/defence.ts';
import { measures } from '../mitigation/measures.ts';
import { largestPort } from '../rules/match.ts';
import { Tops } from './simulate.ts';
import { Count, Small } from './words.ts';

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

export const Attack = named(
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

/** Stands beside `data`. */
export const noticed = {
  notices: Type.Array(Type.Object({ text: Type.String(), url: Type.String() }), {
    description: 'Whose data the names of networks and countries are: show them where you show those',
  }),
};
