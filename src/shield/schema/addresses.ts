import { Type } from 'typebox';
import { Id, line, lineOrBlank, Nullable, named, Strict } from '../../platform/http/index.ts';
import { Apply } from './apply.ts';
import { Attack } from './attacks.ts';
import { Group } from './groups.ts';
import { Rule } from './rules.ts';
import { Action } from './words.ts';

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
