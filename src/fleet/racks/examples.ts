import { type Example, onlyPage } from '../../platform/http/index.ts';

const id = 4503599627371101;

const rack = {
  id,
  name: 'AMS-2',
  location: 'AMS',
  units: 42,
  power_watts: 7_000,
  note: null,
  servers: 0,
  units_taken: 0,
  created_at: '2026-01-31T22:04:15.830Z',
};
const changed = { ...rack, power_watts: 11_000, note: 'Two feeds' };

/** A request and its answer for each operation, parts of one story. */
export const rackExamples = {
  listRacks: { query: { location: 'AMS' }, data: { racks: [rack], ...onlyPage(1) } },
  addRack: { body: { name: 'AMS-2', location: 'AMS', units: 42, power_watts: 7_000 }, data: { rack } },
  getRack: { params: { id }, data: { rack } },
  changeRack: {
    params: { id },
    body: { power_watts: 11_000, note: 'Two feeds' },
    data: { rack: changed },
  },
  removeRack: { params: { id }, data: {} },
} satisfies Record<string, Example>;
