import { Type } from 'typebox';
import { Choice, line, Strict } from '../../platform/http/index.ts';
import { Moment } from './words.ts';

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
