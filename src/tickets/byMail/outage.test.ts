import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MailRoom, mailRoom } from '../../../test/mailsIn.ts';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { MailInError } from '../../drivers/mailIn/index.ts';
import { answerAddress } from '../../events/mail/answerAddress.ts';
import { transaction } from '../../platform/index.ts';
import { decideMail } from './decide.ts';

const hourMs = 3_600_000;
const opening = { subject: 'It is down', department: 'support', priority: 'high', message: 'Since noon.' };

let room: MailRoom;
let product: TestProduct;
let areNamesAway = false;
beforeAll(async () => {
  room = mailRoom();
  product = await startTestProduct({
    env: { PUBLIC_URL: 'https://inn.example', MAIL_IN_ADDRESS: 'answers@in.inn.example' },
    drivers: {
      mailIn: {
        ...room.mailIn,
        judge: (mail) =>
          areNamesAway
            ? // At its last try at once.
              Promise.reject(new MailInError('names_unreachable', 'away', { permanent: true }))
            : room.mailIn.judge(mail),
      },
    },
  });
});
afterAll(() => product.stop());

async function opened(by: Person) {
  const { tid } = (await by.post('/dashboard/tickets/create', opening)).body.data.ticket;
  return { tid: String(tid), to: answerAddress(product.ctx, tid, by.userId) ?? '' };
}

const messagesOf = async (tid: string) =>
  ((await product.staff.get(`/staff/tickets/${tid}`)).body.data.ticket.messages as { message: string }[]).map(
    ({ message }) => message,
  );
const mailsOf = (address: string) =>
  sql<{ id: number; state: string; reason: string | null }>(
    product,
    'select id, state, reason from ticket_mails where from_address = $1',
    address,
  );

describe('a mail whose sender cannot be found out for now', () => {
  it('waits, and is a reply once that can be', async () => {
    const ana = await newCustomer(product);
    const { tid, to } = await opened(ana);
    areNamesAway = true;
    await room.bring({ from: ana.email, to, text: 'It waited' });
    await settled(product);
    expect(await mailsOf(ana.email)).toMatchObject([{ state: 'received' }]);
    areNamesAway = false;
    product.clock.travel(hourMs + 60_000);
    await product.periodic('jobs.heal');
    await settled(product);
    expect(await messagesOf(tid)).toContain('It waited');
    expect(await mailsOf(ana.email)).toMatchObject([{ state: 'reply' }]);
  });

  it('is staff’s after a day', async () => {
    const ana = await newCustomer(product);
    const { to } = await opened(ana);
    areNamesAway = true;
    await room.bring({ from: ana.email, to, text: 'It waits' });
    await settled(product);
    product.clock.travel(25 * hourMs);
    await product.periodic('jobs.heal');
    await settled(product);
    areNamesAway = false;
    expect(await mailsOf(ana.email)).toMatchObject([{ state: 'unclaimed', reason: 'sender_not_proved' }]);
  });
});

describe('the files of a mail', () => {
  it('that were forgotten before it was a reply are named in a note', async () => {
    const ana = await newCustomer(product);
    const { tid, to } = await opened(ana);
    areNamesAway = true;
    await room.bring({ from: ana.email, to, text: 'See the picture' });
    await settled(product);
    areNamesAway = false;
    const [mail] = await mailsOf(ana.email);
    const read = { recipients: [to], references: [], machine: null, report: null, proved: true };
    const files = { attaching: [{ id: 4_711, name: 'gone.png' }], left: [] };
    await transaction(product.ctx, 'test.decideMail', (tx) => decideMail(tx, mail?.id ?? 0, { read }, files));
    const messages = await messagesOf(tid);
    expect(messages).toContain('See the picture');
    expect(messages.at(-1)).toContain('- gone.png');
  });

  it('are not kept of somebody who may not write', async () => {
    const ana = await newCustomer(product);
    const { tid } = await opened(ana);
    const ben = await newMember(product, ana.organizationId, 'viewer');
    const to = answerAddress(product.ctx, tid, ben.userId) ?? '';
    const text = [
      '--b\nContent-Type: text/plain\n\nSee the picture.',
      '--b\nContent-Type: image/png\nContent-Disposition: attachment; filename="a.png"\n\nAAAA\n--b--',
    ].join('\n');
    const headers = { 'Content-Type': 'multipart/mixed; boundary=b' };
    await room.bring({ from: ben.email, to, text, headers });
    await settled(product);
    expect(await mailsOf(ben.email)).toMatchObject([{ reason: 'sender_not_allowed' }]);
    const kept = await sql(
      product,
      'select 1 from ticket_attachments where organization_id = $1',
      ana.organizationId,
    );
    expect(kept).toEqual([]);
  });
});
