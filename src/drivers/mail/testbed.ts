import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import type { Arrived, MailWorld, Treatment } from './conformance.ts';

/** A real mail server on loopback that does as it is told. */
export interface MailServerBed extends MailWorld {
  port: number;
  /** Whether each mail so far came over TLS. */
  encrypted: boolean[];
  close(): Promise<void>;
}

export interface Certificate {
  key: string;
  cert: string;
}

export interface BedOptions {
  /** Its own certificate. Without one it offers no TLS. */
  tls?: Certificate;
  /** TLS from the first byte instead of STARTTLS. */
  secure?: boolean;
  /** Who may send; anybody without. */
  account?: { user: string; pass: string };
}

export async function startMailServer(options: BedOptions = {}): Promise<MailServerBed> {
  const { tls, account } = options;
  let treatment: Treatment = 'takes';
  let mails: Arrived[] = [];
  const encrypted: boolean[] = [];
  const sockets = new Set<Socket>();
  const server = new SMTPServer({
    authOptional: account === undefined,
    allowInsecureAuth: true,
    disabledCommands: [...(tls ? [] : ['STARTTLS']), ...(account ? [] : ['AUTH'])],
    secure: options.secure ?? false,
    closeTimeout: 100,
    ...tls,
    onAuth({ username, password }, _session, done) {
      if (username === account?.user && password === account?.pass) return done(null, { user: username });
      done(new Error('wrong name or password'));
    },
    onRcptTo(_address, _session, done) {
      if (treatment === 'refuses') return done(reply(550, 'no such mailbox'));
      if (treatment === 'refuses us') return done(reply(554, '5.7.1 relay access denied'));
      if (treatment === 'defers') return done(reply(451, 'greylisted, come again'));
      done();
    },
    onData(stream, session, done) {
      text(stream).then(async (source) => {
        if (treatment === 'refuses the text') return done(reply(554, 'looks like spam'));
        const { mailFrom, rcptTo } = session.envelope;
        const returnPath = mailFrom === false ? '' : mailFrom.address;
        mails.push({ to: rcptTo.map((each) => each.address), returnPath, ...(await parse(source)) });
        encrypted.push(session.secure);
        if (treatment === 'says nothing') return;
        if (treatment === 'breaks off') for (const socket of sockets) socket.destroy();
        else done();
      }, done);
    },
  });
  server.on('error', () => undefined); // connections that break off
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    port: (server.server.address() as AddressInfo).port,
    encrypted,
    arrived: () => mails,
    treat: (as) => {
      treatment = as;
    },
    forget: () => {
      mails = [];
      encrypted.length = 0;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** A mail as its reader's program has it. */
async function parse(source: string): Promise<Pick<Arrived, 'headers' | 'text' | 'html'>> {
  const { headerLines, text: plain = '', html } = await simpleParser(source);
  const headers = headerLines.map(({ key, line }) => {
    const value = line.slice(line.indexOf(':') + 1).replaceAll(/\r?\n[ \t]+/g, ' ');
    return [key, decodeWords(value.trim())];
  });
  return { headers: Object.fromEntries(headers), text: plain, html: html || null };
}

function decodeWords(value: string): string {
  return value
    .replaceAll(/\?= =\?/g, '?==?')
    .replaceAll(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(word, 'base64').toString()
        : decodeQuoted(word.replaceAll('_', ' ')),
    );
}

function decodeQuoted(quoted: string): string {
  const bytes = quoted.replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString();
}

/** A certificate that this host signed for itself; `null` when there is no openssl to make one. */
export function selfSigned(name = 'localhost'): Certificate | null {
  const dir = mkdtempSync(join(tmpdir(), 'innkeeper-tls-'));
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const made = ['-keyout', key, '-out', cert, '-days', '2', '-subj', `/CN=${name}`];
  const alternative = ['-addext', `subjectAltName=DNS:${name},IP:127.0.0.1`];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  try {
    execFileSync('openssl', ['req', '-x509', ...kind, ...made, ...alternative], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } catch {
    return null;
  } finally {
    rmSync(dir, { recursive: true });
  }
}
