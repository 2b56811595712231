import { describe, expect, it } from 'vitest';
import { foldQuoted } from './quoted.ts';
import { readMail } from './readMail.ts';
import { provedBy } from './trusted.ts';

const read = (head: string[], body: string) =>
  readMail(async () => Buffer.from([...head, '', body].join('\r\n'), 'latin1'));
const plain = ['From: ana@example.com', 'To: a@in.inn.example', 'Subject: x'];

/** How long it takes, in ms. */
async function timed<T>(work: () => Promise<T> | T): Promise<[T, number]> {
  const began = performance.now();
  const result = await work();
  return [result, performance.now() - began];
}

describe('a mail that is made to do harm', () => {
  it.each([
    [
      '100,000 parts',
      `${'--b\r\nContent-Type: text/plain\r\n\r\nx\r\n'.repeat(100_000)}--b--`,
      'multipart/mixed; boundary=b',
    ],
    [
      'parts in parts, 20,000 deep',
      Array.from(
        { length: 20_000 },
        (_, n) => `--b${n}\r\nContent-Type: multipart/mixed; boundary=b${n + 1}\r\n\r\n`,
      ).join(''),
      'multipart/mixed; boundary=b0',
    ],
    ['mails in mails, 20,000 deep', 'Content-Type: message/rfc822\r\n\r\n'.repeat(20_000), 'message/rfc822'],
    ['HTML in HTML, 200,000 deep', '<div>'.repeat(200_000), 'text/html'],
    ['quotes in quotes, 50,000 deep', '<blockquote>'.repeat(50_000), 'text/html'],
    ['a table of tables', '<table><tr><td>'.repeat(30_000), 'text/html'],
    ['25 MiB of one line', 'x'.repeat(25 * 1_024 * 1_024), 'text/plain'],
    ['25 MiB of line ends', '\r\n'.repeat(12 * 1_024 * 1_024), 'text/plain'],
    ['a text that looks almost like a quote', `On ${'wrote '.repeat(40_000)}`, 'text/plain'],
    ['lines that look almost like a quote', `${'> \t \t \t'.repeat(20)}x\n`.repeat(20_000), 'text/plain'],
  ])(
    'is read or given up within seconds, and the next one goes on: %s',
    async (_, body, type) => {
      const [, tookMs] = await timed(() => read([...plain, `Content-Type: ${type}`], body));
      expect(tookMs).toBeLessThan(35_000);
      expect(await read(plain, 'The next one.')).toMatchObject({ text: 'The next one.' });
    },
    90_000,
  );

  it('with a head of a megabyte, or of 100,000 lines, is not read', async () => {
    expect(await read([...plain, `X-Long: ${'y'.repeat(1_024 * 1_024)}`], 'x')).toBe(null);
    const lines = Array.from({ length: 100_000 }, (_, nth) => `X-${nth}: y`);
    expect(await read([...plain, ...lines], 'x')).toBe(null);
  });

  it('has one line of subject, name and file name, whatever is hidden in them', async () => {
    const hidden = '=?utf-8?Q?a=0D=0ABcc:_evil=40example.com=E2=80=A8b=00?=';
    const mail = await read(
      [
        'From: =?utf-8?Q?a=0D=0ABcc=E2=80=A8b=00?= <ana@example.com>',
        `Subject: ${hidden}`,
        'Content-Type: multipart/mixed; boundary=b',
      ],
      `--b\r\nContent-Type: text/plain; charset=no-such\r\n\r\nh\xe9llo\0\r\n--b\r\nContent-Type: x/y\r\nContent-Disposition: attachment; filename*=utf-8''a%0D%0Ab%2F..%2Fc\r\n\r\nz\r\n--b--`,
    );
    const texts = [mail?.subject, mail?.from?.name, mail?.attachments[0]?.name, mail?.text];
    for (const text of texts) expect(text).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    expect(mail?.from?.address).toBe('ana@example.com');
    expect(mail?.text).toMatch(/^h.llo$/);
  });

  it.each([
    [['From: a@example.com, b@example.com']],
    [['From: a@example.com', 'From: b@example.com']],
    [['From: friends: a@example.com;']],
    [['From: "a@example.com" <>']],
    [['From: a@example.com\r\n <b@example.com>']],
    [['Subject: nobody']],
  ])('that is not from one address is from nobody: %j', async (head) => {
    const mail = await read(head, 'x');
    expect(mail?.from === null || mail?.from.address === 'b@example.com').toBe(true);
  });

  it('that is no mail at all is not read', async () => {
    for (const raw of ['', '\r\n', '\0\0\0', '\r\n\r\n\r\n'])
      expect(await readMail(async () => Buffer.from(raw))).toSatisfy(
        (mail: { from: unknown } | null) => mail === null || mail.from === null,
      );
  });
});

