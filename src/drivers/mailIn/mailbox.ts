import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { ImapFlow } from 'imapflow';
import { type MailIn, mailSizeAtMost, type Receiver } from './contract.ts';

export interface MailboxOptions {
  /** `imaps://user:password@host:993/INBOX`, or `imap://…` with STARTTLS, which a server on this host may lack. */
  url: string;
  /** Where mails go once they are taken; it is made when it is not there. */
  doneFolder: string;
  /** Certificate authorities to believe instead of the system's, in PEM. */
  ca?: string;
  /** How long to wait at most before looking by oneself, where the server does not tell. */
  pollMs?: number;
  /** How long to wait after the connection was lost; it grows to a minute. */
  againMs?: number;
  timeoutMs?: number;
  sizeAtMost?: number;
}

const longestPauseMs = 60_000;

/** Mails that lie in a mailbox (IMAP, RFC 9051): each is fetched, and moved away once it is kept. */
export function mailbox(options: MailboxOptions): MailIn {
  return {
    kind: 'imap',
    capabilities: ['alone'],
    receive: async (receiver) => {
      const halt = new AbortController();
      const running = follow(options, receiver, halt.signal);
      return {
        stop: async () => {
          halt.abort();
          await running;
        },
      };
    },
    judge: async () => ({ proved: false, why: 'a mailbox does not see who brings a mail' }),
  };
}

/** Goes on until it is stopped, whatever becomes of the server. */
async function follow(options: MailboxOptions, receiver: Receiver, signal: AbortSignal): Promise<void> {
  const { againMs = 1_000 } = options;
  const kept: Kept = new Set();
  let waitMs = againMs;
  while (!signal.aborted) {
    try {
      await attend(options, receiver, kept, signal, () => {
        waitMs = againMs;
      });
    } catch (error) {
      if (signal.aborted) return;
      receiver.stands(sayWhy(error, options.url));
    }
    await pause(waitMs, undefined, { signal }).catch(() => undefined);
    waitMs = Math.min(waitMs * 2, longestPauseMs);
  }
}

/** Mails that were taken and could not be moved away yet, by the mailbox's number and theirs: they are not fetched again. */
type Kept = Set<string>;

