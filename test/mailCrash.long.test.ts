/** A process that dies between reading a mail and marking it: the mail is in its ticket once. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Child, startChild } from './child.ts';
import { apiClient } from './client.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { type Dovecot, startDovecot, withoutMailServers } from './mailServers.ts';
import { rawMail } from './mailsIn.ts';
import { until } from './product.ts';
import { headersOf, type MailServer, mailServer } from './smtp.ts';
import { sql } from './sql.ts';

describe.skipIf(withoutMailServers !== null)('a process that dies while a mail comes in', () => {
  let database: TestDatabase;
  let mails: MailServer;
  let dovecot: Dovecot;
  let dir: string;
  let point: string;
  let child: Child;
  beforeAll(async () => {
    [database, mails, dovecot] = [await testDatabase(), await mailServer(), await startDovecot()];
    dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-mail-crash-'));
    point = path.join(dir, 'crash-at');
    writeFileSync(point, 'nowhere');
    child = await start();
  });
  afterAll(async () => {
    await child?.end('SIGTERM');
    await dovecot?.close();
    await mails?.close();
    await database?.drop();
    await removeDataDir(dir);
  });

  const start = () =>
    startChild(dir, {
      ...{ DATABASE_URL: database.url, HYPERVISOR: 'simulator', SMTP_URL: mails.url, LOG_LEVEL: 'warn' },
      ...{ MAIL_IN: 'imap', MAIL_IN_ADDRESS: 'answers@in.inn.example', MAIL_IN_AUTHSERV: 'mx.inn.example' },
      ...{ MAIL_IN_URL: dovecot.urlOf('answers@in.inn.example'), INNKEEPER_CRASH_AT: `@${point}` },
    });
  const customer = () => {
    const { api_key: token, organization_id: organizationId } = child.demo.customer;
    return apiClient(`${child.url}/api`, { token, organizationId });
  };
  async function within<T>(work: (client: ImapFlow) => Promise<T>): Promise<T> {
    const client = new ImapFlow({
      ...{ host: '127.0.0.1', port: dovecot.imapPort, secure: false, logger: false },
      auth: { user: 'answers@in.inn.example', pass: 'secret' },
    });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.logout();
    }
  }
  const countIn = (folder: string) =>
    within(async (client) => {
      const status = await client.status(folder, { messages: true });
      return status === false ? 0 : (status.messages ?? 0);
    });

  it('takes it once, at whichever moment the process died', async () => {
    const opening = { subject: 'Crash', department: 'support', priority: 'low', message: 'Hello.' };
    const { tid } = (await customer().post('/dashboard/tickets/create', opening)).body.data.ticket;
    const staff = apiClient(`${child.url}/api`, { token: child.demo.staff.api_key });
    await staff.post(`/staff/tickets/${tid}/replies`, { message: 'Yes?' });
    const told = await until(
      async () => mails.mails.find(({ text }) => text.includes('Reply-To')),
      (mail) => mail !== undefined,
    );
    const [from = '', to = ''] = [told?.to[0], headersOf(told?.text ?? '')['reply-to']];
    const points = [
      'tickets.keepMail: before commit',
      'tickets.keepMail: after commit',
      'tickets.readMail/read: before do',
      'tickets.readMail/read: after do',
      'tickets.readMail/read: recorded',
      'tickets.readMail/decide: after do',
    ];
    const headers = {
      'Authentication-Results': `mx.inn.example; dmarc=pass header.from=${from.split('@')[1]}`,
    };
    for (const [nth, at] of points.entries()) {
      writeFileSync(point, at);
      const raw = rawMail({ from, to, headers, text: `Number ${nth}` });
      await within((client) => client.append('INBOX', Buffer.from(raw)));
      await child.gone;
      writeFileSync(point, 'nowhere');
      child = await start();
      const replies = async () =>
        (await customer().get(`/dashboard/tickets/${tid}`)).body.data.ticket.replies.map(
          ({ message }: { message: string }) => message,
        ) as string[];
      await until(replies, (all) => all.includes(`Number ${nth}`), 60_000);
      await until(
        () => countIn('INBOX'),
        (left) => left === 0,
      );
    }
    const { body } = await customer().get(`/dashboard/tickets/${tid}`);
    const messages = body.data.ticket.replies.map(({ message }: { message: string }) => message);
    expect(messages).toEqual(['Hello.', 'Yes?', ...points.map((_, nth) => `Number ${nth}`)]);
    expect(await countIn('Innkeeper')).toBe(points.length);
    const rows = await sql<{ state: string }>(
      { databaseUrl: database.url },
      'select state from ticket_mails',
    );
    expect(rows.map(({ state }) => state)).toEqual(points.map(() => 'reply'));
  }, 900_000);
});
