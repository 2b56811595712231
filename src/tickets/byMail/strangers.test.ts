import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MailRoom, mailRoom } from '../../../test/mailsIn.ts';
import { newCustomer } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { answerAddress } from '../../events/mail/answerAddress.ts';

let room: MailRoom;
let product: TestProduct;
beforeAll(async () => {
  room = mailRoom();
  product = await startTestProduct({
    env: { MAIL_IN_ADDRESS: 'answers@in.inn.example', MAIL_IN_MIB_PER_DAY: '2' },
    drivers: { mailIn: room.mailIn },
  });
});
afterAll(() => product.stop());

it('an answer is a reply at once, however many mails strangers have sent and may send no more', async () => {
  const ana = await newCustomer(product);
  const opening = { subject: 'Help', department: 'support', priority: 'high', message: 'Hello.' };
  const { tid } = (await ana.post('/dashboard/tickets/create', opening)).body.data.ticket;
  const stranger = () =>
    room.bring({ from: 'flood@elsewhere.example', to: 'answers@in.inn.example' }).then(
      () => 250,
      ({ responseCode }: { responseCode: number }) => responseCode,
    );
  let last = 250;
  for (let sent = 0; sent < 60 && last === 250; sent += 1) last = await stranger();
  expect(last).toBe(452);

  // Nobody but us makes such an address: one that is made up gets in no better.
  const address = answerAddress(product.ctx, String(tid), ana.userId) ?? '';
  const madeUp = address.replace(/.@/, (end) => (end === 'a@' ? 'b@' : 'a@'));
  await expect(room.bring({ from: ana.email, to: madeUp })).rejects.toMatchObject({ responseCode: 452 });

  await room.bring({ from: ana.email, to: address, text: 'It works again' });
  const messages = async () =>
    (await product.staff.get(`/staff/tickets/${tid}`)).body.data.ticket.messages.map(
      ({ message }: { message: string }) => message,
    );
  await expect.poll(messages).toEqual(['Hello.', 'It works again']);
  expect(await sql(product, `select 1 from ticket_mails where state = 'received'`)).not.toEqual([]);
});
