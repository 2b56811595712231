import { type PersonalRoom, personalTable } from '../platform/index.ts';

/** What is known of who looked at consoles. */
export const consolesPersonal: PersonalRoom = {
  tables: [
    personalTable('console_tickets', {
      people: ['user_id'],
      organization: 'organization_id',
      without: ['hash'],
      closing: { kept: 'it opens a console for half a minute, and is gone within the hour' },
    }),
  ],
};
