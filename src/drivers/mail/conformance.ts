import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Mail, OutgoingMail } from './contract.ts';

/** A mail as it came to the other side. */
export interface Arrived {
  to: string[];
  /** Where the server sends it back to. */
  returnPath: string;
  /** By lower-case name, decoded and on one line. */
  headers: Record<string, string>;
  text: string;
  /** The part that is to be looked at; null without one. */
  html: string | null;
}

/** How the other side treats whatever it is given from now on. `breaks off`: after the whole mail, before its answer. */
export type Treatment =
  | 'takes'
  | 'refuses'
  | 'refuses us'
  | 'refuses the text'
  | 'defers'
  | 'says nothing'
  | 'breaks off';

/** The other side of an engine that claims `delivery`. */
export interface MailWorld {
  arrived(): Arrived[];
  treat(as: Treatment): void;
  forget(): void;
}

export interface MailUnderTest {
  mail: Mail;
  /** Null where mails go nowhere. */
  world: MailWorld | null;
  close(): Promise<void>;
}

const plain: OutgoingMail = {
  messageId: '<1.invoice.created@inn.example>',
  from: 'Innkeeper <billing@inn.example>',
  to: 'ada@example.com',
  subject: 'Your order: invoice 1',
  text: 'Hello Ada,\n\nTo pay: 3.00 €\n.\n.. a dot alone ends nothing\n',
};

