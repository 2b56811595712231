import type { Permission } from '../../platform/http/index.ts';
import { type Happened, languageOf, openDictionary, type Reader } from '../../platform/index.ts';
import type { Event } from '../event.ts';
import { frameTexts } from '../texts/index.ts';
import { asText, type Block, linkOf, type PageButton } from './blocks.ts';
import type { Brand } from './html.ts';
import { type MailLink, place } from './link.ts';

/** What a mail says, in its reader's language; greeting and footer are added. */
interface InBlocks {
  subject: string;
  blocks: readonly Block[];
  /** Where in the dashboard its reader does what it is about, as the last thing in it. */
  leadsTo?: PageButton | undefined;
}

/** As mails were written before they had blocks: lines of English. */
interface InLines {
  subject: string;
  lines: string[];
  link?: MailLink;
}

export type MailText = InBlocks | InLines;

/**
 * What mails are about that nobody has to have: people say which of these they want, and each such mail brings a link by
 * which they get no more of its kind. Invoices, reminders and what is about the safety of an account are none of these.
 */
export const notifications = ['payments', 'services'] as const;
export type Notification = (typeof notifications)[number];

/** Which address of an account: its own or, of a change that the event's data names, the one before or after it. */
type Address = 'own' | 'old_email' | 'new_email';

/** What a mail is a part of, together with what people answer to it. */
export interface Conversation {
  /** Small letters and digits: the code of a ticket. */
  code: string;
  /** The Message-ID of the mail of theirs that this one follows. */
  inReplyTo: string | null;
}

/** A mail that tells of an event. */
export interface MailDeclaration {
  readonly event: string;
  /** What its reader may have switched off; null for what everybody is told. */
  readonly about: Notification | null;
  readonly address: Address;
  /** Whether it is about money and goes to the account's address for bills, if it has one. */
  readonly isBill: boolean;
  /**
   * Whether it is the organization's own affair, such as a bill or a warning about a service: then it follows the
   * organization's people, and whoever left it hears no more.
   */
  readonly isOrganizations: boolean;
  /** Goes to all people of the organization who hold it; null when others are told. */
  readonly permission: Permission | null;
  /** Whether it brings a link that somebody asked for and waits for: such go before all that only tell of something. */
  readonly isAwaited: boolean;
  /** Whether it goes to the provider's own people: such are sent also while nothing is done for customers. */
  readonly isStaffs: boolean;
  when(data: object): boolean;
  /** What its reader can answer to by mail; null when there is nobody who would read it. */
  conversation(data: object): Conversation | null;
  /** Where it goes when that is no matter of the account. */
  to(data: object): string | null;
  text(happened: Happened, reader: Reader): InBlocks;
}

/** Events that are told of by mail say whom they concern; null when nobody is known. */
interface Concerning {
  user_id: number | null;
}

/** Where a mail leads; undefined for nowhere. */
type LeadsTo<Data extends object> = (happened: Happened<Data>, reader: Reader) => PageButton | undefined;

interface Options<Data extends object> {
  leadsTo?: LeadsTo<Data>;
  isBill?: boolean;
  /** Whether it goes to the people of the organization, whoever began it; what is a bill does. */
  isOrganizations?: boolean;
  /** Decided where it happens: no mail is written when it says no. */
  when?: (data: Data) => boolean;
  about?: Notification;
  /** Has it go to all people of the organization who hold it. */
  permission?: Permission;
  /** With it, the event's data names the change of address: `email_change_id`. */
  address?: Address;
  conversation?: (data: Data) => Conversation | null;
  isAwaited?: boolean;
}

// As methods, which take the one type of data that entries of an event have.
interface Declared<Data extends object> {
  when(data: Data): boolean;
  conversation(data: Data): Conversation | null;
  to(data: Data): string | null;
  text(happened: Happened<Data>, reader: Reader): InBlocks;
}

/** Declares the mail that tells of an event, in the room whose event it is. */
export function mail<Data extends Concerning>(
  event: Event<Data>,
  text: (happened: Happened<Data>, reader: Reader) => MailText,
  options: Options<Data> = {},
): MailDeclaration {
  const { isBill = false, isOrganizations = isBill, about, permission, address = 'own' } = options;
  const { when = () => true, conversation = () => null } = options;
  const declared: Declared<Data> = {
    ...{ when, conversation, to: () => null },
    text: (...given) => leading(inBlocks(text(...given)), options.leadsTo, ...given),
  };
  const { isAwaited = false } = options;
  const whom = {
    isBill,
    isOrganizations,
    permission: permission ?? null,
    address,
    isAwaited,
    isStaffs: false,
  };
  return { event: event.name, ...whom, about: about ?? null, ...declared };
}

