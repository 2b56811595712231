import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orderVps } from '../../test/orders.ts';
import { newCustomer, newMember, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { contents, settled, sql } from '../../test/sql.ts';

let product: TestProduct;
let ana: Person;
let stranger: Person;
beforeAll(async () => {
  product = await startTestProduct();
  [ana, stranger] = [await newCustomer(product), await newCustomer(product)];
  await product.staff.patch('/staff/settings', {
    support: {
      departments: [
        {
          ...{
            slug: 'support',
            name: 'Support',
            description: '',
            email: 'desk@example.com',
            timezone: 'UTC',
          },
          ...{ hours: null, holidays: [] },
          targets: Object.fromEntries(
            ['low', 'medium', 'high', 'urgent'].map((priority) => [
              priority,
              { first_answer_minutes: 60, solution_minutes: 600 },
            ]),
          ),
        },
      ],
    },
  });
});
afterAll(() => product.stop());

const opening = { subject: 'It is down', department: 'support', priority: 'high', message: 'Since noon.' };

async function open(who: Person = ana, change: object = {}) {
  const { status, body } = await who.post('/dashboard/tickets/create', { ...opening, ...change });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.ticket;
}

const read = async (tid: string, who: Person = ana) =>
  (await who.get(`/dashboard/tickets/${tid}`)).body.data.ticket;
const found = async (query: string, who: Person = ana) => {
  const { status, body } = await who.get(`/dashboard/tickets?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.tickets.map((ticket: { tid: string }) => ticket.tid);
};

describe('a ticket', () => {
  it('is opened with its first message, and read as it was written', async () => {
    const message = '# Hello\n\n<script>alert(1)</script> **bold** \u202etxt "x" é 🦊\r\n';
    const ticket = await open(ana, { message });
    expect(ticket).toMatchObject({
      tid: expect.stringMatching(/^([a-z]\d){4}$/),
      ...{ subject: 'It is down', department: 'support', priority: 'high', status: 'open', service_id: null },
      replies: [{ name: 'Test Person', email: ana.email, adminName: null, adminRole: null, message }],
    });
    expect(await read(ticket.tid)).toEqual(ticket);
    expect(await read(ticket.tid.toUpperCase())).toEqual(ticket);
  });

  it.each([
    ['quotes', '>'.repeat(50_000)],
    ['lists', Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth)}- a`).join('\n')],
    ['links', '['.repeat(25_000) + ']('.repeat(12_500)],
    ['emphasis', '*a **a '.repeat(7_000)],
    ['fences', '`'.repeat(50_000)],
    ['markup', '<div>'.repeat(10_000)],
  ])(
    'is kept as it was written where its Markdown nests without end, and holds up nobody: %s',
    async (_, message) => {
      const ticket = await open(ana, { message });
      expect((await read(ticket.tid)).replies).toMatchObject([{ message }]);
      const asStaff = await product.staff.get(`/staff/tickets/${ticket.tid}`);
      expect(asStaff.body.data.ticket.messages).toMatchObject([{ message }]);
      await ana.post(`/dashboard/tickets/${ticket.tid}`, { message });
      expect((await read(ticket.tid)).replies.length).toBe(2);
    },
  );

  it('goes from hand to hand, is closed once, and opened again by a reply', async () => {
    const { tid } = await open();
    const closed = await ana.post(`/dashboard/tickets/${tid}/close`);
    expect(closed.body.data.ticket).toMatchObject({
      status: 'closed',
      actions: { reply: { allowed: true }, close: { allowed: false, code: 'ticket_closed' } },
    });
    const again = await ana.post(`/dashboard/tickets/${tid}/close`);
    expect([again.status, again.body.code]).toEqual([409, 'ticket_closed']);
    const rename = await ana.put(`/dashboard/tickets/${tid}/subject`, { subject: 'Another' });
    expect([rename.status, rename.body.code]).toEqual([409, 'ticket_closed']);
    const reply = await ana.post(`/dashboard/tickets/${tid}`, { message: 'Once more' });
    expect(reply.body.data.ticket).toMatchObject({ status: 'customer_reply', closed_at: null });
    expect(reply.body.data.ticket.replies.map((each: { message: string }) => each.message)).toEqual([
      'Since noon.',
      'Once more',
    ]);
    const renamed = await ana.put(`/dashboard/tickets/${tid}/subject`, { subject: 'Another' });
    expect(renamed.body.data.ticket.subject).toBe('Another');
    const told = await sql<{ action: string }>(
      product,
      `select action from journal where subject_type = 'ticket' and organization_id = $1 and data->>'tid' = $2 order by id`,
      ...[ana.organizationId, tid],
    );
    expect(told.map(({ action }) => action)).toEqual([
      ...['ticket.created', 'ticket.closed', 'ticket.replied', 'ticket.reopened', 'ticket.subject_changed'],
    ]);
  });

  it('tells its department by mail of what is new, and not what was written', async () => {
    const { tid } = await open(ana, { message: 'a-secret-word' });
    await ana.post(`/dashboard/tickets/${tid}`, { message: 'a-secret-word' });
    await settled(product);
    const mails = await sql<{ subject: string; body: string }>(
      product,
      `select subject, body from mails where recipient = 'desk@example.com' and subject like $1 order by created_at, subject desc`,
      `%${tid}%`,
    );
    expect(mails.map(({ subject }) => subject)).toEqual([
      `[${tid}] New ticket: It is down`,
      `[${tid}] It is down`,
    ]);
    expect(JSON.stringify(mails)).not.toContain('a-secret-word');
  });

  it('names a service of its own organization alone', async () => {
    const { serviceId } = await orderVps(product, ana);
    expect((await open(ana, { service_id: serviceId })).service_id).toBe(serviceId);
    await settled(product);
    const before = await contents(product);
    const foreign = await stranger.post('/dashboard/tickets/create', { ...opening, service_id: serviceId });
    expect([foreign.status, foreign.body.code]).toEqual([403, 'forbidden']);
    const none = await ana.post('/dashboard/tickets/create', { ...opening, service_id: 4242 });
    expect([none.status, none.body.code]).toEqual([404, 'not_found']);
    expect(await contents(product)).toEqual(before);
  });

  it('refuses what it cannot take, and changes nothing', async () => {
    const { tid } = await open();
    await settled(product);
    const before = await contents(product);
    const refused: [object, string][] = [
      [{ subject: 'ab' }, 'subject'],
      [{ subject: 'x'.repeat(256) }, 'subject'],
      [{ subject: 'a\r\nBcc: all@example.com' }, 'subject'],
      [{ subject: '    ' }, 'subject'],
      [{ message: ' \n ' }, 'message'],
      [{ message: 'x'.repeat(50_001) }, 'message'],
      [{ priority: 'now' }, 'priority'],
      [{ department: 5 }, 'department'],
      [{ html: '<b>' }, 'html'],
    ];
    for (const [change, field] of refused) {
      const { status, body } = await ana.post('/dashboard/tickets/create', { ...opening, ...change });
      expect([status, body.details?.[0]?.field], JSON.stringify(change)).toEqual([400, field]);
    }
    const nobody = await ana.post('/dashboard/tickets/create', { ...opening, department: 'nobody' });
    expect([nobody.status, nobody.body.code]).toEqual([400, 'unknown_department']);
    expect(nobody.body.message).toContain('support');
    expect((await ana.post(`/dashboard/tickets/${tid}`, { message: '' })).status).toBe(400);
    expect((await ana.put(`/dashboard/tickets/${tid}/subject`, { subject: 'a\nb' })).status).toBe(400);
    expect((await ana.get('/dashboard/tickets/attachments')).status).toBe(404);
    expect(await contents(product)).toEqual(before);
  });

  it('counts a line of emoji by its characters', async () => {
    expect((await open(ana, { subject: '🦊'.repeat(255) })).subject).toBe('🦊'.repeat(255));
  });

  it('is opened once for one Idempotency-Key', async () => {
    const send = () => ana.post('/dashboard/tickets/create', opening, { 'idempotency-key': 'ticket-1' });
    const [one, other] = [await send(), await send()];
    expect(other.body.data.ticket.tid).toBe(one.body.data.ticket.tid);
  });

  it('is read by viewers, who do not write', async () => {
    const viewer = await newMember(product, ana.organizationId, 'viewer');
    const { tid } = await open();
    expect((await read(tid, viewer)).tid).toBe(tid);
    expect((await viewer.post(`/dashboard/tickets/${tid}`, { message: 'x' })).body.code).toBe(
      'permission_denied',
    );
  });
});