describe('what a trusted server wrote', () => {
  const line = (text: string) => `Authentication-Results: ${text}`;
  const proved = (text: string, domain = 'example.com') => provedBy(line(text), 'mx.inn.example', domain);

  it.each([
    'mx.inn.example; dmarc=pass header.from=example.com',
    'mx.inn.example 1; spf=fail smtp.mailfrom=x@y.example; dmarc=pass (p=reject) header.from=example.com',
    'MX.inn.example;\r\n\tdkim=pass header.d=example.com header.s=a;\r\n\tdmarc=none header.from=example.com',
    'mx.inn.example; dkim=pass header.i=@example.com; spf=none',
    'mx.inn.example; spf=pass smtp.mailfrom=ana@example.com',
  ])('proves a sender: %s', (text) => {
    expect(proved(text)).toBe(true);
  });

  it.each([
    'evil.example; dmarc=pass header.from=example.com',
    'mx.inn.example.evil.example; dmarc=pass header.from=example.com',
    'mx.inn.example; dmarc=fail header.from=example.com; dkim=pass header.d=example.com',
    'mx.inn.example; dmarc=pass header.from=evil.example',
    'mx.inn.example; dmarc=pass header.from=evil.example; dkim=pass header.d=example.com',
    'mx.inn.example; dkim=pass header.d=example.com.evil.example',
    'mx.inn.example; dkim=fail header.d=example.com',
    'mx.inn.example; spf=pass smtp.helo=example.com',
    'mx.inn.example; spf=softfail smtp.mailfrom=ana@example.com',
    'mx.inn.example; none',
    'mx.inn.example; dmarc=fail (x; dmarc=pass header.from=example.com) header.from=example.com',
    'mx.inn.example; spf=fail smtp.mailfrom="x; dmarc=pass header.from=example.com"@y.example',
    'mx.inn.example; x=fail (unclosed; dmarc=pass header.from=example.com',
    'mx.inn.example (a\\); dmarc=pass header.from=example.com',
    '(mx.inn.example;) evil.example; dmarc=pass header.from=example.com',
    '',
  ])('does not: %s', (text) => {
    expect(proved(text)).toBe(false);
  });
});

describe('what is quoted', () => {
  it.each([
    ['Yes.\n\nOn Mon, 2 Feb 2026 at 10:00, Inn <a@inn.example> wrote:\n\n> Is it?', 'Yes.'],
    ['Ja.\n\nAm 02.02.2026 um 10:00 schrieb Inn:\n> Ist es?', 'Ja.'],
    [
      'Yes.\n\nOn Mon, 2 Feb 2026 at 10:00, Inn Hosting with a long name\n<a@inn.example> wrote:\n> Is it?\n>> Was?',
      'Yes.',
    ],
    ['Yes.\n\n-----Original Message-----\nFrom: Inn\nSent: Monday\n\nIs it?', 'Yes.'],
    ['Ja.\n\nVon: Inn <a@inn.example>\nGesendet: Montag\nAn: Ana\nBetreff: x\n\nIst es?', 'Ja.'],
    ['Yes.\n________________________________\nFrom: Inn', 'Yes.'],
  ])('stands apart, and nothing is lost: %j', (whole, text) => {
    const folded = foldQuoted(whole);
    expect(folded.text).toBe(text);
    expect(`${folded.text}${folded.quoted}`.replaceAll(/\s/g, '')).toBe(whole.replaceAll(/\s/g, ''));
  });

  it.each([
    '> Is it?\nYes.',
    'Yes.\n\nRegards\nAna',
    '> only what came',
    'a > b\n\nand so on',
    'From: here\nto there',
  ])('is nothing where somebody writes between, or below: %j', (whole) => {
    expect(foldQuoted(whole)).toEqual({ text: whole, quoted: null });
  });
});
