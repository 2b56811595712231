import { type Files, FilesError } from '../drivers/files/index.ts';
import { MailError, type MailPicture, type OutgoingMail } from '../drivers/mail/index.ts';
import type { Permission } from '../platform/http/index.ts';
import {
  type Context,
  enqueue,
  type Happened,
  job,
  type Language,
  type NamedJob,
  newId,
  type Queue,
  type Reaction,
  type Run,
  type Saga,
  saga,
  statement,
  type TxContext,
  type TxRun,
} from '../platform/index.ts';
import { answerAddress, rootOf } from './answerAddress.ts';
import type { Block } from './blocks.ts';
import { bounce, hasBounced } from './bounce.ts';
import { asHtml, type Brand } from './html.ts';
import { openLayout } from './layout.ts';
import { composeMail, type MailDeclaration, type Notification, type Recipient, readerOf } from './mail.ts';
import { type MailLink, urlOfLink, withLink } from './mailLink.ts';
import { frameTexts } from './texts/index.ts';
import { unsubscribeUrl } from './unsubscribe.ts';

interface EntryForMail extends Recipient {
  id: number;
  organization_id: number | null;
  /** Who did it. */
  actor_id: number | null;
  user_id: number | null;
  action: string;
  subject_type: string;
  subject_id: number;
  data: object;
  email: string | null;
  billing_email: string | null;
  notifications: Record<string, boolean> | null;
  old_email: string | null;
  new_email: string | null;
}

const entryForMail = statement<EntryForMail, { journalId: number }>(
  'events.entryForMail',
  `select j.id, j.organization_id, j.user_id as actor_id, j.action, j.subject_type, j.subject_id, j.data, u.id as user_id,
     u.email, u.billing_email, u.first_name, u.last_name, u.language, u.timezone, u.notifications, e.old_email, e.new_email
   from journal j left join users u on u.id = (j.data->>'user_id')::bigint and u.status <> 'closed'
   left join email_changes e on e.id = (j.data->>'email_change_id')::bigint
   where j.id = :journalId`,
);

// In the language of whoever has the address, otherwise of whoever did it. Without a name: it may go to somebody else.
const recipientAt = statement<Recipient, { address: string; actorId: number | null }>(
  'events.recipientAt',
  `select null as first_name, null as last_name, language, timezone from (
     select language, timezone, 1 as nth from users where lower(email) = lower(:address)
     union all select language, timezone, 2 from users where id = :actorId) known
   order by nth limit 1`,
);
const nobodyKnown: Recipient = { first_name: null, last_name: null, language: null, timezone: null };

const keepMail = statement<
  { id: number },
  {
    id: number;
    organizationId: number | null;
    journalId: number;
    template: string;
    recipient: string;
    subject: string;
    body: string;
    /** As JSON: an array by itself would become one of PostgreSQL's. */
    blocks: string;
    language: Language;
    about: string | null;
    userId: number | null;
    link: MailLink | null;
    conversation: string | null;
    inReplyTo: string | null;
    state: 'queued' | 'kept';
    now: Date;
  }
>(
  'events.keepMail',
  `insert into mails (id, organization_id, journal_id, template, recipient, subject, body, blocks, language, about,
     user_id, link, conversation, in_reply_to, state, created_at)
   values (:id, :organizationId, :journalId, :template, :recipient, :subject, :body, :blocks::jsonb, :language, :about,
     :userId, :link, :conversation, :inReplyTo, :state, :now)
   on conflict on constraint mails_once do update set state = excluded.state, error = null
     where mails.state = 'failed' returning id`,
);

/** Somebody, or a mail box, that one mail goes to. */
export interface Addressee extends Recipient {
  address: string;
  /** Null: of no account. */
  userId: number | null;
  /** What its reader may have switched off. */
  notifications: Record<string, boolean> | null;
}

/**
 * Says who is told of an organization's affairs, after what one of its people, maybe of earlier days, has begun; nobody
 * when it has nobody left.
 */
export type AddresseesReader = (
  ctx: Context,
  affair: { organizationId: number; userId: number | null; isBill: boolean },
) => Promise<Addressee[]>;

/** Says who of an organization's people holds a permission. */
export type HoldersReader = (
  ctx: Context,
  organizationId: number,
  permission: Permission,
) => Promise<Addressee[]>;

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

interface Payload {
  journalId: number;
}

const deliver: NamedJob<Payload> = { name: 'mail.deliver' };
const deliverAwaited: NamedJob<Payload> = { name: 'mail.deliverLink' };
const deliverToStaff: NamedJob<Payload> = { name: 'mail.deliverToStaff' };
/** One of the mails of an entry. */
interface MailPayload extends Payload {
  mailId?: number;
}
const sending: NamedJob<MailPayload> = { name: 'mail.send' };
const sendingAwaited: NamedJob<MailPayload> = { name: 'mail.sendLink' };
const sendingToStaff: NamedJob<MailPayload> = { name: 'mail.sendToStaff' };

/** What is done while nothing may be done for customers. */
export const mailJobsToStaff: readonly string[] = [deliverToStaff.name, sendingToStaff.name];

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
type BrandReader = (ctx: Context) => Promise<Brand>;

