import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Brought, type MailRoom, mailRoom, rawMail } from '../../../test/mailsIn.ts';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { headersOf, type MailServer, mailServer } from '../../../test/smtp.ts';
import { settled, sql } from '../../../test/sql.ts';
import { answerAddress } from '../../events/mail/answerAddress.ts';

const changes = watchChanges();

const opening = { subject: 'It is down', department: 'support', priority: 'high', message: 'Since noon.' };
const quoted = 'On Mon, 2 Feb 2026 at 10:00, Inn <billing@inn.example> wrote:\n> Look again.\n> And again.';

let server: MailServer;
let room: MailRoom;
let product: TestProduct;
beforeAll(async () => {
  [server, room] = [await mailServer(), mailRoom()];
  product = await startTestProduct({
    env: {
      ...{ SMTP_URL: server.url, PUBLIC_URL: 'https://inn.example', MAIL_FROM: 'Inn <billing@inn.example>' },
      ...{ MAIL_IN_ADDRESS: 'answers@in.inn.example', STAFF_EMAIL: 'desk@inn.example' },
    },
    drivers: { mailIn: room.mailIn },
  });
});
afterAll(async () => {
  await product.stop();
  await server.close();
});

/** A ticket that staff has answered, and what its customer got. */
async function answered(who?: Person) {
  const ana = who ?? (await newCustomer(product, { firstName: 'Ana' }));
  const { tid } = (await ana.post('/dashboard/tickets/create', opening)).body.data.ticket;
  await product.staff.post(`/staff/tickets/${tid}/replies`, { message: 'Look again.' });
  await settled(product);
  const got = server.mails.findLast(({ to, text }) => to[0] === ana.email && text.includes(tid));
  const headers = headersOf(got?.text ?? '');
  return { ana, tid: String(tid), to: headers['reply-to'] ?? '', ours: headers['message-id'] ?? '' };
}

async function bring(mail: Brought) {
  const said = await room.bring(mail);
  await settled(product);
  return said;
}

const read = async (tid: string, who: Person) =>
  (await who.get(`/dashboard/tickets/${tid}`)).body.data.ticket;
const readAsStaff = async (tid: string) =>
  (await product.staff.get(`/staff/tickets/${tid}`)).body.data.ticket;
interface Shown {
  kind: string;
  message: string;
}
const notesOf = async (tid: string) =>
  ((await readAsStaff(tid)).messages as Shown[]).filter(({ kind }) => kind === 'note');
const unclaimed = async () => {
  const { status, body } = await product.staff.get('/staff/unclaimed-mails');
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.mails as {
    id: number;
    reason: string;
    from_address: string;
    proved_user_id: number | null;
  }[];
};
const repliesTo = async (tid: string, who: Person) => (await read(tid, who)).replies.length;

