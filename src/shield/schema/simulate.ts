import { Type } from 'typebox';
import { Choice, Nullable, named, Timestamp } from '../../platform/http/index.ts';
import { certainties } from '../simulate/certainty.ts';
import { Action, Small, SmallId } from './words.ts';

export const Tops = Type.Array(Type.Object({ name: Type.String(), type: Type.String(), value: Small }), {
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
