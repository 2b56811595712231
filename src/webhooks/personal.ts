import { type PersonalRoom, personalTable } from '../platform/index.ts';

const kept = { kept: "it is the organization's, and names who made it by a number" };
const own = { organization: 'organization_id', closing: kept } as const;

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
};
