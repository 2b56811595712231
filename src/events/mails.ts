import { MailError } from '../drivers/mail/index.ts';
import {
  enqueue,
  job,
  type NamedJob,
  newId,
  type Reaction,
  type Run,
  type Saga,
  saga,
  statement,
  type TxRun,
} from '../platform/index.ts';
import { composeMail, type MailDeclaration } from './mail.ts';
import { type MailLink, withLink } from './mailLink.ts';

interface EntryForMail {
  id: number;
  organization_id: number | null;
  action: string;
  subject_type: string;
  subject_id: number;
  data: object;
  email: string | null;
  billing_email: string | null;
  first_name: string | null;
  timezone: string | null;
  notifications: Record<string, boolean> | null;
  old_email: string | null;
  new_email: string | null;
}

const entryForMail = statement<EntryForMail, { journalId: number }>(
  'events.entryForMail',
  `select j.id, j.organization_id, j.action, j.subject_type, j.subject_id, j.data, u.email, u.billing_email,
     u.first_name, u.timezone, u.notifications, e.old_email, e.new_email
   from journal j left join users u on u.id = (j.data->>'user_id')::bigint
   left join email_changes e on e.id = (j.data->>'email_change_id')::bigint
   where j.id = :journalId`,
);

const keepMail = statement<
  never,
  {
    id: number;
    organizationId: number | null;
    journalId: number;
    template: string;
    recipient: string;
    subject: string;
    body: string;
    link: MailLink | null;
    state: 'queued' | 'kept';
    now: Date;
  }
>(
  'events.keepMail',
  `insert into mails (id, organization_id, journal_id, template, recipient, subject, body, link, state, created_at)
   values (:id, :organizationId, :journalId, :template, :recipient, :subject, :body, :link, :state, :now)
   on conflict on constraint mails_once do update set state = excluded.state, error = null
     where mails.state = 'failed'`,
);

interface MailRow {
  id: number;
  journal_id: number;
  template: string;
  recipient: string;
  subject: string;
  body: string;
  link: MailLink | null;
  state: 'queued' | 'kept' | 'sent' | 'failed';
}

const mailOfEntry = statement<MailRow, { journalId: number }>(
  'events.mailOfEntry',
  'select id, journal_id, template, recipient, subject, body, link, state from mails where journal_id = :journalId',
);

const markMail = statement<
  never,
  { journalId: number; state: 'failed' | 'sent'; sentAt: Date | null; error: string | null }
>(
  'events.markMail',
  `update mails set state = :state, sent_at = :sentAt, error = :error
     where journal_id = :journalId and state in ('queued', 'failed')`,
);

interface Payload {
  journalId: number;
}

const deliver: NamedJob<Payload> = { name: 'mail.deliver' };

/** Asks for the delivery of each declared mail when its event happens. */
export function mailReactions(mails: readonly MailDeclaration[]): Reaction[] {
  return mails.map((mail) => ({
    event: mail.event,
    job: deliver,
    payload: ({ journalId, data }) => (mail.when(data) ? { journalId } : null),
  }));
}

/** Writes the mail down that tells a customer of a journal entry, once, and has it sent where mails are sent. */
export function mailDelivery(mails: readonly MailDeclaration[]): Saga<Payload> {
  const byEvent = new Map(mails.map((mail) => [mail.event, mail]));
  const steps = [
    { name: 'write', transactional: true, do: (run: TxRun<Payload, object>) => write(run, byEvent) },
  ] as const;
  return saga<Payload>({ name: deliver.name, steps });
}

/** Code of a mail that its server does not take for now: a mailbox is full, or the sender is not known there yet. */
const putOff = 'mail_put_off';

/**
 * Sends a mail that is written down, and marks it. Between the server's "accepted" and that mark a crash can send it
 * again, with the same Message-ID, by which mail systems drop the double.
 */
export const mailSending = job<Payload>('mail.send', send, {
  attempts: 12,
  outages: ['mail_unreachable', putOff],
  failed: async (ctx, { journalId }, { message }) => {
    await ctx.db.run(markMail, { journalId, state: 'failed', sentAt: null, error: message });
  },
});

async function write(
  { ctx, can, payload }: TxRun<Payload, object>,
  mails: ReadonlyMap<string, MailDeclaration>,
): Promise<void> {
  const delivers = can('mail', 'delivery');
  const entry = await ctx.db.one(entryForMail, { journalId: payload.journalId });
  const declared = mails.get(entry.action);
  if (declared === undefined) throw new Error(`no mail tells of ${entry.action}`);
  if (declared.about !== null && entry.notifications?.[declared.about] === false) return;
  const recipient = declared.to(entry.data) ?? recipientOf(entry, declared);
  if (recipient === null) return;
  const text = declared.text(
    {
      journalId: entry.id,
      subject: { type: entry.subject_type, id: entry.subject_id },
      organizationId: entry.organization_id,
      data: entry.data,
    },
    { timezone: entry.timezone ?? 'UTC' },
  );
  await ctx.db.run(keepMail, {
    id: newId(),
    organizationId: entry.organization_id,
    journalId: entry.id,
    template: entry.action,
    recipient,
    ...composeMail(text, entry.first_name, ctx.config.publicUrl),
    link: text.link ?? null,
    state: delivers ? 'queued' : 'kept',
    now: ctx.clock.now(),
  });
  const { organization_id: organizationId } = entry;
  if (delivers) await enqueue(ctx, mailSending, { journalId: entry.id }, { organizationId });
}

function recipientOf(entry: EntryForMail, { address, isBill }: MailDeclaration): string | null {
  if (address !== 'own') return entry[address];
  return isBill ? (entry.billing_email ?? entry.email) : entry.email;
}

async function send(run: Run<Payload, object>): Promise<void> {
  const { ctx, drivers, payload } = run;
  const mail = await ctx.db.maybe(mailOfEntry, { journalId: payload.journalId });
  if (mail?.state !== 'queued' && mail?.state !== 'failed') return;
  const domain = new URL(ctx.config.publicUrl).hostname;
  await drivers.mail
    .send({
      messageId: `<${mail.journal_id}.${mail.template}@${domain}>`,
      from: ctx.config.mailFrom,
      to: mail.recipient,
      subject: mail.subject,
      text: withLink(mail.body, mail.link, ctx.seal, ctx.config.publicUrl),
    })
    .catch(sayPutOff);
  await ctx.db.run(markMail, {
    journalId: payload.journalId,
    state: 'sent',
    sentAt: ctx.clock.now(),
    error: null,
  });
}

function sayPutOff(error: unknown): never {
  const isForNow = error instanceof MailError && error.code === 'mail_refused' && !error.permanent;
  if (isForNow) throw Object.assign(new Error(error.message, { cause: error }), { code: putOff });
  throw error;
}