/** What every driver must do; `skip` is the reason why this host cannot run the suite, or null. */
export function describeMail(
  name: string,
  make: () => Promise<MailUnderTest>,
  skip: string | null = null,
): void {
  describe.skipIf(skip !== null)(`${name} keeps the mail contract`, () => {
    let test: MailUnderTest;
    beforeAll(async () => {
      test = await make();
    });
    beforeEach(() => {
      test.world?.treat('takes');
      test.world?.forget();
    });
    afterAll(() => test?.close());

    const send = (change: Partial<OutgoingMail> = {}) => test.mail.send({ ...plain, ...change });
    const fails = (code: string, permanent: boolean) => expect.objectContaining({ code, permanent });
    const recipients = () => test.world?.arrived().map((mail) => mail.to);

    it('delivers if and only if it claims to', () => {
      expect(test.mail.capabilities.includes('delivery')).toBe(test.world !== null);
    });

    it('takes a mail as often as it is asked, with the same Message-ID each time', async () => {
      await send();
      await send();
      const ids = test.world?.arrived().map((mail) => mail.headers['message-id']);
      if (test.world) expect(ids).toEqual([plain.messageId, plain.messageId]);
    });

    it('carries many at once, each to its own', async () => {
      const all = Array.from({ length: 20 }, (_, nth) => `n${nth}@example.com`);
      await Promise.all(all.map((to) => send({ to })));
      if (test.world) expect(recipients()?.flat().sort()).toEqual(all.sort());
    });

    it('changes no word of it', async () => {
      await send({ subject: 'Überweisung für Grüße: 3 €' });
      const [mail] = test.world?.arrived() ?? [];
      if (!test.world) return;
      expect(mail?.headers).toMatchObject({
        from: plain.from,
        to: plain.to,
        subject: 'Überweisung für Grüße: 3 €',
      });
      expect(mail?.text).toBe(plain.text);
    });

    it('carries text and HTML as two faces of one mail, and header fields in full', async () => {
      const html = '<p>Grüße, <b>Ada</b></p>\n<p>.</p>\n';
      const url = `<https://inn.example/api/unsubscribe?token=${'a1B2'.repeat(40)}>`;
      await send({ html, headers: { 'Auto-Submitted': 'auto-generated', 'List-Unsubscribe': url } });
      const [mail] = test.world?.arrived() ?? [];
      if (!test.world) return;
      expect(mail?.headers['content-type']).toMatch(/^multipart\/alternative/);
      expect(mail?.html?.replaceAll('\r\n', '\n')).toBe(html);
      expect(mail?.text.trim()).toBe(plain.text.trim());
      expect(mail?.headers).toMatchObject({ 'auto-submitted': 'auto-generated', 'list-unsubscribe': url });
    });

    it('brings along what its HTML shows, so that nothing is fetched for it', async () => {
      const content = Buffer.from('89504e470d0a1a0a', 'hex');
      await send({
        html: '<p><img src="cid:logo" alt="Innkeeper"></p>',
        pictures: [{ cid: 'logo', type: 'image/png', content }],
      });
      const [mail] = test.world?.arrived() ?? [];
      if (!test.world) return;
      expect(mail?.headers['content-type']).toMatch(/^multipart\/alternative/);
      // The reader's program puts it where the HTML names it.
      expect(mail?.html).toContain(`src="data:image/png;base64,${content.toString('base64')}"`);
      expect(mail?.text.trim()).toBe(plain.text.trim());
    });

    it('says where answers go, where it comes back to, and what it belongs to', async () => {
      const references = ['<root@inn.example>', '<theirs@mail.example>'];
      await send({
        ...{ replyTo: 'answers+a1b2@in.inn.example', returnPath: 'answers@in.inn.example' },
        ...{ inReplyTo: '<theirs@mail.example>', references },
      });
      const [mail] = test.world?.arrived() ?? [];
      if (!test.world) return;
      expect(mail?.returnPath).toBe('answers@in.inn.example');
      expect(mail?.to).toEqual([plain.to]);
      expect(mail?.headers).toMatchObject({
        ...{ from: plain.from, 'reply-to': 'answers+a1b2@in.inn.example' },
        ...{ 'in-reply-to': '<theirs@mail.example>', references: references.join(' ') },
      });
      await send();
      expect(test.world.arrived()[1]).toMatchObject({ returnPath: 'billing@inn.example' });
      expect(test.world.arrived()[1]?.headers).not.toHaveProperty('reply-to');
    });

    it('refuses a header field of several lines', async () => {
      const headers = { 'List-Unsubscribe': '<https://x.example>\r\nBcc: evil@example.com' };
      await expect(send({ headers })).rejects.toEqual(fails('mail_invalid', true));
      if (test.world) expect(recipients()).toEqual([]);
    });

    it.each([
      "o'brien+tag@example.com",
      'a!#$%&*/=?^_`{|}~@example.com',
      'a.b-c_d@sub.example.com',
      'ada@münchen.example',
    ])('reaches one with odd characters: %s', async (to) => {
      await send({ to });
      const [mail] = test.world?.arrived() ?? [];
      if (test.world) expect(mail?.to).toEqual([to]);
    });

    it.each([
      ['to', ''],
      ['to', 'nobody'],
      ['to', 'a@example.com, evil@example.com'],
      ['to', 'a@example.com;evil@example.com'],
      ['to', '"x" <evil@example.com>'],
      ['to', 'a@example.com\r\nBcc: evil@example.com'],
      ['to', `${'a'.repeat(250)}@example.com`],
      ['subject', 'Hello\r\nBcc: evil@example.com'],
      ['subject', 'Hello\nBcc: evil@example.com'],
      ['from', 'Inn <a@inn.example>\r\nBcc: evil@example.com'],
      ['messageId', '<1@inn.example>\r\nBcc: evil@example.com'],
      ['replyTo', 'a@example.com, evil@example.com'],
      ['returnPath', 'a@example.com\r\nRCPT TO:<evil@example.com>'],
      ['inReplyTo', '<1@x.example>\r\nBcc: evil@example.com'],
      ['references', ['<1@x.example>\r\nBcc: evil@example.com']],
    ])('refuses for good what would reach somebody else: %s %j', async (field, value) => {
      await expect(send({ [field]: value })).rejects.toEqual(fails('mail_invalid', true));
      if (test.world) expect(recipients()).toEqual([]);
    });

    it('cannot be led astray by the text', async () => {
      await send({
        text: 'x\r\n.\r\nMAIL FROM:<x@y.example>\r\nRCPT TO:<evil@example.com>\r\nBcc: e@x.example',
      });
      if (test.world) expect(recipients()).toEqual([[plain.to]]);
    });

    it.each([
      ['refuses', 'address_refused', true],
      ['refuses us', 'mail_refused', true],
      ['refuses the text', 'mail_refused', true],
      ['defers', 'mail_refused', false],
      ['says nothing', 'mail_unreachable', false],
      ['breaks off', 'mail_unreachable', false],
    ] as const)('says what can be done when the other side %s', async (treatment, code, permanent) => {
      if (!test.world) return;
      test.world.treat(treatment);
      await expect(send()).rejects.toEqual(fails(code, permanent));
      if (treatment === 'breaks off') expect(recipients()).toHaveLength(1); // one call is one try
      test.world.treat('takes');
      test.world.forget();
      await send();
      expect(recipients()).toEqual([[plain.to]]);
    });
  });
}
