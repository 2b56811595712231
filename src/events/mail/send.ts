import { type Files, FilesError } from '../../drivers/files/index.ts';
import { MailError, type MailPicture, type OutgoingMail } from '../../drivers/mail/index.ts';
import {
  type Context,
  enqueue,
  job,
  type Language,
  type NamedJob,
  type Queue,
  type Run,
  type Saga,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { frameTexts } from '../texts/index.ts';
import { answerAddress, rootOf } from './answerAddress.ts';
import type { Block } from './blocks.ts';
import { bounce } from './bounce.ts';
import { asHtml, type Brand } from './html.ts';
import { openLayout } from './layout.ts';
import { type MailLink, urlOfLink, withLink } from './link.ts';
import { type Notification, nobodyKnown, readerOf } from './mail.ts';
import { unsubscribeUrl } from './unsubscribe.ts';

interface MailRow {
  id: number;
  journal_id: number;
  template: string;
  recipient: string;
  subject: string;
  body: string;
  /** Null for mails of versions that sent plain text. */
  blocks: Block[] | null;
  language: Language;
  about: Notification | null;
  user_id: number | null;
  link: MailLink | null;
  conversation: string | null;
  in_reply_to: string | null;
  state: 'queued' | 'kept' | 'sent' | 'failed';
  /** How often it was to be sent, with this time. */
  sendings: number;
}

// A job of a version that wrote one mail for each entry names the entry alone.
const mailOfEntry = statement<MailRow, { journalId: number; mailId: number | null }>(
  'events.mailOfEntry',
  `select id, journal_id, template, recipient, subject, body, blocks, language, about, user_id, link, conversation,
     in_reply_to, state, sendings from mails
   where journal_id = :journalId and (:mailId::bigint is null or id = :mailId::bigint) order by id limit 1`,
);

const markMail = statement<
  never,
  {
    id: number;
    state: 'failed' | 'sent';
    sentAt: Date | null;
    error: string | null;
    answer: string | null;
  }
>(
  'events.markMail',
  `update mails set state = :state, sent_at = :sentAt, error = :error, answer = :answer
     where id = :id and state in ('queued', 'failed')`,
);

/** One of the mails of an entry. */
interface MailPayload {
  journalId: number;
  mailId?: number;
}
const sending: NamedJob<MailPayload> = { name: 'mail.send' };
const sendingAwaited: NamedJob<MailPayload> = { name: 'mail.sendLink' };
export const sendingToStaff: NamedJob<MailPayload> = { name: 'mail.sendToStaff' };

/**
 * Has a mail sent that is written down. Jobs of what somebody waits for have names of their own, and so a queue: a night's
 * notices, or a mail server that says nothing, hold up neither them nor what was paid. Those to staff have names of their own, since
 * they are sent also where all others wait.
 */
export async function enqueueSending(
  ctx: TxContext,
  {
    isAwaited,
    isStaffs = false,
    organizationId,
    ...payload
  }: MailPayload & { isAwaited: boolean; isStaffs?: boolean; organizationId: number | null },
): Promise<void> {
  const job = isStaffs ? sendingToStaff : isAwaited ? sendingAwaited : sending;
  await enqueue(ctx, job, payload, { organizationId });
}

/** Says who the company is. */
export type BrandReader = (ctx: Context) => Promise<Brand>;

/** Code of a mail that its server does not take for now: a mailbox is full, or the sender is not known there yet. */
const putOff = 'mail_put_off';

/**
 * Sends a mail that is written down, and marks it. Between the server's "accepted" and that mark a crash can send it
 * again, with the same Message-ID, by which mail systems drop the double.
 */
export function mailSending(readBrand: BrandReader): Saga<MailPayload>[] {
  return [
    sendingIn('mails', sending, readBrand),
    sendingIn('links', sendingAwaited, readBrand),
    sendingIn('mails', sendingToStaff, readBrand),
  ];
}

function sendingIn(queue: Queue, { name }: NamedJob<MailPayload>, readBrand: BrandReader): Saga<MailPayload> {
  return job<MailPayload>(name, (run) => send(run, readBrand), {
    queue,
    attempts: 12,
    outages: ['mail_unreachable', putOff],
    failed: async (ctx, { journalId, mailId = null }, { code, message }) => {
      const mail = await ctx.db.maybe(mailOfEntry, { journalId, mailId });
      if (mail === null) return;
      const { id, recipient } = mail;
      if (code === 'address_refused') await bounce(ctx, recipient, id, message);
      await ctx.db.run(markMail, { id, state: 'failed', sentAt: null, error: message, answer: null });
    },
  });
}

async function send(run: Run<MailPayload, object>, readBrand: BrandReader): Promise<void> {
  const { ctx, drivers, payload } = run;
  const { journalId, mailId = null } = payload;
  const mail = await ctx.db.maybe(mailOfEntry, { journalId, mailId });
  if (mail?.state !== 'queued' && mail?.state !== 'failed') return;
  const brand = await readBrand(ctx);
  const logo = mail.blocks === null ? null : await logoOf(drivers.files, brand);
  const answer = await drivers.mail.send(await asItLeaves(ctx, mail, brand, logo)).catch(sayPutOff);
  await ctx.db.run(markMail, { id: mail.id, state: 'sent', sentAt: ctx.clock.now(), error: null, answer });
}

/** The logo that was read last, by its file's name, which follows from what is in it. A night has a hundred thousand mails. */
const logos = new WeakMap<Files, { file: string; content: Buffer }>();

/** The logo as a mail brings it along. No mail waits for one that cannot be read now: the name stands there then. */
async function logoOf(files: Files, { logo: file }: Brand): Promise<MailPicture | null> {
  if (file === null) return null;
  try {
    const last = logos.get(files);
    const content = last?.file === file ? last.content : await files.get(file);
    logos.set(files, { file, content });
    return { cid: 'logo', type: 'image/png', content };
  } catch (error) {
    if (error instanceof FilesError) return null;
    throw error;
  }
}

/** The whole mail, in text and HTML, with the links that nobody but its recipient reads. */
async function asItLeaves(
  ctx: Context,
  mail: MailRow,
  brand: Brand,
  logo: MailPicture | null,
): Promise<OutgoingMail> {
  const { seal, config } = ctx;
  const { subject, language, blocks, about, user_id: userId } = mail;
  const reader = readerOf({ ...nobodyKnown, language }, config.textsDir);
  const url =
    about === null || userId === null ? null : unsubscribeUrl({ userId, about }, seal, config.publicUrl);
  const why = frameTexts(reader, 'frame.why', { company: brand.name });
  const whyWanted = frameTexts(reader, 'frame.whyNotify');
  const page = {
    ...{ subject, language, brand },
    footer: [url === null ? why : whyWanted],
    unsubscribe: url === null ? null : { text: frameTexts(reader, 'frame.unsubscribe'), url },
    urlOf: (link: MailLink) => urlOfLink(link, seal, config.publicUrl),
    logo: logo?.cid ?? null,
  };
  return {
    messageId: messageIdOf(mail, config.publicUrl),
    from: config.mailFrom,
    to: mail.recipient,
    subject,
    text: `${withLink(mail.body, mail.link, seal, config.publicUrl)}${url === null ? '' : `\n${whyWanted}\n${url}\n`}`,
    ...(logo === null ? {} : { pictures: [logo] }),
    ...(blocks === null ? {} : { html: asHtml({ ...page, blocks }, openLayout(config.textsDir)) }),
    ...whereAnswersGo(ctx, mail),
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...(url && lettingOut(url)),
    },
  };
}

