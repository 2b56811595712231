import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  Nullable,
  named,
  routes,
  SortBy,
  Timestamp,
} from '../platform/http/index.ts';
import { examples } from './examples.ts';
import { listMails } from './mailList.ts';

const Mail = named(
  'Mail',
  Type.Object({
    id: Id,
    recipient: Type.String(),
    subject: Type.String(),
    body: Type.String(),
    state: named(
      'MailState',
      Choice(['queued', 'kept', 'sent', 'failed'], { description: 'kept: no SMTP server is configured' }),
    ),
    error: Nullable(Type.String()),
    created_at: Timestamp,
    sent_at: Nullable(Timestamp),
  }),
  'A mail that was written',
);

const group = { tag: 'Staff: mail log', about: 'Mails that were written to customers.', examples };

export const mailStaffRoutes = routes('/staff/mails', group, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      operation: 'listMails',
      summary: 'List the mails',
      description: 'Mails with what became of them, all or those to one address, newest first.',
      query: ListQuery({
        recipient: Type.Optional(Type.String({ maxLength: 320 })),
        sort: SortBy(['created_at'], '-created_at'),
      }),
      data: named('MailList', listOf('mails', Mail)),
    },
    (ctx, req) => listMails(ctx, req.query),
  );
});
