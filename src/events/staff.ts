import { Type } from 'typebox';
import { Choice, Id, Nullable, routes, Strict, Timestamp } from '../platform/http/index.ts';
import { listMails } from './mails.ts';

const Mail = Type.Object({
  id: Id,
  recipient: Type.String(),
  subject: Type.String(),
  body: Type.String(),
  state: Choice(['queued', 'kept', 'sent', 'failed'], { description: 'kept: no SMTP server is configured' }),
  error: Nullable(Type.String()),
  created_at: Timestamp,
  sent_at: Nullable(Timestamp),
});

const newest = 100;

export const mailStaffRoutes = routes('/staff/mails', { tag: 'Staff: mail log' }, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      operation: 'listMails',
      summary: 'List the newest mails',
      query: Strict({ recipient: Type.Optional(Type.String({ maxLength: 320 })) }),
      data: Type.Object({ mails: Type.Array(Mail) }),
    },
    async (ctx, req) => ({ mails: await listMails(ctx, req.query.recipient ?? null, newest) }),
  );
});
