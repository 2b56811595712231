import { Type } from 'typebox';
import { Choice, Id, Nullable, named, routes, Strict, Timestamp } from '../platform/http/index.ts';
import { examples } from './examples.ts';
import { listMails } from './mails.ts';

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

const newest = 100;

const group = { tag: 'Staff: mail log', about: 'Mails that were written to customers.', examples };

export const mailStaffRoutes = routes('/staff/mails', group, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      operation: 'listMails',
      summary: 'List the newest mails',
      description: 'The newest mails with what became of them, all or those to one address.',
      query: Strict({ recipient: Type.Optional(Type.String({ maxLength: 320 })) }),
      data: named('MailList', Type.Object({ mails: Type.Array(Mail) })),
    },
    async (ctx, req) => ({ mails: await listMails(ctx, req.query.recipient ?? null, newest) }),
  );
});
