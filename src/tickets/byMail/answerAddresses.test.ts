import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, newMember } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { headersOf, type MailServer, mailServer } from '../../../test/smtp.ts';
import { settled } from '../../../test/sql.ts';
import { readAnswerAddress, wasGivenTo } from '../../events/index.ts';
import { answerAddress } from '../../events/mail/answerAddress.ts';

const opening = { subject: 'It is down', department: 'support', priority: 'high', message: 'Since noon.' };

let server: MailServer;
let product: TestProduct;
beforeAll(async () => {
  server = await mailServer();
  const env = { SMTP_URL: server.url, PUBLIC_URL: 'https://inn.example' };
  product = await startTestProduct({ env: { ...env, MAIL_IN_ADDRESS: 'Answers@in.inn.example' } });
});
afterAll(async () => {
  await product.stop();
  await server.close();
});

/** Two people of one customer, who both wrote in the ticket that staff then answers. */
async function answered() {
  const ana = await newCustomer(product);
  const ben = await newMember(product, ana.organizationId, 'technical');
  const { tid } = (await ana.post('/dashboard/tickets/create', opening)).body.data.ticket;
  await ben.post(`/dashboard/tickets/${tid}`, { message: 'For me too.' });
  await product.staff.post(`/staff/tickets/${tid}/replies`, { message: 'Look again.' });
  await settled(product);
  const mailTo = (email: string) => server.mails.findLast(({ to }) => to[0] === email);
  return { ana, ben, tid: String(tid), mailTo };
}

describe('a mail about a ticket', () => {
  it('is answered at an address of this ticket and reader, and belongs to one conversation', async () => {
    const { ana, ben, tid, mailTo } = await answered();
    const [toAna, toBen] = [mailTo(ana.email), mailTo(ben.email)];
    const [hers, his] = [headersOf(toAna?.text ?? ''), headersOf(toBen?.text ?? '')];
    expect(hers['reply-to']).toMatch(new RegExp(`^Answers\\+${tid}[a-z2-7]{20}@in\\.inn\\.example$`));
    expect(his['reply-to']).not.toBe(hers['reply-to']);
    const root = `<conversation.${tid}@inn.example>`;
    expect(hers).toMatchObject({
      ...{ 'in-reply-to': root, references: root, 'auto-submitted': 'auto-generated' },
      'message-id': expect.stringMatching(/^<\d+\.1\.ticket\.customer_told@inn\.example>$/),
    });
    expect(toAna).toMatchObject({ from: 'Answers@in.inn.example' });
    expect(toAna?.plain).toContain('by answering this mail');
  });

  it('to somebody of staff, or about something else, brings no such address', async () => {
    const { ana } = await answered();
    const others = server.mails.filter(({ to }) => to[0] !== ana.email && /New ticket/.test(to[0] ?? ''));
    for (const { text } of others) expect(headersOf(text)).not.toHaveProperty('reply-to');
    await ana.post('/dashboard/account/preferences', { language: 'de' });
    const mails = await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(ana.email)}`);
    // What stands in the log opens nothing: staff answers for nobody.
    expect(JSON.stringify(mails.body)).not.toContain('Answers+');
  });
});

describe('an answer address', () => {
  const told = (address: string) => readAnswerAddress(product.ctx.config, address);

  it('is known whichever case a server makes of it, and is good for its ticket and person alone', () => {
    const address = answerAddress(product.ctx, 'a1b2c3d4', 7) ?? '';
    for (const spelling of [address, address.toUpperCase(), address.toLowerCase()]) {
      const read = told(spelling);
      if (read === null || read === 'plain') throw new Error(`${spelling} is not known`);
      expect(read.code).toBe('a1b2c3d4');
      expect(wasGivenTo(product.ctx, read, 7)).toBe(true);
      expect(wasGivenTo(product.ctx, read, 8)).toBe(false);
      expect(wasGivenTo(product.ctx, { ...read, code: 'a1b2c3d5' }, 7)).toBe(false);
    }
  });

  it('that was made up, cut off or bent opens nothing', () => {
    const address = answerAddress(product.ctx, 'a1b2c3d4', 7) ?? '';
    const [local = '', domain = ''] = address.split('@');
    const last = local.at(-1) === 'a' ? 'b' : 'a';
    const bent = told(`${local.slice(0, -1)}${last}@${domain}`);
    expect(bent !== null && bent !== 'plain' && wasGivenTo(product.ctx, bent, 7)).toBe(false);
    for (const none of [
      `${local}@other.example`,
      `${local}@x.${domain}`,
      `x${address}`,
      '',
      '@',
      'answers+@',
    ]) {
      expect(told(none), none).toBe(null);
    }
    expect(told(`answers+${'a1'.repeat(3)}@${domain}`)).toBe(null);
    expect(told(`answers@${domain}`)).toBe('plain');
    expect(local.length).toBeLessThanOrEqual(64);
  });
});

it('without MAIL_IN_ADDRESS mails go out as ever', async () => {
  const plain = await startTestProduct({
    env: { SMTP_URL: server.url, MAIL_FROM: 'Inn <hello@inn.example>' },
  });
  try {
    const ana = await newCustomer(plain);
    const { tid } = (await ana.post('/dashboard/tickets/create', opening)).body.data.ticket;
    await plain.staff.post(`/staff/tickets/${tid}/replies`, { message: 'Look again.' });
    await settled(plain);
    const mail = server.mails.findLast(({ to }) => to[0] === ana.email);
    const headers = headersOf(mail?.text ?? '');
    for (const none of ['reply-to', 'references', 'in-reply-to']) expect(headers).not.toHaveProperty(none);
    expect(mail).toMatchObject({ from: 'hello@inn.example' });
    expect(mail?.plain).not.toContain('by answering');
  } finally {
    await plain.stop();
  }
});
