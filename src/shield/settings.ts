import { Type } from 'typebox';
import { Strict } from '../platform/http/index.ts';
import { settings } from '../settings/index.ts';
import { mostKept } from './analytics/parts.ts';

const kept = { traffic_minutes_days: 31, traffic_hours_days: 366, flows_minutes: 60, attacks_days: 90 };
/** From how much on, of all that comes to one address, routers in front are to help. */
const lines = {
  ...{ flowspec_from_mbps: 1_000, flowspec_from_pps: 1_000_000 },
  ...{ blackhole_from_mbps: 10_000, blackhole_from_pps: 10_000_000 },
};
const line = (unit: 'mbps' | 'packets', what: string) =>
  Type.Integer({
    minimum: 1,
    maximum: 1_000_000_000,
    description: `From so many ${unit === 'mbps' ? 'millions of bits' : 'packets'} a second to one address on routers in front are to ${what}`,
  });

/** How much one customer may ask of the edge, and how long is kept what it has counted. */
export const shield = settings({
  name: 'shield',
  about: 'What customers may have of Shield.',
  shape: Strict({
    active_rules: Type.Integer({
      minimum: 1,
      maximum: 1_000,
      description:
        'How many active rules an address may have; five times as many with those that are switched off',
    }),
    traffic_minutes_days: Type.Integer({
      minimum: 1,
      maximum: mostKept.minutes,
      description:
        'How many days the traffic of each address is kept by minutes at least; a week more at most',
    }),
    traffic_hours_days: Type.Integer({
      minimum: 1,
      maximum: mostKept.hours,
      description: 'How many days it is kept by hours at least; 92 more at most',
    }),
    flows_minutes: Type.Integer({
      minimum: 10,
      maximum: mostKept.flows,
      description:
        'How many minutes it is kept who sent what to each address at least, as samples show it; 40 more at most',
    }),
    attacks_days: Type.Integer({
      // What is usual for an address is learned from four weeks, without the hours of attacks.
      minimum: 30,
      maximum: 3_660,
      description: 'How many days an attack is listed after its end, with what was done against it',
    }),
    flowspec_from_mbps: line(
      'mbps',
      'drop what they can of an attack, if what filters before a machine is not to bear more alone',
    ),
    flowspec_from_pps: line('packets', 'do so'),
    blackhole_from_mbps: line(
      'mbps',
      'drop all packets to the address, where that is allowed and nothing else has helped',
    ),
    blackhole_from_pps: line('packets', 'do so'),
  }),
  defaults: {
    ...{ active_rules: 200, ...kept },
    ...lines,
  },
  example: {
    ...{ active_rules: 200, ...kept },
    ...lines,
  },
});
