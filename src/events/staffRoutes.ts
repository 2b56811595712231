import { Type } from 'typebox';
import {
  Choice,
  Id,
  IdParams,
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
import { listMails, readMail } from './mail/list.ts';
import { sendAgain } from './mail/sendAgain.ts';

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
    event: Type.String({ description: 'The name of the event that it tells of' }),
    language: Type.String({ description: 'ISO 639-1' }),
    error: Nullable(Type.String({ description: 'Why it could not be sent, or came back' })),
    answer: Nullable(Type.String({ description: 'What the mail server said when it took it' })),
    sendings: Type.Integer({
      description: 'How often it was to be sent: 1, and once more each time that staff sent it again',
    }),
    address_bounced_at: Nullable(Timestamp),
    created_at: Timestamp,
    sent_at: Nullable(Timestamp),
  }),
  'A mail that was written',
);

const one = named('MailAnswer', Type.Object({ mail: Mail }));

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
  route.get(
    '/:id',
    {
      auth: 'staff',
      operation: 'getMail',
      summary: 'Get a mail',
      description: 'A mail with what became of it.',
      params: IdParams,
      data: one,
      errors: ['not_found'],
    },
    (ctx, req) => readMail(ctx, req.params.id),
  );
  route.post(
    '/:id/send-again',
    {
      auth: 'staff',
      operation: 'sendMailAgain',
      summary: 'Send a mail again',
      description:
        'Sends a mail once more as it was written, to the same address: one that could not be sent or came back, or that ' +
        'its reader cannot find. An address that mails came back from counts as good again until the next one does. A link ' +
        'in it is good as long as it was from the beginning.',
      params: IdParams,
      data: one,
      errors: ['not_found', 'mail_under_way', 'mail_server_missing'],
      drivers: ['mail'],
    },
    (ctx, req) => sendAgain(ctx, req.drivers.mail, req.params.id),
  );
});

const AuditEntry = named(
  'AuditEntry',
  Type.Object({
    id: Id,
    action: Type.String({ description: 'The name of the event' }),
    description: Type.String({ description: 'What happened, in English' }),
    organization_id: Nullable(Id),
    organization: Nullable(
      named('AuditOrganization', Type.Object({ id: Id, name: Type.String() }), 'Whose it is'),
    ),
    subject: Type.Object({
      type: Type.String(),
      id: Id,
      name: Nullable(Type.String({ description: 'By what people know it, where that is known' })),
    }),
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

const AuditList = named(
  'AuditList',
  Type.Object({
    ...listOf('audit_entries', AuditEntry).properties,
    kept_since: Nullable({
      ...Timestamp,
      description: 'What is older is not kept; null: there is all of it',
    }),
  }),
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
      data: AuditList,
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
