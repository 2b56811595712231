import { type PersonalRoom, personalTable } from '../platform/index.ts';
import { trafficTableNames } from './traffic/resolutions.ts';

const held = {
  organization: 'organization_id',
  closing: { kept: 'it is given back with the service that it is for, which ends before' },
} as const;

const traffic = {
  organization: 'organization_id',
  closing: {
    kept: 'what a server sent and received goes after two years, and what was billed by it stays, by numbers',
  },
  // No index is by organization: all traffic there is would be looked through.
  where: `t.organization_id = any(:organizationIds::bigint[])
    and t.service_id in (select s.id from services s where s.organization_id = any(:organizationIds::bigint[]))`,
} as const;

/** What organizations hold of the fleet. */
export const fleetPersonal: PersonalRoom = {
  tables: [
    personalTable('placements', held),
    personalTable('addresses', { ...held, without: ['note'] }),
    personalTable('server_traffic', { ...traffic, without: ['part'] }),
    ...trafficTableNames.map((table) =>
      personalTable(table, { ...traffic, hidden: 'a part of a table, with which it is exported' }),
    ),
    personalTable('server_traffic_months', traffic),
  ],
};
