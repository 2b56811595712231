/** What is told of to nobody outside: words are planted where it is written, and looked for wherever something leaves the house. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { receivers } from '../src/webhooks/testbed.ts';
import { password, runningVps } from './orders.ts';
import { newCustomer, newStaff, type Person } from './people.ts';
import { startTestProduct, type TestProduct } from './product.ts';
import { type MailServer, mailServer } from './smtp.ts';
import { settled, sql } from './sql.ts';
import { openStream } from './stream.ts';

const { open: receiver, close } = receivers();
let product: TestProduct;
let mails: MailServer;
let owner: Person;
beforeAll(async () => {
  mails = await mailServer();
  product = await startTestProduct({
    env: { SMTP_URL: mails.url, WEBHOOK_ALLOW: '127.0.0.1', STAFF_EMAIL: 'noc@inn.example' },
  });
  owner = await newCustomer(product, { creditMinor: 50_000 });
});
afterAll(async () => {
  close();
  await product.stop();
  await mails.close();
});

it('internal notes and secrets are in no webhook, stream, export or mail', { timeout: 60_000 }, async () => {
  const note = 'zwetschgenknoedel';
  const { got, url } = await receiver();
  const made = await owner.post('/dashboard/webhooks', { url });
  const stream = await openStream(
    `${product.url}/api/dashboard/events?organization_id=${owner.organizationId}`,
    { token: owner.key },
  );
  const key = await owner.post('/dashboard/account/api-keys', { name: 'Automation' });
  const helper = await newStaff(product, 'support');
  const opening = { subject: 'It is down', department: 'support', priority: 'high', message: 'Since noon.' };
  const { tid } = (await owner.post('/dashboard/tickets/create', opening)).body.data.ticket;
  expect((await helper.post(`/staff/tickets/${tid}/notes`, { message: `Between us: ${note}` })).status).toBe(
    200,
  );
  expect((await helper.post(`/staff/tickets/${tid}/replies`, { message: 'Solved' })).status).toBe(200);
  await helper.patch(`/staff/tickets/${tid}`, { status: 'closed' });
  const { serviceId } = await runningVps(product, owner);
  const { id } = made.body.data.webhook;
  const rotated = await owner.post(`/dashboard/webhooks/${id}/rotate-secret`);
  await settled(product);

  const words = {
    note,
    'password of an account': owner.password,
    'first password of a machine': password,
    'key of the API': owner.key,
    'secret of a webhook': made.body.data.secret.slice('whsec_'.length),
    'its next secret': rotated.body.data.secret.slice('whsec_'.length),
    ...(key.status === 200 ? { 'a new key': String(key.body.data.api_key?.key ?? key.body.data.key) } : {}),
  };
  const types = (bodies: string[]) => bodies.map((body) => JSON.parse(body).type as string);
  const soon = { timeout: 15_000, interval: 50 };
  await expect
    .poll(() => types(got.map(({ body }) => body)), soon)
    .toEqual(expect.arrayContaining(['ticket.replied', 'ticket.closed', 'service.provisioned']));
  await expect
    .poll(() => stream.events.map(({ event }) => event), soon)
    .toEqual(expect.arrayContaining(['ticket.replied', 'ticket.closed', 'service.provisioned']));
  await expect.poll(() => mails.mails.length, soon).toBeGreaterThan(3);
  const exported = await owner.get('/dashboard/account/export');
  const deliveries = await owner.get(`/dashboard/webhooks/${id}/deliveries?limit=100`);
  const whole = await Promise.all(
    deliveries.body.data.deliveries.map((each: { id: number }) =>
      owner.get(`/dashboard/webhooks/deliveries/${each.id}`),
    ),
  );
  const activity = await owner.get(`/dashboard/organizations/${owner.organizationId}/activity?limit=100`);
  stream.close();
  const everywhere = {
    webhooks: got.map(({ headers, body }) => `${JSON.stringify(headers)} ${body}`).join('\n'),
    stream: JSON.stringify(stream.events),
    export: JSON.stringify(exported.body),
    mails: mails.mails.map(({ text, plain, html }) => `${text}\n${plain}\n${html}`).join('\n'),
    deliveries: JSON.stringify([deliveries.body, whole.map(({ body }) => body)]),
    activity: JSON.stringify(activity.body),
  };
  // They hold what they should: the ticket and the machine.
  expect(everywhere.export).toContain(tid);
  expect(everywhere.mails).toContain(tid);
  for (const place of ['webhooks', 'stream'] as const) expect(everywhere[place]).toContain(String(serviceId));
  for (const [what, word] of Object.entries(words)) {
    expect(word.length, what).toBeGreaterThan(7);
    for (const [place, text] of Object.entries(everywhere))
      expect(text.includes(word), `the ${what} is in: ${place}`).toBe(false);
  }
  // And the note is written: it is looked for in the right spelling.
  const [kept] = await sql<{ n: number }>(
    product,
    'select count(*)::int as n from ticket_messages m where m::text like $1',
    `%${note}%`,
  );
  expect(kept?.n).toBe(1);
});
