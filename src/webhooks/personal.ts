import { type PersonalRoom, personalTable, statement } from '../platform/index.ts';

const own = { organization: 'organization_id', closing: 'deleted' } as const;
// With their deliveries: nobody is left who could end them.
const deleteEndpoints = statement<never, { organizationIds: number[] }>(
  'webhooks.deleteEndpointsOf',
  'delete from webhook_endpoints where organization_id = any(:organizationIds::bigint[])',
);

/** Where an organization wants to be told of things, and what was sent there. */
export const webhooksPersonal: PersonalRoom = {
  tables: [
    personalTable('webhook_endpoints', {
      ...own,
      others: ['created_by'],
      without: ['secret', 'previous_secret', 'created_by'],
    }),
    personalTable('webhook_deliveries', own),
    personalTable('webhook_attempts', own),
  ],
  async forget(tx, { organizationIds }) {
    await tx.db.run(deleteEndpoints, { organizationIds: [...organizationIds] });
  },
};
