import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MailRoom, mailRoom } from '../../../test/mailsIn.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { type MailServer, mailServer } from '../../../test/smtp.ts';
import { settled, sql } from '../../../test/sql.ts';
import { answerAddress } from '../../events/mail/answerAddress.ts';

interface Company {
  name: 'a' | 'b';
  product: TestProduct;
  room: MailRoom;
  server: MailServer;
  customer: Person;
}

/** A company whose customer is the other one: their account has the address that the other's mails come from. */
async function company(name: 'a' | 'b', other: 'a' | 'b'): Promise<Company> {
  const [server, room] = [await mailServer(), mailRoom()];
  const product = await startTestProduct({
    env: {
      ...{ SMTP_URL: server.url, PUBLIC_URL: `https://${name}.example`, MAIL_FROM: `hello@${name}.example` },
      MAIL_IN_ADDRESS: `answers@in.${name}.example`,
    },
    drivers: { mailIn: room.mailIn },
  });
  const customer = await newCustomer(product);
  await sql(product, 'update users set email = $1 where id = $2', `hello@${other}.example`, customer.userId);
  return { name, product, room, server, customer };
}

let a: Company;
let b: Company;
beforeAll(async () => {
  [a, b] = [await company('a', 'b'), await company('b', 'a')];
});
afterAll(async () => {
  for (const each of [a, b]) {
    await each?.product.stop();
    await each?.server.close();
  }
});

const opening = { subject: 'A loop', department: 'support', priority: 'high', message: 'Hello.' };

/** A new ticket of each, whose department is mailed at the answer address of the other's: whatever one tells, the other hears. */
async function tied(): Promise<[string, string]> {
  const tids: string[] = [];
  for (const { customer } of [a, b])
    tids.push((await customer.post('/dashboard/tickets/create', opening)).body.data.ticket.tid);
  for (const [from, to, tid] of [
    [a, b, tids[1]],
    [b, a, tids[0]],
  ] as const) {
    const email = answerAddress(to.product.ctx, tid ?? '', to.customer.userId);
    const department = {
      ...{
        slug: 'support',
        name: 'Support',
        description: '',
        email,
        timezone: 'UTC',
        hours: null,
        holidays: [],
      },
      targets: Object.fromEntries(
        ['low', 'medium', 'high', 'urgent'].map((priority) => [
          priority,
          { first_answer_minutes: 60, solution_minutes: 600 },
        ]),
      ),
    };
    const { status } = await from.product.staff.patch('/staff/settings', {
      support: { departments: [department] },
    });
    expect(status).toBe(200);
  }
  for (const each of [a, b]) {
    await settled(each.product);
    each.server.mails.length = 0;
  }
  return [tids[0] ?? '', tids[1] ?? ''];
}

/** Carries every mail to the other, as it is or bent, until none is left. Returns how many there were. */
async function carry(bend: (text: string) => string): Promise<number> {
  let carried = 0;
  for (let isQuiet = false; !isQuiet; ) {
    isQuiet = true;
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      await settled(from.product);
      for (const mail of from.server.mails.splice(0)) {
        isQuiet = false;
        carried += 1;
        if (carried > 30) return carried;
        const raw = bend(mail.text);
        await to.room.bring({ sender: mail.from, from: `hello@${from.name}.example`, to: mail.to, raw });
        await settled(to.product);
      }
    }
  }
  return carried;
}

const repliesOf = async ({ customer }: Company, tid: string) =>
  (await customer.get(`/dashboard/tickets/${tid}`)).body.data.ticket.replies.length;

describe('two of these products that answer each other', () => {
  it('end at the first mail, which says that a machine wrote it', async () => {
    const [tid, other] = await tied();
    await a.customer.post(`/dashboard/tickets/${tid}`, { message: 'This begins it.' });
    expect(await carry((text) => text)).toBe(1);
    expect([await repliesOf(a, tid), await repliesOf(b, other)]).toEqual([2, 1]);
  });

  it('end within five mails though everything that says so is taken off on the way', async () => {
    const [tid, other] = await tied();
    await a.customer.post(`/dashboard/tickets/${tid}`, { message: 'This begins it.' });
    let nth = 0;
    const bend = (text: string) => {
      nth += 1;
      return text
        .replaceAll(/^(Auto-Submitted|X-Auto-Response-Suppress|Message-ID): .*\r\n/gim, '')
        .replace(/^/, `Message-ID: <${nth}.bent@relay.example>\r\n`);
    };
    expect(await carry(bend)).toBeLessThanOrEqual(5);
    // It was a loop: each of them took something of the other's for a reply.
    expect(await repliesOf(b, other)).toBeGreaterThan(1);
    expect(await repliesOf(a, tid)).toBeGreaterThan(2);
  });
});
