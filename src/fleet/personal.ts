import { type PersonalRoom, personalTable } from '../platform/index.ts';

const held = {
  organization: 'organization_id',
  closing: { kept: 'it is given back with the service that it is for, which ends before' },
} as const;

/** What organizations hold of the fleet. */
export const fleetPersonal: PersonalRoom = {
  tables: [personalTable('placements', held), personalTable('addresses', { ...held, without: ['note'] })],
};