describe('the list of tickets', () => {
  let bea: Person;
  const tids: string[] = [];
  beforeAll(async () => {
    bea = await newCustomer(product);
    for (const priority of ['low', 'urgent', 'low']) {
      product.clock.travel(60_000);
      tids.push((await open(bea, { priority, subject: `A ${priority} matter` })).tid);
    }
  });

  it('begins with the newest reply, and goes on by page and by cursor', async () => {
    product.clock.travel(60_000);
    await bea.post(`/dashboard/tickets/${tids[0]}`, { message: 'Me again' });
    expect(await found('', bea)).toEqual([tids[0], tids[2], tids[1]]);
    expect(await found('sort=created_at', bea)).toEqual(tids);
    const first = (await bea.get('/dashboard/tickets?limit=2')).body.data;
    expect(first).toMatchObject({ pages: 2, current_page: 1, entries: 2, total: 3 });
    expect(await found(`limit=2&cursor=${first.next_cursor}`, bea)).toEqual([tids[1]]);
    expect(await found('limit=2&page=2', bea)).toEqual([tids[1]]);
  });

  it('filters by what a ticket is', async () => {
    expect(await found('priority=urgent', bea)).toEqual([tids[1]]);
    expect(await found('status=closed', bea)).toEqual([]);
    expect(await found('department=support&priority=low&sort=created_at', bea)).toEqual([tids[0], tids[2]]);
  });

  it('finds words of subject and text, and beginnings of words, in this organization alone', async () => {
    const { tid } = await open(bea, {
      subject: 'Kernel panic',
      message: "It says Oops: 0002, at d'Artagnan's",
    });
    await bea.post(`/dashboard/tickets/${tid}`, { message: 'And again: segfault in libfoo.so' });
    for (const words of ['panic', 'KERN', 'segf panic', 'oops 0002', "d'Artagnan", 'libfoo.so', tid])
      expect(await found(`search=${encodeURIComponent(words)}`, bea), words).toEqual([tid]);
    for (const words of ['panic matter', 'ernel', '!!!', "' | 'panic", '\\', 'panic:*'])
      expect(await found(`search=${encodeURIComponent(words)}&status=closed`, bea), words).toEqual([]);
    expect(await found('search=panic')).toEqual([]);
    expect(await found('search=panic&priority=low', bea)).toEqual([]);
    await bea.put(`/dashboard/tickets/${tid}/subject`, { subject: 'Solved mystery' });
    expect(await found('search=mystery', bea)).toEqual([tid]);
  });

  it('goes through what is found by cursor, the newest reply first', async () => {
    const all = await found('search=matter', bea);
    expect(all).toEqual([tids[0], tids[2], tids[1]]);
    const first = (await bea.get('/dashboard/tickets?search=matter&limit=2')).body.data;
    expect(first).toMatchObject({ total: 3, entries: 2, pages: 2 });
    expect(await found(`search=matter&limit=2&cursor=${first.next_cursor}`, bea)).toEqual([tids[1]]);
    const bad = await bea.get('/dashboard/tickets?search=matter&cursor=WyJ4Il0');
    expect([bad.status, bad.body.code]).toEqual([400, 'invalid_cursor']);
  });
});

