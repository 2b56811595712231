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
      // Who of staff, or of somebody else's organization, did it, from where, and what was noted, is for those to read. What is
      // noted of the provider's own decisions is in no list of the organization either.
      shown: `case when t.user_id = :userId and t.actor_type <> 'staff' and t.organization_id is null then to_jsonb(t)
        when t.actor_type <> 'staff' and (t.user_id = :userId or t.organization_id = any(:organizationIds::bigint[]))
          then to_jsonb(t) - 'data'
        else to_jsonb(t) - array['data', 'ip', 'user_id', 'api_key_id', 'request_id'] end`,
      closing: {
        kept: 'what happened stays; it names people by numbers, which lead to nobody once an account is closed',
      },
    }),
    personalTable('mails', {
      people: ['user_id'],
      organization: 'organization_id',
      // Those of an organization go to one of its people each. Older ones say only to which address.
      where: 't.user_id = :userId or (t.user_id is null and t.recipient = any(:emails::text[]))',
      without: ['link'],
      closing: 'cleared',
    }),
  ],
};
