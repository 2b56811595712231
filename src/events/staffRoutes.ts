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
import { fail } from '../platform/index.ts';
import { listAudit } from './audit.ts';
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

const AuditEntry = named(
  'AuditEntry',
  Type.Object({
    id: Id,
    action: Type.String({ description: 'The name of the event' }),
    organization_id: Nullable(Id),
    subject: Type.Object({ type: Type.String(), id: Id }),
    actor: Type.Object({
      type: Choice(['user', 'api_key', 'staff', 'system']),
      user_id: Nullable(Id),
      email: Nullable(Type.String({ description: 'What it is now' })),
      api_key_id: Nullable(Id),
      ip: Nullable(Type.String()),
    }),
    request_id: Nullable(Type.String()),
    data: Type.Record(Type.String(), Type.Unknown()),
    created_at: Timestamp,
  }),
  'Something that happened, as the journal has it',
);

const audit = { tag: 'Staff: audit', about: 'All that anybody did, as it was written down.', examples };

export const auditRoutes = routes('/staff/audit', audit, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      staffRoles: ['administrator'],
      operation: 'listAudit',
      summary: 'List the audit',
      description:
        'The journal, newest first: all of it, or of an organization, of what somebody of staff did, or about one thing ' +
        '(`subject_type` with `subject_id`).',
      query: ListQuery({
        organization_id: Type.Optional(Id),
        staff_id: Type.Optional(Id),
        subject_type: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
        subject_id: Type.Optional(Id),
        sort: SortBy(['created_at'], '-created_at'),
      }),
      data: named('AuditList', listOf('audit_entries', AuditEntry)),
    },
    (ctx, req) => {
      const { subject_type, subject_id } = req.query;
      if ((subject_type === undefined) !== (subject_id === undefined)) {
        const field = subject_id === undefined ? 'subject_id' : 'subject_type';
        const message = 'is missing: a thing is named by both';
        throw fail('invalid_request', { details: [{ field, message }] });
      }
      return listAudit(ctx, req.query);
    },
  );
});