describe('an answer by mail', () => {
  it('is a reply in the ticket, with what it quotes apart, and one conversation by any way', async () => {
    const { ana, tid, to, ours } = await answered();
    await bring({
      ...{ from: `"Ana \u00e9" <${ana.email}>`, to, text: `It works now, thank you.\n\n${quoted}` },
      ...{ messageId: '<first@mail.example.com>', headers: { 'In-Reply-To': ours } },
    });
    const ticket = await read(tid, ana);
    expect(ticket).toMatchObject({ status: 'customer_reply' });
    expect(ticket.replies.at(-1)).toMatchObject({
      ...{ message: 'It works now, thank you.', quoted, email: ana.email, user: { id: ana.userId } },
    });
    // The next mail of ours follows theirs.
    await product.staff.post(`/staff/tickets/${tid}/replies`, { message: 'Good.' });
    await settled(product);
    const next = headersOf(server.mails.findLast((mail) => mail.to[0] === ana.email)?.text ?? '');
    expect(next).toMatchObject({
      'in-reply-to': '<first@mail.example.com>',
      references: `<conversation.${tid}@inn.example> <first@mail.example.com>`,
    });
    expect(next['reply-to']).toBe(to);
    // Hers, so it is in what she takes along.
    const taken = await ana.get('/dashboard/account/export');
    expect(JSON.stringify(taken.body)).toContain('<first@mail.example.com>');
    const other = await newCustomer(product);
    expect(JSON.stringify((await other.get('/dashboard/account/export')).body)).not.toContain('first@mail');
  });

  it('opens a closed ticket again, and is found by its words but not by those it quotes', async () => {
    const { ana, tid, to } = await answered();
    await ana.post(`/dashboard/tickets/${tid}/close`);
    await bring({ from: ana.email, to, text: `Xylophone is broken\n\n> and Zither was not` });
    expect(await read(tid, ana)).toMatchObject({ status: 'customer_reply' });
    const find = async (word: string) =>
      (await ana.get(`/dashboard/tickets?search=${word}`)).body.data.tickets.length;
    expect([await find('xylophone'), await find('zither')]).toEqual([1, 0]);
  });

  it('that a server wrote in capitals, or that went to another address but answers our mail, finds its ticket', async () => {
    const { ana, tid, to, ours } = await answered();
    await bring({ from: ana.email.toUpperCase(), to: to.toUpperCase(), text: 'LOUD' });
    await bring({
      ...{ from: ana.email, to: 'answers@in.inn.example', text: 'To the plain one' },
      headers: { References: `<x@y.example> ${ours}` },
    });
    expect((await read(tid, ana)).replies.slice(-2).map((each: Shown) => each.message)).toEqual([
      'LOUD',
      'To the plain one',
    ]);
  });

  it('with HTML alone is read as text, with its quote apart and nothing of it markup', async () => {
    const { ana, tid, to } = await answered();
    const html =
      '<p>Hello <b>there</b> &lt;script&gt;</p><script>alert(1)</script><div class="gmail_quote">On Mon, 2 Feb 2026 Inn wrote:<blockquote><p>Look again.</p></blockquote></div>';
    await bring({ from: ana.email, to, text: html, headers: { 'Content-Type': 'text/html; charset=utf-8' } });
    const { message, quoted: was } = (await read(tid, ana)).replies.at(-1);
    expect(message).toBe('Hello there <script>');
    expect(was).toContain('Look again.');
  });

  it('between the lines of what it quotes is all theirs', async () => {
    const { ana, tid, to } = await answered();
    const text = '> Is it plugged in?\nYes.\n> And on?\nNo, that was it.';
    await bring({ from: ana.email, to, text });
    expect((await read(tid, ana)).replies.at(-1)).toMatchObject({ message: text, quoted: null });
  });

  it('with files has them beside it, whatever they say that they are', async () => {
    const { ana, tid, to } = await answered();
    const body = [
      '--b',
      'Content-Type: text/plain\r\n\r\nSee the picture.',
      '--b',
      'Content-Type: image/png; name="a.png"\r\nContent-Disposition: attachment; filename="../../evil\r\n name.png"\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA',
      '--b--',
    ].join('\r\n');
    const headers = { 'Content-Type': 'multipart/mixed; boundary=b' };
    await bring({ from: ana.email, to, headers, text: body });
    const reply = (await read(tid, ana)).replies.at(-1);
    expect(reply).toMatchObject({
      ...{ message: 'See the picture.', attachments: [{ size: 3 }] },
    });
    expect(reply.attachments[0].name).toMatch(/^[^/\\]*name\.png$/);
    expect(await notesOf(tid)).toEqual([]);
  });

  it('is taken once, however often it comes', async () => {
    const { ana, tid, to } = await answered();
    const raw = rawMail({ from: ana.email, to, text: 'Once' });
    const before = await repliesTo(tid, ana);
    for (let nth = 0; nth < 3; nth += 1) await bring({ from: ana.email, to, raw });
    // The same mail over another way has other trace headers.
    await bring({
      from: ana.email,
      to,
      raw: `Received: from a by b; Mon, 2 Feb 2026 10:00:00 +0000\r\n${raw}`,
    });
    expect(await repliesTo(tid, ana)).toBe(before + 1);
    expect(await unclaimed()).toEqual([]);
  });
});

