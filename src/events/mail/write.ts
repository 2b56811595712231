import type { Permission } from '../../platform/http/index.ts';
import {
  type Context,
  type Happened,
  type Language,
  type NamedJob,
  newId,
  type Reaction,
  type Saga,
  saga,
  statement,
  type TxRun,
} from '../../platform/index.ts';
import { hasBounced } from './bounce.ts';
import type { MailLink } from './link.ts';
import { composeMail, type MailDeclaration, nobodyKnown, type Recipient, readerOf } from './mail.ts';
import { type BrandReader, enqueueSending, sendingToStaff } from './send.ts';

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

interface Payload {
  journalId: number;
}

const deliver: NamedJob<Payload> = { name: 'mail.deliver' };
const deliverAwaited: NamedJob<Payload> = { name: 'mail.deliverLink' };
const deliverToStaff: NamedJob<Payload> = { name: 'mail.deliverToStaff' };
/** What is done while nothing may be done for customers. */
export const mailJobsToStaff: readonly string[] = [deliverToStaff.name, sendingToStaff.name];

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