describe('what was written', () => {
  it('is shown to the newest two hundred, and before them on asking', async () => {
    const { tid, id } = await open();
    await sql(
      product,
      `insert into ticket_messages (id, organization_id, ticket_id, kind, user_id, message, created_at)
       select 1000 + n, $1, $2, 'customer', $3, 'number ' || n, $4::timestamptz + n * interval '1 second' from generate_series(1, 250) n`,
      ...[ana.organizationId, id, ana.userId, product.clock.now()],
    );
    const newest = await read(tid);
    expect([newest.replies.length, newest.earlier_replies]).toEqual([200, 51]);
    expect(newest.replies.at(-1).message).toBe('number 250');
    const before = (await ana.get(`/dashboard/tickets/${tid}?before=${newest.replies[0].id}`)).body.data
      .ticket;
    expect([before.replies.length, before.earlier_replies]).toEqual([51, 0]);
    expect(before.replies[0].message).toBe('Since noon.');
  });
});

describe('what is overdue', () => {
  it('waits for a person, until somebody sees to it', async () => {
    const { tid } = await open();
    const concerns = async () =>
      (await product.staff.get('/staff/attention')).body.data.concerns.filter(
        (each: { kind: string; message: string }) =>
          each.kind === 'ticket.overdue' && each.message.includes(tid),
      );
    expect(await concerns()).toEqual([]);
    product.clock.travel(61 * 60_000);
    expect(await concerns()).toEqual([
      expect.objectContaining({ message: expect.stringContaining('the first answer was due') }),
    ]);
    await ana.post(`/dashboard/tickets/${tid}/close`);
    expect(await concerns()).toEqual([]);
  });
});

describe('the departments', () => {
  it('are read by customers without what is the provider’s', async () => {
    const { body } = await ana.get('/dashboard/tickets/departments');
    expect(body.data.departments).toEqual([{ slug: 'support', name: 'Support', description: '' }]);
  });

  it('are refused with hours that make no sense', async () => {
    const { body } = await product.staff.get('/staff/settings');
    const [department] = body.data.settings.support.departments;
    const spans = (...hours: object[]) => ({ departments: [{ ...department, hours }] });
    const monday = { day: 'monday', from: '09:00', to: '17:00' };
    const refused = [
      spans({ ...monday, to: '08:00' }),
      spans(monday, { ...monday, from: '16:00', to: '18:00' }),
      spans({ ...monday, from: '9' }),
      { departments: [{ ...department, timezone: 'Mars/Olympus' }] },
      { departments: [department, department] },
      { departments: [] },
    ];
    for (const support of refused)
      expect(
        (await product.staff.patch('/staff/settings', { support })).status,
        JSON.stringify(support),
      ).toBe(400);
  });
});
