/**
 * What the product asks of whatever takes its mails. Rules every driver keeps:
 * - `send` can be repeated: the same mail has the same Message-ID each time, by which receivers drop the double.
 * - It resolves once the mail is in other hands, and never before.
 * - A mail goes to the one address it names, whatever the text in it looks like.
 * - Failures are `MailError`s; `permanent` says whether trying again can help.
 */
export interface Mail {
  /** Which engine this is: `smtp`, `database`. */
  readonly kind: string;
  /** What it can beyond what every engine must; conformance holds it to this. */
  readonly capabilities: readonly MailCapability[];
  /** What the other side said when it took the mail: `250 2.0.0 Ok: queued as 4F1B`; null when there is nobody to say it. */
  send(mail: OutgoingMail): Promise<string | null>;
  /** Lets go of connections. */
  close(): Promise<void>;
}

/** `delivery`: mails leave the product. Without it they stay where they are written down, for staff to read. */
export type MailCapability = 'delivery';

export interface MailPicture {
  cid: string;
  type: 'image/png';
  content: Buffer;
}

export interface OutgoingMail {
  /** Stable over repeated sends: `<1.invoice.created@inn.example>`. */
  messageId: string;
  /** An address, with a name or without: `Innkeeper <billing@inn.example>`. */
  from: string;
  /** One plain address. */
  to: string;
  subject: string;
  text: string;
  /** The same to look at: then both go in one mail (`multipart/alternative`). */
  html?: string;
  /** What the HTML shows by `<img src="cid:…">`: it travels with the mail, so that nothing is fetched to show it. */
  pictures?: readonly MailPicture[];
  /** One plain address to which its reader answers; without it they answer to `from`. */
  replyTo?: string;
  /** One plain address to which it comes back when nobody takes it; without it, that of `from`. */
  returnPath?: string;
  /** The mail that this one answers, and those before it, by their Message-IDs: programs show them as one conversation. */
  inReplyTo?: string;
  references?: readonly string[];
  /** Further header fields, a line each: `{ 'Auto-Submitted': 'auto-generated' }`. */
  headers?: Readonly<Record<string, string>>;
}

export type MailErrorCode =
  /** Not one address, or a header of several lines. */
  | 'mail_invalid'
  /** The server says for good (5xx) that no mail reaches this address. */
  | 'address_refused'
  /** The server does not take this mail: for good (5xx), or for now (4xx). */
  | 'mail_refused'
  /** The server cannot be reached, cannot be believed, or went away in the middle. */
  | 'mail_unreachable';

/** A failed call. `message` is for staff and logs and never holds a password. */
export class MailError extends Error {
  readonly code: MailErrorCode;
  /** True when repeating the call cannot help. */
  readonly permanent: boolean;
  constructor(code: MailErrorCode, message: string, options: { permanent?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.permanent = options.permanent ?? false;
  }
}
