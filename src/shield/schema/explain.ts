import { Type } from 'typebox';
import { Choice, line, Nullable, named, Strict } from '../../platform/http/index.ts';
import { deciders, mostTraced } from '../explain/trace.ts';
import { flagNames, largestPort } from '../rules/match.ts';
import { Action, SmallId } from './words.ts';

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
