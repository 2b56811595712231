/** The link of the mail that says that a ticket is closed: one click tells whether it helped. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { watchChanges } from './noted.ts';
import { newCustomer, newStaff, type Person } from './people.ts';
import { startTestProduct, type TestProduct } from './product.ts';
import { type MailServer, mailServer } from './smtp.ts';
import { settled, sql } from './sql.ts';

const changes = watchChanges();
let product: TestProduct;
let mails: MailServer;
let ana: Person;
let helper: Awaited<ReturnType<typeof newStaff>>;
beforeAll(async () => {
  mails = await mailServer();
  product = await startTestProduct({ env: { SMTP_URL: mails.url } });
  ana = await newCustomer(product);
  helper = await newStaff(product, 'support');
});
afterAll(async () => {
  await product.stop();
  await mails.close();
});

const opening = { subject: 'It is down', department: 'support', priority: 'high', message: 'Since noon.' };
const soon = { timeout: 15_000, interval: 50 };

/** Closes a ticket of hers, and reads the link out of the mail. */
async function closed(): Promise<{ tid: string; url: string; token: string }> {
  const { tid } = (await ana.post('/dashboard/tickets/create', opening)).body.data.ticket;
  await helper.patch(`/staff/tickets/${tid}`, { status: 'closed' });
  const linkIn = () =>
    mails.mails
      .filter(({ to, text }) => to.includes(ana.email) && text.includes(tid))
      .flatMap(({ plain }) => plain.match(/https?:\/\/\S+\/ticket-feedback\?token=\S+/) ?? []);
  await expect.poll(() => linkIn().length, soon).toBe(1);
  const url = linkIn()[0] ?? '';
  return { tid, url, token: new URL(url).searchParams.get('token') ?? '' };
}

const helpedOf = async (tid: string) => (await helper.get(`/staff/tickets/${tid}`)).body.data.ticket.helped;
const rate = (token: string, helped: boolean) => product.nobody.post('/tickets/feedback', { token, helped });

async function ratings(tid: string): Promise<boolean[]> {
  const rows = await sql<{ helped: boolean }>(
    product,
    `select (data->>'helped')::boolean as helped from journal where action = 'ticket.rated' and data->>'tid' = $1 order by id`,
    tid,
  );
  return rows.map(({ helped }) => helped);
}

it('counts once, however often it is clicked', async () => {
  const { tid, token } = await closed();
  expect(await helpedOf(tid)).toBeNull();
  for (let times = 0; times < 3; times += 1)
    expect((await rate(token, true)).body.data).toEqual({ helped: true });
  expect(await helpedOf(tid)).toBe(true);
  expect(await ratings(tid)).toEqual([true]);
});

it('is not used up by what looks at links: to open it says nothing', async () => {
  const { tid, url, token } = await closed();
  const { pathname, search } = new URL(url);
  for (const method of ['GET', 'HEAD'])
    for (const path of [`${pathname}${search}`, `/api/tickets/feedback${search}&helped=true`])
      await fetch(`${product.url}${path}`, { method, redirect: 'manual' });
  expect([await helpedOf(tid), await ratings(tid)]).toEqual([null, []]);
  expect((await rate(token, false)).status).toBe(200);
  expect([await helpedOf(tid), await ratings(tid)]).toEqual([false, [false]]);
});

it('is asked for once a ticket, and a link for another ticket, or changed by a letter, is good for nothing', async () => {
  const { tid, token } = await closed();
  const other = await closed();
  await ana.post(`/dashboard/tickets/${tid}`, { message: 'Again' });
  await helper.patch(`/staff/tickets/${tid}`, { status: 'closed' });
  await settled(product);
  const asking = mails.mails.filter(
    ({ to, text, plain }) =>
      to.includes(ana.email) && text.includes(tid) && plain.includes('ticket-feedback'),
  );
  expect(asking).toHaveLength(1);
  const wrong = await rate(`${token.slice(0, -2)}AA`, true);
  expect([wrong.status, wrong.body.code]).toEqual([400, 'invalid_link']);
  await rate(token, true);
  expect([await helpedOf(tid), await helpedOf(other.tid)]).toEqual([true, null]);
});

changes.leaveEntries(() => product, ['rateTicket']);
