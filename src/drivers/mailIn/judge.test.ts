import { generateKeyPairSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { createTransport } from 'nodemailer';
import { describe, expect, it } from 'vitest';
import { judgeMail } from './judge.ts';
import { judgeApart } from './judgeApart.ts';

const pair = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

const namesOfAll: Record<string, string> = {
  'key._domainkey.signed.example TXT': `v=DKIM1; k=rsa; p=${pair.publicKey.toString('base64')}`,
  '_dmarc.signed.example TXT': 'v=DMARC1; p=reject',
  '_dmarc.strict.example TXT': 'v=DMARC1; p=reject; aspf=s',
  'mail.strict.example TXT': 'v=spf1 ip4:192.0.2.7 -all',
  'strict.example TXT': 'v=spf1 ip4:192.0.2.8 -all',
  'plain.example TXT': 'v=spf1 ip4:192.0.2.7 -all',
  'bounces.plain.example TXT': 'v=spf1 ip4:192.0.2.7 -all',
  'evil.example TXT': 'v=spf1 ip4:192.0.2.7 -all',
};
const resolve = async (name: string, type: string): Promise<string[][]> => {
  if (name.includes('away.example')) throw Object.assign(new Error('timeout'), { code: 'ETIMEOUT' });
  const found = namesOfAll[`${name} ${type}`];
  if (found === undefined) throw Object.assign(new Error('none'), { code: 'ENOTFOUND' });
  return [[found]];
};

const judge = (raw: string | Buffer, returnPath = 'x@evil.example', ip = '192.0.2.7') =>
  judgeMail(
    { content: Readable.from([Buffer.from(raw)]), returnPath, client: { ip, name: 'mail.example' } },
    resolve,
  );
const mail = (from: string) => `From: ${from}\r\nTo: a@in.inn.example\r\nSubject: x\r\n\r\nHello.\r\n`;

async function signed(from: string, domainName = 'signed.example'): Promise<string> {
  const transport = createTransport({
    ...{ streamTransport: true, buffer: true, newline: 'windows' },
    dkim: { domainName, keySelector: 'key', privateKey: pair.privateKey },
  });
  const { message } = await transport.sendMail({
    ...{ from, to: 'a@in.inn.example', subject: 'x', text: 'Hello.' },
  });
  return message.toString();
}

describe('a sender', () => {
  it('is proved by a signature of their domain, whoever carries the mail', async () => {
    const raw = await signed('ana@signed.example');
    expect(await judge(raw)).toEqual({ proved: true, domain: 'signed.example' });
    expect(await judge(`Received: from x by y\r\n${raw}`)).toMatchObject({ proved: true });
  });

  it('is not by one of another domain, nor of a mail that was changed', async () => {
    const raw = await signed('ana@signed.example');
    for (const other of [
      raw.replace('Hello.', 'Pay me.'),
      raw.replace('ana@signed.example', 'ben@signed.example'),
      `From: boss@signed.example\r\n${raw}`,
      raw.replace('From: ana@signed.example', 'From: ana@plain.example'),
      await signed('ana@plain.example'),
    ])
      expect(await judge(other)).toMatchObject({ proved: false });
  });

  it('is proved by a server that their domain names, as exactly as the domain wants it', async () => {
    expect(await judge(mail('ana@plain.example'), 'ana@plain.example')).toMatchObject({ proved: true });
    expect(await judge(mail('ana@plain.example'), 'x@bounces.plain.example')).toMatchObject({ proved: true });
    for (const [from, returnPath, ip] of [
      ['ana@plain.example', 'ana@plain.example', '192.0.2.9'],
      ['ana@plain.example', 'x@evil.example', '192.0.2.7'],
      ['ana@bounces.plain.example', 'ana@plain.example', '192.0.2.7'],
      ['ana@strict.example', 'x@mail.strict.example', '192.0.2.7'],
      ['ana@nothing.example', 'ana@nothing.example', '192.0.2.7'],
    ])
      expect(await judge(mail(from ?? ''), returnPath, ip), from).toMatchObject({ proved: false });
  });

  it('is proved by signatures alone where a server of ours brings it', async () => {
    const bySignature = (raw: string) =>
      judgeMail(
        {
          content: Readable.from([Buffer.from(raw)]),
          ...{ returnPath: 'ana@plain.example', client: { ip: '192.0.2.7', name: 'mail.example' } },
        },
        resolve,
        false,
      );
    expect(await bySignature(mail('ana@plain.example'))).toMatchObject({ proved: false });
    expect(await bySignature(await signed('ana@signed.example'))).toMatchObject({ proved: true });
  });

  it('is nobody where a mail is from two, or from none', async () => {
    for (const raw of [
      mail('a@plain.example, b@plain.example'),
      mail('a@plain.example\r\nFrom: b@plain.example'),
      'Subject: x\r\n\r\nx\r\n',
    ])
      expect(await judge(raw, 'a@plain.example')).toMatchObject({ proved: false });
  });

  it('is nobody in a mail that takes long to look at, whose judging keeps nothing waiting', async () => {
    const raw = await signed('ana@signed.example');
    const signature = raw.slice(0, raw.indexOf('From:'));
    expect(signature).toMatch(/^DKIM-Signature:/);
    expect(await judge(`${signature.repeat(5)}${raw}`)).toMatchObject({ why: 'it has too many signatures' });
    const line = ' x'.repeat(3 * 1_024 * 1_024);
    const began = performance.now();
    expect(await judge(raw.replace('Hello.', line))).toMatchObject({
      ...{ proved: false, why: 'it has a line that is too long' },
    });
    expect(performance.now() - began).toBeLessThan(1_000);
  });

  it('is judged in a process of its own', async () => {
    const names = Object.fromEntries(Object.entries(namesOfAll).map(([name, text]) => [name, [[text]]]));
    const apart = (raw: string) =>
      judgeApart(
        {
          content: Readable.from([Buffer.from(raw)]),
          ...{ returnPath: 'x@evil.example', client: { ip: '192.0.2.7', name: 'mail.example' } },
        },
        { names },
      );
    const raw = await signed('ana@signed.example');
    expect(await apart(raw)).toEqual({ proved: true, domain: 'signed.example' });
    expect(await apart(raw.replace('Hello.', 'Pay me.'))).toMatchObject({ proved: false });
  });

  it('is asked for again when the names cannot be looked up for now', async () => {
    await expect(judge(mail('ana@away.example'), 'ana@away.example')).rejects.toThrow('cannot be looked up');
  });
});