/** The same to an address that the event's data names. */
export function mailTo<Data extends object>(
  event: Event<Data>,
  to: (data: Data) => string,
  text: (happened: Happened<Data>, reader: Reader) => MailText,
  options: Pick<Options<Data>, 'isAwaited' | 'leadsTo'> & { isStaffs?: boolean } = {},
): MailDeclaration {
  const { isAwaited = false, isStaffs = false, leadsTo } = options;
  const declared: Declared<Data> = {
    ...{ when: () => true, conversation: () => null, to },
    text: (...given) => leading(inBlocks(text(...given)), leadsTo, ...given),
  };
  const nobodys = { isBill: false, isOrganizations: false, permission: null, isAwaited, isStaffs };
  return { event: event.name, ...nobodys, about: null, address: 'own', ...declared };
}

/** The same mails, about what an organization owns: they go to its people. */
export function ofOrganization(mails: readonly MailDeclaration[]): MailDeclaration[] {
  return mails.map((declared) => ({ ...declared, isOrganizations: true }));
}

/** A paragraph for each run of lines; the link stands after the first. */
function inBlocks(text: MailText): InBlocks {
  if ('blocks' in text) return text;
  const { subject, lines, link } = text;
  const blocks: Block[] = lines.join('\n').split('\n\n');
  if (link === undefined) return { subject, blocks };
  const [first = '', ...rest] = lines;
  return { subject, blocks: [first, { button: 'Follow the link', link }, ...rest] };
}

/** With the page that it leads to. Whoever is in several organizations sees that of the one which it is about. */
function leading<Data extends object>(
  text: InBlocks,
  leadsTo: LeadsTo<Data> | undefined,
  happened: Happened<Data>,
  reader: Reader,
): InBlocks {
  const found = leadsTo?.(happened, reader);
  if (found === undefined) return text;
  const { organizationId } = happened;
  const isOf = organizationId !== null && !found.page.startsWith('/staff');
  const page = isOf ? `${found.page}?organization=${organizationId}` : found.page;
  return { ...text, leadsTo: { ...found, page } };
}

/** Who a mail is written to. */
export interface Recipient {
  first_name: string | null;
  last_name: string | null;
  language: string | null;
  timezone: string | null;
}

/** Whose language and name are not known. */
export const nobodyKnown: Recipient = { first_name: null, last_name: null, language: null, timezone: null };

export function readerOf({ language, timezone }: Recipient, textsDir: string | null): Reader {
  return {
    language: languageOf(language),
    timezone: timezone ?? 'UTC',
    dictionary: openDictionary(textsDir),
  };
}

/** The whole mail: header, greeting and blocks, and all of it as text. */
export function composeMail(
  { subject, blocks, leadsTo }: InBlocks,
  recipient: Recipient,
  reader: Reader,
  brand: Brand,
  publicUrl: string,
): { subject: string; blocks: Block[]; body: string; link: MailLink | null } {
  const last = leadsTo === undefined ? [] : [{ button: leadsTo.button, url: `${publicUrl}${leadsTo.page}` }];
  const all = [greeting(recipient, reader), ...[...blocks, ...last].map(tidy)];
  const signature = [brand.name, ...brand.imprint, publicUrl].filter(Boolean).join('\n');
  return {
    subject: oneLine(subject),
    blocks: all,
    body: `${asText(all, () => place)}\n\n-- \n${signature}\n`,
    link: linkOf(blocks),
  };
}

/** German says Sie, so it greets by the whole name. */
function greeting({ first_name: first, last_name: last }: Recipient, reader: Reader): string {
  const isFormal = reader.language === 'de';
  const name = (isFormal ? `${first ?? ''} ${last ?? ''}` : (first ?? '')).trim();
  return name === ''
    ? frameTexts(reader, 'frame.greetingToNobody')
    : frameTexts(reader, 'frame.greeting', { name });
}

/** What stands in a table or on a button is of people as well, and begins no line of its own. */
function tidy(block: Block): Block {
  if (typeof block !== 'string' && 'button' in block) return { ...block, button: oneLine(block.button) };
  if (typeof block === 'string' || !('table' in block)) return block;
  return { table: block.table.map(([label, value]) => [oneLine(label), oneLine(value)] as const) };
}

/** A name with a line break in it must not become a header of its own. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}
