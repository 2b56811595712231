import { expect, it } from 'vitest';
import { serviceJobs } from '../fleet/servers/rows.ts';
import { dedicatedJobs } from './index.ts';

it('staff takes no server from a service for which any job of this room is not done', () => {
  const known = new Set<string>(serviceJobs);
  // Staff's rescue is of servers that no service has.
  const ofServices = dedicatedJobs.map(({ name }) => name).filter((name) => !/staffRescue/.test(name));
  expect(ofServices.filter((name) => !known.has(name))).toEqual([]);
});