describe('what is not taken as the customer’s', () => {
  /** Brings a mail that must leave the ticket as it is, and returns why staff has it. */
  async function refused(tid: string, ana: Person, mail: Brought): Promise<string | undefined> {
    const before = await read(tid, ana);
    const known = new Set((await unclaimed()).map(({ id }) => id));
    await bring(mail);
    expect(await read(tid, ana)).toEqual(before);
    const [found, ...others] = (await unclaimed()).filter(({ id }) => !known.has(id));
    expect(others).toEqual([]);
    return found?.reason;
  }

  it('is what nothing proves, a forged From, and what only its subject says', async () => {
    const { ana, tid, to } = await answered();
    const forged = { sender: 'evil@elsewhere.example', from: ana.email };
    expect(await refused(tid, ana, { ...forged, to, text: 'Close my account' })).toBe('sender_not_proved');
    const headers = { 'Authentication-Results': 'in.inn.example; dmarc=pass header.from=example.com' };
    expect(await refused(tid, ana, { ...forged, to, headers })).toBe('sender_not_proved');
    const two = { 'X-Two': `x\r\nFrom: ${ana.email}` };
    expect(await refused(tid, ana, { from: 'evil@example.com', to, headers: two })).toBe('sender_unknown');
    const subject = { Subject: `[${tid}] It is down` };
    const plain = { from: ana.email, to: 'answers@in.inn.example', headers: subject };
    expect(await refused(tid, ana, plain)).toBe('no_ticket');
  });

  it('comes to an address of somebody else, of another ticket, or a made-up one', async () => {
    const { ana, tid, to } = await answered();
    const ben = await newMember(product, ana.organizationId, 'technical');
    const stranger = await newCustomer(product);
    // A leaked address is worth nothing to others, even of the same organization.
    expect(await refused(tid, ana, { from: ben.email, to })).toBe('address_not_theirs');
    expect(await refused(tid, ana, { from: stranger.email, to })).toBe('address_not_theirs');
    const other = await answered();
    const mixed = to.replace(tid, other.tid);
    expect(await refused(tid, ana, { from: ana.email, to: mixed })).toBe('address_not_theirs');
    const guess = to.replace(/[a-z2-7]{20}@/, `${'a'.repeat(20)}@`);
    expect(await refused(tid, ana, { from: ana.email, to: guess })).toBe('address_not_theirs');
  });

  it('is from somebody who left, may no longer write, or is blocked', async () => {
    const { ana, tid } = await answered();
    const ben = await newMember(product, ana.organizationId, 'technical');
    await ben.post(`/dashboard/tickets/${tid}`, { message: 'For me too.' });
    const to = answerAddress(product.ctx, tid, ben.userId) ?? '';
    await sql(product, `update memberships set role = 'viewer' where user_id = $1`, ben.userId);
    expect(await refused(tid, ana, { from: ben.email, to })).toBe('sender_not_allowed');
    await sql(product, 'delete from memberships where user_id = $1', ben.userId);
    expect(await refused(tid, ana, { from: ben.email, to })).toBe('sender_not_allowed');
    await sql(product, `update users set status = 'blocked' where id = $1`, ben.userId);
    expect(await refused(tid, ana, { from: ben.email, to })).toBe('sender_unknown');
  });

  it('is put into a ticket or deleted by staff', async () => {
    const { ana, tid } = await answered();
    const from = '"Ana at home" <ana@home.example>';
    expect(await refused(tid, ana, { from, to: 'answers@in.inn.example', text: 'From home' })).toBe(
      'sender_unknown',
    );
    const [mail] = await unclaimed();
    const got = await product.staff.get(`/staff/unclaimed-mails/${mail?.id}`);
    expect(got.body.data.mail).toMatchObject({ text: 'From home', from_name: 'Ana at home' });
    const attention = await product.staff.get('/staff/attention');
    expect(JSON.stringify(attention.body)).toContain('ana@home.example: Re: your mail (sender_unknown)');
    const path = `/staff/unclaimed-mails/${mail?.id}`;
    const raw = () => product.staff.get(`${path}/raw`);
    const whole = await raw();
    expect(whole.body).toMatch(/^From: "Ana at home" <ana@home\.example>\r\n.*\r\n\r\nFrom home\r\n$/s);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'message/rfc822',
      'x-content-type-options': 'nosniff',
      'content-disposition': `attachment; filename="mail-${mail?.id}.eml"; filename*=UTF-8''mail-${mail?.id}.eml`,
      'content-security-policy': expect.stringContaining('sandbox'),
    });
    expect((await ana.get(`${path}/raw`)).status).toBe(403);
    const put = await product.staff.post(`${path}/assign`, { tid, as: 'reply' });
    expect([put.status, put.body.data.ticket.status]).toEqual([200, 'customer_reply']);
    expect((await read(tid, ana)).replies.at(-1)).toMatchObject({
      ...{ name: 'Ana at home', email: 'ana@home.example', user: null, message: 'From home' },
    });
    expect((await product.staff.post(`${path}/assign`, { tid, as: 'reply' })).status).toBe(404);
    expect((await raw()).status).toBe(200);
    await bring({ from: ana.email, to: 'answers@in.inn.example', text: 'Something else is broken' });
    const [fresh] = await unclaimed();
    expect(fresh).toMatchObject({ reason: 'no_ticket', proved_user_id: ana.userId });
    const opened = await product.staff.post(`/staff/unclaimed-mails/${fresh?.id}/open`, {
      ...{ organization_id: ana.organizationId, department: 'support', priority: 'low', subject: 'Else' },
    });
    expect(await read(opened.body.data.ticket.tid, ana)).toMatchObject({
      ...{ subject: 'Else', user: { id: ana.userId }, replies: [{ message: 'Something else is broken' }] },
    });
    await bring({ from, to: 'answers@in.inn.example', text: 'Spam' });
    const [spam] = await unclaimed();
    expect((await product.staff.delete(`/staff/unclaimed-mails/${spam?.id}`)).status).toBe(200);
    await settled(product);
    expect((await product.staff.get(`/staff/unclaimed-mails/${spam?.id}`)).status).toBe(404);
    expect((await product.staff.get(`/staff/unclaimed-mails/${spam?.id}/raw`)).status).toBe(404);
    const rows = await sql(product, `select 1 from ticket_mails m where m::text like '%Spam%'`);
    expect(rows).toEqual([]);
  });
});

