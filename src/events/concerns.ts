import { type Concern, type ConcernSource, statement } from '../platform/index.ts';

/** Mails that nobody got. */
export const mailConcerns: ConcernSource[] = [
  {
    kind: 'mail.failed',
    subject: 'mail',
    title: 'Mails that could not be sent',
    find: statement<Concern, { limit: number }>(
      'events.failedMails',
      `select id, organization_id, created_at as since, 'to ' || recipient || ': ' || coalesce(error, '') as message
       from mails where state = 'failed' order by created_at desc, id desc limit :limit`,
    ),
  },
];
