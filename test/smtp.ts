import type { AddressInfo } from 'node:net';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';

export interface Received {
  from: string;
  to: string[];
  /** Head and body as they came over the wire. */
  text: string;
  /** What of it is text and HTML, as its reader's program has it. */
  plain: string;
  html: string;
}

/** A mail server that keeps what it takes, and refuses when it is told to. */
export interface MailServer {
  url: string;
  mails: Received[];
  /** Mails it turned away. */
  refused: number;
  /** Reply code to every recipient from now on, such as 451; null takes everything. */
  refuseWith(code: number | null): void;
  close(): Promise<void>;
}

export async function mailServer(): Promise<MailServer> {
  let code: number | null = null;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo(_address, _session, callback) {
      if (code === null) return callback();
      made.refused += 1;
      callback(Object.assign(new Error('not now'), { responseCode: code }));
    },
    onData(stream, session, callback) {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', async () => {
        const { mailFrom, rcptTo } = session.envelope;
        const { text: plain = '', html } = await simpleParser(Buffer.concat(parts));
        made.mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map((recipient) => recipient.address),
          text: Buffer.concat(parts).toString(),
          ...{ plain, html: html || '' },
        });
        callback();
      });
    },
  });
  server.on('error', () => undefined); // a client that dies in the middle
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  const made: MailServer = {
    url: `smtp://127.0.0.1:${port}`,
    mails: [],
    refused: 0,
    refuseWith: (next) => {
      code = next;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return made;
}

/** Header fields of a mail, unfolded, by lower-case name. */
export function headersOf(text: string): Record<string, string> {
  const head = text.slice(0, text.indexOf('\r\n\r\n')).replaceAll(/\r\n[ \t]+/g, ' ');
  return Object.fromEntries(
    head.split('\r\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}