/** What comes back and what is answered comes in here, where mails come in; and what the mail belongs to. */
function whereAnswersGo(ctx: Context, mail: MailRow): Partial<OutgoingMail> {
  const { conversation: code, in_reply_to: theirs, user_id: userId } = mail;
  const { mailInAddress: returnPath, publicUrl } = ctx.config;
  if (returnPath === null) return {};
  if (code === null || userId === null) return { returnPath };
  const root = rootOf(code, publicUrl);
  const thread =
    theirs === null
      ? { inReplyTo: root, references: [root] }
      : { inReplyTo: theirs, references: [root, theirs] };
  return { returnPath, ...thread, replyTo: answerAddress(ctx, code, userId) ?? returnPath };
}

/** Header fields by which mail programs offer to get no more mails of this kind, by one click (RFC 2369, 8058). */
function lettingOut(url: string): Record<string, string> {
  return { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

/** The same for every try, another one when staff sends it again: mail systems drop what has the same. */
function messageIdOf({ id, sendings, template }: MailRow, publicUrl: string): string {
  return `<${id}.${sendings}.${template}@${new URL(publicUrl).hostname}>`;
}

function sayPutOff(error: unknown): never {
  const isForNow = error instanceof MailError && error.code === 'mail_refused' && !error.permanent;
  if (isForNow) throw Object.assign(new Error(error.message, { cause: error }), { code: putOff });
  throw error;
}
