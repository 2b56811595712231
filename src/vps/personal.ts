import { type PersonalRoom, personalTable } from '../platform/index.ts';
import { chartTableNames } from './chartParts.ts';

const own = {
  organization: 'organization_id',
  closing: {
    kept: 'what is left of a machine goes with its service, which ends before; its history tells who did what, by numbers',
  },
} as const;

const part = { ...own, hidden: 'a part of a table, with which it is exported' };
const chartTables = [
  personalTable('vps_charts', { ...own, without: ['part'] }),
  ...chartTableNames.map((table) => personalTable(table, part)),
];

/** What is known of machines. */
export const vpsPersonal: PersonalRoom = {
  tables: [
    personalTable('machines', own),
    personalTable('vps_actions', { ...own, others: ['initiator_id'] }),
    personalTable('vps_recoveries', { ...own, without: ['machine'] }),
    personalTable('vps_moves', {
      ...own,
      without: ['evacuation_id', 'is_begun', 'incarnation', 'may_run_there'],
    }),
    personalTable('vps_snapshots', own),
    personalTable('vps_traffic', own),
    personalTable('vps_access', own),
    ...chartTables,
    personalTable('vps_samples', own),
    personalTable('vps_upgrades', own),
    personalTable('vps_secrets', { ...own, hidden: 'a password that waits for its machine, sealed' }),
  ],
};
