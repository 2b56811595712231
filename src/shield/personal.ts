import { type PersonalRoom, personalTable, statement } from '../platform/index.ts';
import { readable } from './flows/readable.ts';

const own = { organization: 'organization_id', closing: 'deleted' } as const;

const trafficTables = [
  ...inParts('shield_traffic_minutes', own),
  ...inParts('shield_traffic_hours', own),
  ...inParts('shield_flows', { ...own, opened: readable }),
];

function inParts(table: string, declared: Parameters<typeof personalTable>[1]) {
  const part = { ...own, hidden: 'a part of a table, with which it is exported' };
  const parts = Array.from({ length: 8 }, (_, nth) => personalTable(`${table}_${nth}`, part));
  return [personalTable(table, declared), ...parts];
}

// In this order: rules name groups and limiters. What edges hold went with the services, which ended before.
const forgets = [
  'shield_rules',
  'shield_groups',
  'shield_limiters',
  'shield_applies',
  'shield_addresses',
  'shield_usual',
  'shield_announcements',
  'shield_announced_rules',
  'shield_organizations',
  'shield_filters',
  'shield_mitigations',
  'shield_attacks',
  'shield_traces',
  'shield_traffic_minutes',
  'shield_traffic_hours',
  'shield_flows',
].map((table) =>
  statement<never, { organizationIds: number[] }>(
    `shield.forget_${table}`,
    `delete from ${table} where organization_id = any(:organizationIds::bigint[])`,
  ),
);

/** What organizations want of the packets to their addresses. */
export const shieldPersonal: PersonalRoom = {
  tables: [
    personalTable('shield_addresses', own),
    personalTable('shield_announced_rules', own),
    personalTable('shield_announcements', own),
    personalTable('shield_applies', own),
    ...trafficTables,
    personalTable('shield_attacks', { ...own, without: ['counted'] }),
    personalTable('shield_filters', { ...own, without: ['tally', 'node_id'] }),
    personalTable('shield_groups', own),
    personalTable('shield_limiters', own),
    personalTable('shield_mitigations', own),
    personalTable('shield_organizations', own),
    personalTable('shield_rules', own),
    personalTable('shield_traces', own),
    personalTable('shield_usual', own),
  ],
  async forget(tx, { organizationIds }) {
    for (const forget of forgets) await tx.db.run(forget, { organizationIds: [...organizationIds] });
  },
};
