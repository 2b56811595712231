import { Type } from 'typebox';
import {
  Id,
  ListQuery,
  line,
  listOf,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { Location } from '../schema.ts';

const Count = Type.Integer({ minimum: 0 });
export const RackName = line(64, { examples: ['AMS-2'] });
export const Note = line(500, { description: 'For staff alone' });
const Units = Type.Integer({
  minimum: 1,
  maximum: 100,
  description: 'How many units it has',
  examples: [42],
});
const PowerWatts = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description: 'What its feeds give at most, in watts',
  examples: [7_000],
});

export const Rack = named(
  'Rack',
  Type.Object({
    id: Id,
    name: Type.String(),
    location: Type.String(),
    units: Units,
    power_watts: Nullable(PowerWatts),
    note: Nullable(Type.String()),
    servers: Count,
    units_taken: Count,
    created_at: Timestamp,
  }),
  'A rack of the provider, with how much of it is taken',
);
export const RackData = named('RackAnswer', Type.Object({ rack: Rack }));
export const RackList = named('RackList', listOf('racks', Rack));
export const RackQuery = ListQuery({
  location: Type.Optional(Location),
  sort: SortBy(['id', 'name'], 'name'),
});
export const NewRack = named(
  'NewRack',
  Strict({
    name: RackName,
    location: Location,
    units: Units,
    power_watts: Type.Optional(Nullable(PowerWatts)),
    note: Type.Optional(Nullable(Note)),
  }),
);
export const RackChange = named(
  'RackChange',
  Strict({
    name: Type.Optional(RackName),
    location: Type.Optional(Location),
    units: Type.Optional(Units),
    power_watts: Type.Optional(Nullable(PowerWatts)),
    note: Type.Optional(Nullable(Note)),
  }),
);