describe('machines', () => {
  const marks: [string, Partial<Brought>][] = [
    ['Auto-Submitted', { headers: { 'Auto-Submitted': 'auto-replied (vacation)' } }],
    ['Precedence', { headers: { Precedence: 'bulk' } }],
    ['a list', { headers: { 'List-Id': '<x.example.com>' } }],
    ['our own Message-ID', { messageId: '<4503599627370614.1.ticket.customer_told@inn.example>' }],
    ['X-Autoreply', { headers: { 'X-Autoreply': 'yes' } }],
  ];
  it.each(marks)('known by %s are a note that answers nobody and opens nothing', async (_, mark) => {
    const { ana, tid, to } = await answered();
    await ana.post(`/dashboard/tickets/${tid}/close`);
    await settled(product);
    // What staff is told of other matters, every half minute, comes between.
    const sent = () =>
      server.mails.filter(({ to, text }) => to[0] === ana.email || text.includes(tid)).length;
    const [before, sentBefore] = [await read(tid, ana), sent()];
    await bring({ from: ana.email, to, text: 'I am away until Monday.', ...mark });
    expect(await read(tid, ana)).toEqual(before);
    expect((await notesOf(tid)).at(-1)?.message).toMatch(/^A machine wrote this.*I am away until Monday\.$/s);
    expect(sent()).toBe(sentBefore);
    expect(JSON.stringify(before)).not.toContain('away until');
  });

  it('with a null return path, or an unknown address, are kept and seen to by nobody', async () => {
    const { ana, tid, to } = await answered();
    const before = await read(tid, ana);
    const known = await unclaimed();
    await bring({ sender: '', from: 'mailer-daemon@elsewhere.example', to, text: 'Undeliverable' });
    await bring({ from: 'robot@example.com', to, headers: { Precedence: 'junk' } });
    expect(await read(tid, ana)).toEqual(before);
    expect(await unclaimed()).toEqual(known);
  });

  it('that bring a mail of ours back mark its address', async () => {
    const { ana, ours } = await answered();
    const report = [
      '--r\r\nContent-Type: text/plain\r\n\r\nSorry.',
      `--r\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example.com\r\n\r\nFinal-Recipient: rfc822; ${ana.email}\r\nAction: failed\r\nStatus: 5.1.1\r\nDiagnostic-Code: smtp; 550 no such user`,
      `--r\r\nContent-Type: text/rfc822-headers\r\n\r\nMessage-ID: ${ours}\r\nSubject: x`,
      '--r--',
    ].join('\r\n');
    const headers = { 'Content-Type': 'multipart/report; report-type=delivery-status; boundary=r' };
    await bring({
      ...{ sender: '', from: 'mailer-daemon@example.com', to: 'answers@in.inn.example', headers },
      text: report,
    });
    const log = await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(ana.email)}`);
    const mails = log.body.data.mails as { state: string; error: string | null }[];
    expect(mails.find(({ state }) => state === 'failed')?.error).toBe('5.1.1 smtp; 550 no such user');
  });

  it('that lie about themselves open a ticket again three times a day at most', async () => {
    const { ana, tid, to } = await answered();
    for (let nth = 0; nth < 5; nth += 1) {
      await product.staff.patch(`/staff/tickets/${tid}`, { status: 'closed' });
      await bring({ from: ana.email, to, text: `Away ${nth}` });
    }
    expect(await read(tid, ana)).toMatchObject({ status: 'closed' });
    expect((await notesOf(tid)).map(({ message }) => message.slice(0, 40))).toHaveLength(2);
    product.clock.travel(25 * 3_600_000);
    await bring({ from: ana.email, to, text: 'A day later' });
    expect(await read(tid, ana)).toMatchObject({ status: 'customer_reply' });
  });

  it('make the department hear of a ticket twice by mail until somebody answers', async () => {
    const { ana, tid, to } = await answered();
    const told = () => server.mails.filter(({ text }) => /To: desk@/.test(text) && text.includes(tid)).length;
    const before = told();
    for (let nth = 0; nth < 5; nth += 1) await bring({ from: ana.email, to, text: `Loop ${nth}` });
    expect(told()).toBe(before + 2);
    expect(await repliesTo(tid, ana)).toBe(7);
    await product.staff.post(`/staff/tickets/${tid}/replies`, { message: 'I see.' });
    await bring({ from: ana.email, to, text: 'Again' });
    expect(told()).toBe(before + 3);
  });
});

it('what machines sent is kept for thirty days, what nobody claimed for ninety', async () => {
  await bring({
    from: 'robot@elsewhere.example',
    to: 'answers@in.inn.example',
    headers: { Precedence: 'bulk' },
  });
  await bring({ from: 'somebody@elsewhere.example', to: 'answers@in.inn.example' });
  const kept = async () =>
    (
      await sql<{ from_address: string; file: string }>(
        product,
        `select from_address, file from ticket_mails where from_address like '%@elsewhere.example'
           and subject = 'Re: your mail' and decided_at > $1 order by decided_at`,
        began,
      )
    ).map(({ from_address }) => from_address);
  const began = new Date(product.clock.now().getTime() - 60_000);
  expect(await kept()).toEqual(['robot@elsewhere.example', 'somebody@elsewhere.example']);
  product.clock.travel(31 * 86_400_000);
  await product.periodic('tickets.purgeMails');
  expect(await kept()).toEqual(['somebody@elsewhere.example']);
  product.clock.travel(60 * 86_400_000);
  await product.periodic('tickets.purgeMails');
  await settled(product);
  expect(await kept()).toEqual([]);
});

describe('a change', () =>
  changes.leaveEntries(() => product, ['assignUnclaimedMail', 'deleteUnclaimedMail', 'openTicketFromMail']));