/** One connection, from its beginning to its end. */
async function attend(
  options: MailboxOptions,
  receiver: Receiver,
  kept: Kept,
  signal: AbortSignal,
  isUp: () => void,
): Promise<void> {
  const { pollMs = 60_000, doneFolder } = options;
  const client = await open(options);
  let broken: unknown = null;
  client.on('error', (error) => {
    broken = error;
  });
  const over = new AbortController();
  client.on('close', () => over.abort());
  try {
    await client.connect();
    await client.mailboxCreate(doneFolder);
    await client.mailboxOpen(folderOf(options.url));
    isUp();
    let news = new AbortController();
    client.on('exists', () => news.abort());
    while (!signal.aborted && !over.signal.aborted) {
      news = new AbortController();
      const problem = await takeAll(client, options, receiver, signal, kept);
      receiver.stands(problem);
      const waiting = AbortSignal.any([signal, over.signal, news.signal]);
      // The library waits by IDLE meanwhile, or asks now and then where the server does not know it.
      await pause(pollMs, undefined, { signal: waiting }).catch(() => undefined);
    }
    if (!signal.aborted) throw broken ?? new Error('the connection was closed');
  } catch (error) {
    throw broken ?? error;
  } finally {
    if (client.usable && !over.signal.aborted) {
      const gone = once(client, 'close', { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
      await client.logout().catch(() => undefined);
      await gone;
    }
    client.close();
  }
}

/** What is used of a connection to take mails. */
type Connection = Pick<ImapFlow, 'usable' | 'mailbox' | 'search' | 'fetchOne' | 'download' | 'messageMove'>;

/** Takes what lies there, each by itself: one that cannot be taken stays, and holds up none behind it. Returns what went wrong. */
export async function takeAll(
  client: Connection,
  options: Pick<MailboxOptions, 'doneFolder' | 'sizeAtMost'>,
  receiver: Receiver,
  signal: AbortSignal,
  kept: Kept = new Set(),
): Promise<string | null> {
  let problem: string | null = null;
  const found = await client.search({ deleted: false }, { uid: true });
  if (found === undefined || found === false) return 'the mailbox cannot be searched';
  const nameOf = (uid: number) => `${client.mailbox === false ? '' : client.mailbox.uidValidity} ${uid}`;
  const there = new Set(found.map(nameOf));
  for (const name of kept) if (!there.has(name)) kept.delete(name);
  for (const uid of found.toSorted((one, other) => one - other)) {
    if (signal.aborted) break;
    try {
      if (!kept.has(nameOf(uid)) && !(await takeOne(client, uid, options, receiver))) continue;
      kept.add(nameOf(uid));
      await moveAway(client, uid, options);
      kept.delete(nameOf(uid));
    } catch (error) {
      if (!client.usable) throw error;
      problem = `a mail could not be taken: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return problem;
}

/** Whether it was there to be taken. */
async function takeOne(
  client: Connection,
  uid: number,
  { sizeAtMost = mailSizeAtMost }: Pick<MailboxOptions, 'sizeAtMost'>,
  receiver: Receiver,
): Promise<boolean> {
  const known = await client.fetchOne(String(uid), { size: true }, { uid: true });
  if (known === false) return false; // somebody else took it away
  const isCut = (known.size ?? 0) > sizeAtMost;
  const content = isCut ? await headOf(client, uid) : await wholeOf(client, uid);
  if (content === null) return false;
  try {
    await receiver.take({ content, isCut, returnPath: null, recipients: [], client: null });
  } catch (error) {
    content.destroy();
    throw error;
  }
  return true;
}

async function moveAway(
  client: Connection,
  uid: number,
  { doneFolder }: Pick<MailboxOptions, 'doneFolder'>,
): Promise<void> {
  const moved = await client.messageMove(String(uid), doneFolder, { uid: true });
  if (!moved) throw new Error(`it was kept, and cannot be moved to ${doneFolder}`);
}

async function headOf(client: Connection, uid: number): Promise<Readable | null> {
  const head = await client.fetchOne(String(uid), { headers: true }, { uid: true });
  return head === false || head.headers === undefined ? null : Readable.from([head.headers]);
}

async function wholeOf(client: Connection, uid: number): Promise<Readable | null> {
  const { content } = await client.download(String(uid), undefined, { uid: true });
  return content ?? null;
}

async function open({ url, ca, timeoutMs = 30_000 }: MailboxOptions): Promise<ImapFlow> {
  // Not at the top: a start without a mailbox need not read it.
  const { ImapFlow } = await import('imapflow');
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === 'imaps:';
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host);
  return new ImapFlow({
    ...{ host, port: Number(port) || (secure ? 993 : 143), secure },
    // A password does not go over a network in the open.
    ...(secure || isHere ? {} : { doSTARTTLS: true }),
    auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: 5 * 60_000 },
    // Some servers say nothing any more after half an hour of IDLE.
    ...{ maxIdleTime: 4 * 60_000, logger: false },
    // By itself it would wait a quarter of a minute before it listens.
    autoIdleDelay: 200,
    ...(ca === undefined ? {} : { tls: { ca } }),
  });
}

function folderOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1)) || 'INBOX';
}

/** In words without the password. */
function sayWhy(error: unknown, url: string): string {
  const { host } = new URL(url);
  const {
    message = String(error),
    responseText,
    authenticationFailed,
  } = error as Error & {
    responseText?: string;
    authenticationFailed?: boolean;
  };
  const why = authenticationFailed === true ? 'it does not let us in' : (responseText ?? message);
  return `${host}: ${why}`.slice(0, 300);
}
