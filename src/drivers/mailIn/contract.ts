import type { Readable } from 'node:stream';

/**
 * What brings mails in. Rules every driver keeps:
 * - A mail is given to `take`, and only once that has resolved does the other side hear that it was taken. Whatever happens
 *   in between, it comes again: a mail may come twice, and never not at all.
 * - It comes as it is, bit by bit, however it is written. What is in it is not this contract's.
 * - What is for an address that `accepts` refuses is turned away, where the other side still asks.
 * - A mail over the limit is turned away before it is read where the other side says how large it is; where there is nobody to
 *   turn it away to, its head alone comes, marked as `isCut`.
 * - What `take` puts off (`mails_full`) is put off at the other side too.
 * - One mail that cannot be taken holds up none behind it.
 */
export interface MailIn {
  /** Which engine this is. */
  readonly kind: 'none' | 'smtp' | 'lmtp' | 'imap';
  readonly capabilities: readonly MailInCapability[];
  /** Begins to bring mails, and says how to stop: what is under way is ended first. */
  receive(receiver: Receiver): Promise<Receiving>;
  /**
   * Says who a mail is from, as far as the network tells (SPF, DKIM, DMARC); for engines with `judges`. Trying again
   * may help when it fails: `names_unreachable`.
   */
  judge(mail: JudgedMail): Promise<Judgement>;
}

/**
 * `judges`: it sees who brings a mail, and can say whether its sender is who they say. `alone`: one process at a time may
 * receive.
 */
export type MailInCapability = 'judges' | 'alone';

export interface Receiver {
  /** Whether a mail for this address is ours to take. */
  accepts(address: string): boolean;
  /** Keeps a mail for good, or fails. */
  take(mail: IncomingMail): Promise<void>;
  /** Told how it stands with the other side: why no mail comes, or null when they do. */
  stands(problem: string | null): void;
}

export interface Receiving {
  stop(): Promise<void>;
}

export interface IncomingMail {
  /** Every byte of it. It ends with an error when the mail does not come whole. */
  content: Readable;
  /** Where it comes back to: '' for nowhere, as machines have it. Null where nobody says, as in a mailbox. */
  returnPath: string | null;
  /** For whom it is, as the other side says; empty in a mailbox, where the mail itself has to. */
  recipients: string[];
  /** Who brought it over the network; null in a mailbox. */
  client: { ip: string; name: string } | null;
  /** It is over the limit, and this is its head alone. */
  isCut: boolean;
}

export interface JudgedMail {
  content: Readable;
  returnPath: string;
  client: { ip: string; name: string };
}

/** `domain`: whose mail it is, in small letters, when that is proved. */
export type Judgement = { proved: true; domain: string } | { proved: false; why: string };

export type MailInErrorCode =
  /** Over the limit. */
  | 'mail_too_large'
  /** It broke off before its end. */
  | 'mail_broken_off'
  /** For now there is no telling who a mail is from: names cannot be looked up. */
  | 'names_unreachable'
  /** As much has come as may come in a day. */
  | 'mails_full'
  /** The other side cannot be reached, or does not let us in. */
  | 'mail_in_unreachable';

/** A failed call. `message` is for staff and logs and never holds a password. */
export class MailInError extends Error {
  readonly code: MailInErrorCode;
  readonly permanent: boolean;
  constructor(
    code: MailInErrorCode,
    message: string,
    options: { permanent?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.permanent = options.permanent ?? false;
  }
}

/** What a mail may have at most, in bytes: 25 MiB. */
export const mailSizeAtMost = 25 * 1_024 * 1_024;
