import { type PersonalRoom, personalTable } from '../platform/index.ts';

/** What the journal and the mails know of people. */
export const eventsPersonal: PersonalRoom = {
  tables: [
    personalTable('journal', {
      people: ['user_id'],
      organization: 'organization_id',
      // What somebody did as staff is no matter of their own account.
      where: `(t.user_id = :userId and t.actor_type <> 'staff') or (t.subject_type = 'user' and t.subject_id = :userId)
        or t.organization_id = any(:organizationIds::bigint[])`,
      closing: {
        kept: 'what happened stays; it names people by numbers, which lead to nobody once an account is closed',
      },
    }),
    personalTable('mails', {
      people: ['user_id'],
      organization: 'organization_id',
      // Those of an organization go to one of its people each.
      where: 't.recipient = any(:emails::text[])',
      without: ['link'],
      closing: 'cleared',
    }),
  ],
};
