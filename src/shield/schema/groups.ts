import { Type } from 'typebox';
import { Day, line, Nullable, named, Strict, Timestamp } from '../../platform/http/index.ts';
import { largestPort } from '../rules/match.ts';
import { Rule } from './rules.ts';
import { Network, Note, SmallId, Source } from './words.ts';

const GamePort = Type.Integer({ minimum: 1, maximum: largestPort, examples: [25_565] });

export const Group = named(
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