/** Asks for the delivery of each declared mail when its event happens. */
export function mailReactions(mails: readonly MailDeclaration[]): Reaction[] {
  return mails.map((mail) => ({
    event: mail.event,
    job: mail.isStaffs ? deliverToStaff : mail.isAwaited ? deliverAwaited : deliver,
    payload: ({ journalId, data }) => (mail.when(data) ? { journalId } : null),
  }));
}

/** What mails take from rooms upstairs. */
export interface MailReaders {
  readBrand: BrandReader;
  readAddressees: AddresseesReader;
  readHolders: HoldersReader;
}

/**
 * Writes the mails down that tell customers of a journal entry, once each, and has them sent where mails are sent. Each saga
 * writes any mail: a version before this one enqueues all of them as `mail.deliver`.
 */
export function mailDelivery(mails: readonly MailDeclaration[], readers: MailReaders): Saga<Payload>[] {
  const byEvent = new Map(mails.map((mail) => [mail.event, mail]));
  const steps = [
    {
      name: 'write',
      transactional: true,
      do: (run: TxRun<Payload, object>) => write(run, byEvent, readers),
    },
  ] as const;
  return [
    saga<Payload>({ name: deliver.name, queue: 'mails', steps }),
    saga<Payload>({ name: deliverAwaited.name, queue: 'links', steps }),
    saga<Payload>({ name: deliverToStaff.name, queue: 'mails', steps }),
  ];
}

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

async function write(
  { ctx, can, payload }: TxRun<Payload, object>,
  mails: ReadonlyMap<string, MailDeclaration>,
  readers: MailReaders,
): Promise<void> {
  const state = can('mail', 'delivery') ? 'queued' : 'kept';
  const entry = await ctx.db.one(entryForMail, { journalId: payload.journalId });
  const declared = mails.get(entry.action);
  if (declared === undefined) throw new Error(`no mail tells of ${entry.action}`);
  const brand = await readers.readBrand(ctx);
  const conversation = declared.conversation(entry.data);
  for (const addressee of await addresseesOf(ctx, entry, declared, readers)) {
    if (declared.about !== null && addressee.notifications?.[declared.about] === false) continue;
    if (declared.about !== null && (await hasBounced(ctx, addressee.address))) continue;
    const reader = readerOf(addressee, ctx.config.textsDir);
    const text = declared.text(happenedIn(entry), reader);
    const composed = composeMail(text, addressee, reader, brand, ctx.config.publicUrl);
    const { organization_id: organizationId, id: journalId } = entry;
    const written = await ctx.db.maybe(keepMail, {
      ...{ id: newId(), organizationId, journalId, template: entry.action, recipient: addressee.address },
      ...composed,
      blocks: JSON.stringify(composed.blocks),
      language: reader.language,
      about: declared.about,
      userId: addressee.userId,
      conversation: conversation?.code ?? null,
      inReplyTo: conversation?.inReplyTo ?? null,
      state,
      now: ctx.clock.now(),
    });
    if (written === null || state === 'kept') continue;
    const { isAwaited, isStaffs } = declared;
    await enqueueSending(ctx, { journalId, mailId: written.id, isAwaited, isStaffs, organizationId });
  }
}

function happenedIn(entry: EntryForMail): Happened {
  return {
    journalId: entry.id,
    subject: { type: entry.subject_type, id: entry.subject_id },
    organizationId: entry.organization_id,
    data: entry.data,
  };
}

/**
 * Who is told: an address that the event names, the person that it is about, or, of an organization's affairs, whoever is
 * in charge of them now. Fails when nobody is left to tell what everybody has to be told: staff finds the job in its list.
 */
async function addresseesOf(
  ctx: Context,
  entry: EntryForMail,
  declared: MailDeclaration,
  { readAddressees, readHolders }: MailReaders,
): Promise<Addressee[]> {
  const named = declared.to(entry.data);
  if (named !== null)
    return [
      { ...(await whoHas(ctx, named, entry.actor_id)), address: named, userId: null, notifications: null },
    ];
  const { organization_id: organizationId, user_id: userId, notifications } = entry;
  if (declared.permission !== null && organizationId !== null)
    return readHolders(ctx, organizationId, declared.permission);
  if (!declared.isOrganizations || organizationId === null) {
    const address = addressOf(entry, declared);
    return address === null ? [] : [{ ...entry, address, userId, notifications }];
  }
  const told = await readAddressees(ctx, { organizationId, userId, isBill: declared.isBill });
  if (told.length > 0 || declared.about !== null) return told;
  const message = `nobody of organization ${organizationId} can be told of ${entry.action}: it has no active owner`;
  throw Object.assign(new Error(message), { permanent: true, code: 'nobody_to_tell' });
}

async function whoHas(ctx: Context, address: string, actorId: number | null): Promise<Recipient> {
  return (await ctx.db.maybe(recipientAt, { address, actorId })) ?? nobodyKnown;
}

function addressOf(entry: EntryForMail, { address, isBill }: MailDeclaration): string | null {
  if (address !== 'own') return entry[address];
  return isBill ? (entry.billing_email ?? entry.email) : entry.email;
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
