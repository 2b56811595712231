import { type PersonalRoom, personalTable } from '../platform/index.ts';

const kept = { kept: 'what was agreed in writing is kept; it names its writers by numbers' };
const own = { organization: 'organization_id', closing: kept } as const;

/** What customers and the provider wrote to each other. */
export const ticketsPersonal: PersonalRoom = {
  tables: [
    personalTable('tickets', {
      ...own,
      others: ['user_id', 'assigned_to'],
      without: ['assigned_to'],
    }),
    personalTable('ticket_messages', {
      ...own,
      others: ['user_id'],
      // Notes are the provider's own.
      where: `t.organization_id = any(:organizationIds::bigint[]) and t.kind <> 'note'`,
    }),
    personalTable('ticket_attachments', {
      ...own,
      without: ['file', 'digest', 'failure'],
      // Those of notes are the provider's own, and one that stands in no ticket goes within the hour.
      where: `t.organization_id = any(:organizationIds::bigint[]) and exists
        (select 1 from ticket_messages m where m.id = t.message_id and m.kind <> 'note')`,
    }),
    personalTable('ticket_words', { ...own, hidden: 'words of the messages, to search by' }),
    personalTable('ticket_writers', {
      others: ['user_id'],
      hidden: 'who of staff writes at this moment',
      closing: { kept: 'it is forgotten within minutes' },
    }),
    personalTable('ticket_mails', {
      ...own,
      people: ['user_id'],
      // What machines sent, and what staff put away as a note, is the provider's own.
      where: `(t.user_id = :userId or t.organization_id = any(:organizationIds::bigint[]))
        and t.ticket_message_id in (select w.id from ticket_messages w where w.kind <> 'note')`,
      without: [
        'digest',
        'file',
        'client_ip',
        'client_name',
        'client_network',
        'reason',
        'return_path',
        'recipients',
      ],
    }),
    personalTable('ticket_feedback', { ...own, without: ['hash'] }),
  ],
};
