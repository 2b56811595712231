import { ImapFlow } from 'imapflow';
import { simpleParser } from 'mailparser';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Dovecot,
  freePort,
  type Postfix,
  startDovecot,
  startPostfix,
  withoutMailServers,
} from './mailServers.ts';
import { rawMail } from './mailsIn.ts';
import { newCustomer, type Person } from './people.ts';
import { startTestProduct, type TestProduct, until } from './product.ts';
import { sql } from './sql.ts';

const patience = { timeout: 60_000, interval: 200 };

for (const engine of ['lmtp', 'imap'] as const) {
  describe.skipIf(withoutMailServers !== null)(`tickets by Postfix and Dovecot, MAIL_IN=${engine}`, () => {
    let dovecot: Dovecot;
    let postfix: Postfix;
    let product: TestProduct;
    let ana: Person;
    beforeAll(async () => {
      dovecot = await startDovecot();
      const [port, boxes] = [await freePort(), `lmtp:inet:127.0.0.1:${dovecot.lmtpPort}`];
      const ours = engine === 'lmtp' ? `lmtp:inet:127.0.0.1:${port}` : boxes;
      postfix = await startPostfix({ transport: { 'example.com': boxes, 'in.inn.example': ours } });
      product = await startTestProduct({
        env: {
          ...{ SMTP_URL: `smtp://127.0.0.1:${postfix.smtpPort}`, PUBLIC_URL: 'https://inn.example' },
          ...{ MAIL_FROM: 'Inn <hello@inn.example>', MAIL_IN: engine, MAIL_IN_PORT: String(port) },
          ...{ MAIL_IN_URL: dovecot.urlOf('answers@in.inn.example'), MAIL_IN_AUTHSERV: 'mx.inn.example' },
          MAIL_IN_ADDRESS: 'answers@in.inn.example',
        },
      });
      ana = await newCustomer(product, { firstName: 'Ana' });
    });
    afterAll(async () => {
      await product?.stop();
      await postfix?.close();
      await dovecot?.close();
    });

    /** What lies in somebody's mailbox, as their program shows it. */
    async function boxOf(address: string) {
      const { hostname: host, port, username, password: pass } = new URL(dovecot.urlOf(address));
      const auth = { user: decodeURIComponent(username), pass };
      const client = new ImapFlow({ host, port: Number(port), secure: false, auth, logger: false });
      await client.connect();
      try {
        await client.mailboxOpen('INBOX');
        const mails = [];
        for await (const { source } of client.fetch('1:*', { source: true }))
          mails.push(await simpleParser(source ?? ''));
        return mails;
      } finally {
        await client.logout();
      }
    }
    const arrived = (words: string) =>
      until(
        () => boxOf(ana.email),
        (mails) => mails.some(({ text = '' }) => text.includes(words)),
        60_000,
      ).then((mails) => mails.findLast(({ text = '' }) => text.includes(words)));

    async function write(
      to: string,
      text: string,
      options: { from?: string; headers?: Record<string, string> } = {},
    ) {
      const { from = ana.email, headers = {} } = options;
      const transport = createTransport({ host: '127.0.0.1', port: postfix.smtpPort, ignoreTLS: true });
      const sender = /@elsewhere/.test(from) ? from : ana.email;
      await transport.sendMail({
        envelope: { from: headers.Sender ?? sender, to },
        raw: rawMail({ from, to, text, headers }),
      });
      transport.close();
    }
    const unclaimed = async () =>
      (await product.staff.get('/staff/unclaimed-mails')).body.data.mails as {
        id: number;
        reason: string;
        proved_user_id: number | null;
      }[];
    const read = async (tid: string) => (await ana.get(`/dashboard/tickets/${tid}`)).body.data.ticket;
    const repliesOf = async (tid: string) =>
      (await read(tid)).replies.map(({ message }: { message: string }) => message) as string[];

    it('from her first mail to the answer, and to whether it helped', async () => {
      await write('answers@in.inn.example', 'My server does not answer.');
      const [mail] = await until(unclaimed, ({ length }) => length > 0, 60_000);
      expect(mail).toMatchObject({ reason: 'no_ticket', proved_user_id: ana.userId });
      const opening = { department: 'support', priority: 'high', subject: 'No answer' };
      const opened = await product.staff.post(`/staff/unclaimed-mails/${mail?.id}/open`, {
        ...{ organization_id: ana.organizationId, ...opening },
      });
      expect(opened.status, JSON.stringify(opened.body)).toBe(200);
      const { tid } = opened.body.data.ticket;
      expect(await read(tid)).toMatchObject({ user: { id: ana.userId }, status: 'open' });

      await product.staff.post(`/staff/tickets/${tid}/replies`, { message: 'Look again.' });
      const answer = await arrived('We answered your ticket');
      const to = answer?.replyTo?.value[0]?.address ?? '';
      await write(to, 'It works, thank you!\n\n> Look again.', {
        headers: { 'In-Reply-To': answer?.messageId ?? '' },
      });
      await expect.poll(() => repliesOf(tid), patience).toContain('It works, thank you!');

      await product.staff.patch(`/staff/tickets/${tid}`, { status: 'closed' });
      const closed = await arrived('Did it help?');
      expect(closed?.references).toContain(`<conversation.${tid}@inn.example>`);
      const token = /ticket-feedback\?token=([\w-]+)/.exec(closed?.text ?? '')?.[1];
      expect((await product.nobody.post('/tickets/feedback', { token, helped: true })).status).toBe(200);
      const seen = await product.staff.get(`/staff/tickets/${tid}`);
      expect(seen.body.data.ticket).toMatchObject({ helped: true, status: 'closed' });
      expect(await unclaimed()).toEqual([]);
    });

    it('believes the topmost result of its own server alone', async () => {
      const { tid } = (
        await ana.post('/dashboard/tickets/create', {
          ...{ subject: 'Forged', department: 'support', priority: 'low', message: 'Mine.' },
        })
      ).body.data.ticket;
      await product.staff.post(`/staff/tickets/${tid}/replies`, { message: 'Yours.' });
      const mail = await until(
        () => boxOf(ana.email),
        (mails) => mails.some(({ subject = '' }) => subject.includes(tid)),
        60_000,
      );
      const to = mail.findLast(({ subject = '' }) => subject.includes(tid))?.replyTo?.value[0]?.address ?? '';
      const results = 'mx.inn.example; dmarc=pass header.from=example.com';
      // As from her, by a stranger's server, with a result of the stranger's own.
      await write(to, 'Not mine.', {
        headers: { Sender: 'evil@elsewhere.example', 'Authentication-Results': results },
      });
      await expect
        .poll(async () => (await unclaimed()).map(({ reason }) => reason), patience)
        .toEqual(['sender_not_proved']);
      expect(await repliesOf(tid)).toEqual(['Mine.', 'Yours.']);
    });

    it('with the mail servers away for ten minutes nothing is lost, nothing comes twice, and staff is told', async () => {
      const { tid } = (
        await ana.post('/dashboard/tickets/create', {
          ...{ subject: 'Away', department: 'support', priority: 'low', message: 'Are you there?' },
        })
      ).body.data.ticket;
      await product.staff.post(`/staff/tickets/${tid}/replies`, { message: 'Yes.' });
      const found = await until(
        () => boxOf(ana.email),
        (mails) => mails.some(({ subject = '' }) => subject.includes(tid)),
        60_000,
      );
      const to =
        found.findLast(({ subject = '' }) => subject.includes(tid))?.replyTo?.value[0]?.address ?? '';
      // Hers is on its way while its mailbox is away.
      await dovecot.stop();
      await write(to, 'Before the outage.');
      await postfix.stop();
      await product.staff.post(`/staff/tickets/${tid}/replies`, { message: 'Written meanwhile.' });
      // Whoever fetches notices within seconds.
      if (engine === 'imap')
        await until(
          () => sql(product, 'select 1 from ticket_mail_source where failing_since is not null'),
          ({ length }) => length > 0,
          90_000,
        );
      product.clock.travel(10 * 60_000);
      if (engine === 'imap')
        await expect
          .poll(async () => JSON.stringify((await product.staff.get('/staff/attention')).body), patience)
          .toContain('ticket_mail.none_come');
      await dovecot.start();
      await postfix.start();
      const mailsOf = async () =>
        (await boxOf(ana.email)).filter(({ subject = '' }) => subject.includes(tid)).length;
      await until(
        async () => {
          // What was tried in vain is tried again, after a while that passes quickly here.
          product.clock.travel(10 * 60_000);
          return [await mailsOf(), (await repliesOf(tid)).includes('Before the outage.')];
        },
        ([mails, isIn]) => mails === 2 && isIn === true,
        90_000,
      );
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      expect(await mailsOf()).toBe(2);
      expect(await repliesOf(tid)).toEqual(
        expect.arrayContaining(['Are you there?', 'Yes.', 'Written meanwhile.', 'Before the outage.']),
      );
      expect((await repliesOf(tid)).length).toBe(4);
      if (engine === 'imap')
        await expect
          .poll(async () => JSON.stringify((await product.staff.get('/staff/attention')).body), patience)
          .not.toContain('ticket_mail.none_come');
    });
  });
}
