import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { orderVps } from '../../../test/orders.ts';
import { newCustomer, newStaff, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';

const changes = watchChanges();

let product: TestProduct;
let ana: Person;
let bo: Person;
let helper: Awaited<ReturnType<typeof newStaff>>;
const targets = (first_answer_minutes: number) => ({ first_answer_minutes, solution_minutes: 600 });
beforeAll(async () => {
  product = await startTestProduct();
  [ana, bo] = [await newCustomer(product, { firstName: 'Ana' }), await newCustomer(product)];
  helper = await newStaff(product, 'support');
  const department = {
    description: '',
    email: 'desk@example.com',
    timezone: 'UTC',
    hours: null,
    holidays: [],
  };
  const of = { low: targets(240), medium: targets(120), high: targets(60), urgent: targets(30) };
  const departments = [
    { ...department, slug: 'support', name: 'Support', targets: of },
    { ...department, slug: 'billing', name: 'Billing', targets: of },
  ];
  expect((await product.staff.patch('/staff/settings', { support: { departments } })).status).toBe(200);
});
afterAll(() => product.stop());

const opening = { subject: 'It is down', department: 'support', priority: 'medium', message: 'Since noon.' };

async function open(who: Person = ana, change: object = {}) {
  const { status, body } = await who.post('/dashboard/tickets/create', { ...opening, ...change });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.ticket;
}

async function staffDoes(tid: string, what: string, body: object, who = helper) {
  const answer = await who.post(`/staff/tickets/${tid}/${what}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.ticket;
}

const asStaff = async (tid: string) => (await helper.get(`/staff/tickets/${tid}`)).body.data.ticket;
const asCustomer = async (tid: string, who = ana) =>
  (await who.get(`/dashboard/tickets/${tid}`)).body.data.ticket;
const queue = async (query: string) => {
  const { status, body } = await helper.get(`/staff/tickets?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.tickets.map(({ tid }: { tid: string }) => tid);
};
const texts = (messages: { message: string }[]) => messages.map(({ message }) => message);

describe('the queue', () => {
  it('begins with what is due first, and leaves what is asked of the customer behind', async () => {
    const cai = await newCustomer(product);
    const of = `organization_id=${cai.organizationId}`;
    const [low, urgent, high] = [
      await open(cai, { priority: 'low' }),
      await open(cai, { priority: 'urgent' }),
      await open(cai, { priority: 'high' }),
    ];
    expect(await queue(of)).toEqual([urgent.tid, high.tid, low.tid]);
    await staffDoes(urgent.tid, 'replies', { message: 'Which one?' });
    expect(await queue(of)).toEqual([high.tid, low.tid, urgent.tid]);
    await helper.patch(`/staff/tickets/${low.tid}`, { priority: 'urgent', department: 'billing' });
    expect(await queue(of)).toEqual([low.tid, high.tid, urgent.tid]);
    await staffDoes(high.tid, 'assign', { user_id: helper.userId });
    expect(await queue(`${of}&assigned_to=${helper.userId}`)).toEqual([high.tid]);
    expect(await queue(`${of}&assigned_to=0&department=billing`)).toEqual([low.tid]);
    await helper.patch(`/staff/tickets/${low.tid}`, { status: 'closed' });
    expect(await queue(of)).toEqual([high.tid, urgent.tid]);
    expect(await queue(`${of}&status=closed`)).toEqual([low.tid]);
  });

  it('pauses the time for a solution while the customer is asked', async () => {
    const { tid } = await open();
    const began = product.clock.now().getTime();
    product.clock.travel(60 * 60_000);
    expect(await staffDoes(tid, 'replies', { message: 'Which?' })).toMatchObject({
      solution_due_at: null,
      due_at: null,
    });
    product.clock.travel(24 * 60 * 60_000);
    await ana.post(`/dashboard/tickets/${tid}`, { message: 'This' });
    const { solution_due_at: due, status } = await asStaff(tid);
    const minutes = (new Date(due).getTime() - began) / 60_000;
    expect([status, Math.round(minutes)]).toEqual(['customer_reply', 600 + 24 * 60]);
  });
});

describe('the departments', () => {
  it('are read by every role of staff, whose settings some may not read, as customers are told of them', async () => {
    const expected = (await ana.get('/dashboard/tickets/departments')).body.data;
    expect(expected.departments.map(({ slug }: { slug: string }) => slug)).toEqual(['support', 'billing']);
    expect((await helper.get('/staff/settings')).status).toBe(403);
    for (const role of ['administrator', 'billing', 'support', 'operator'] as const) {
      const { status, body } = await (await newStaff(product, role)).get('/staff/tickets/departments');
      expect([status, body.data], role).toEqual([200, expected]);
    }
    expect((await ana.get('/staff/tickets/departments')).status).toBe(403);
  });
});

describe('an answer', () => {
  it('is read by the customer, who is told by mail, and makes the ticket answered', async () => {
    const { tid } = await open();
    const ticket = await staffDoes(tid, 'replies', { message: 'It is up again' });
    expect(ticket).toMatchObject({ status: 'answered', first_answer_due_at: null });
    const seen = await asCustomer(tid);
    expect(seen.replies.at(-1)).toMatchObject({
      ...{
        message: 'It is up again',
        adminName: 'Test Person',
        adminRole: 'support',
        email: null,
        user: null,
      },
    });
    await settled(product);
    const mails = await sql<{ recipient: string }>(
      product,
      `select recipient from mails where subject = $1`,
      `[${tid}] It is down`,
    );
    expect(mails.map(({ recipient }) => recipient)).toEqual([ana.email]);
  });

  it('is refused when somebody wrote since, and when a variable was left in it', async () => {
    const ticket = await open();
    const read = ticket.replies.at(-1).id;
    await ana.post(`/dashboard/tickets/${ticket.tid}`, { message: 'Never mind' });
    await settled(product);
    const before = await contents(product);
    const late = await helper.post(`/staff/tickets/${ticket.tid}/replies`, {
      message: 'Hm',
      last_reply_id: read,
    });
    expect([late.status, late.body.code]).toEqual([409, 'ticket_moved_on']);
    const left = await helper.post(`/staff/tickets/${ticket.tid}/replies`, {
      message: 'Hello {{ customer.name }}',
    });
    expect([left.status, left.body.code]).toEqual([409, 'canned_reply_unfilled']);
    expect(await contents(product)).toEqual(before);
  });

  it('tells two who write at once of each other', async () => {
    const { tid } = await open();
    const other = await newStaff(product, 'support');
    await helper.post(`/staff/tickets/${tid}/writing`, { writing: true });
    const { body } = await other.post(`/staff/tickets/${tid}/writing`, { writing: true });
    expect(body.data.writing).toMatchObject([{ id: helper.userId }]);
    expect((await asStaff(tid)).writing).toMatchObject([{ id: other.userId }]);
    product.clock.travel(61_000);
    expect((await asStaff(tid)).writing).toEqual([]);
  });
});

describe('closing by staff', () => {
  it('asks the customer once, by a link, whether it helped', async () => {
    const { tid } = await open();
    await helper.patch(`/staff/tickets/${tid}`, { status: 'closed' });
    await ana.post(`/dashboard/tickets/${tid}`, { message: 'Again' });
    await helper.patch(`/staff/tickets/${tid}`, { status: 'closed' });
    await settled(product);
    const mails = await sql<{ body: string }>(
      product,
      `select body from mails where recipient = $1 and subject like $2 order by created_at`,
      ...[ana.email, `[${tid}]%`],
    );
    expect(mails.map(({ body }) => /Did it help\?/.test(body))).toEqual([true, false]);
    const wrong = await product.nobody.post('/tickets/feedback', { token: 'nonsense', helped: true });
    expect(wrong.body.code).toBe('invalid_link');
  });
});

describe('merging and splitting', () => {
  it('keeps what was written in both, and both codes answer', async () => {
    const [one, other] = [
      await open(ana, { message: 'first-one' }),
      await open(ana, { message: 'second-one' }),
    ];
    await staffDoes(other.tid, 'notes', { message: 'between us' });
    const merged = await staffDoes(other.tid, 'merge', { into: one.tid });
    expect(merged).toMatchObject({ tid: one.tid, merged_tids: [other.tid] });
    expect(texts(merged.messages)).toEqual(['first-one', 'second-one', 'between us']);
    expect((await asCustomer(other.tid)).tid).toBe(one.tid);
    const reply = await ana.post(`/dashboard/tickets/${other.tid}`, { message: 'to-the-old' });
    expect(texts(reply.body.data.ticket.replies)).toEqual(['first-one', 'second-one', 'to-the-old']);
    const found = await ana.get('/dashboard/tickets?search=second-one');
    expect(found.body.data.tickets.map(({ tid }: { tid: string }) => tid)).toEqual([one.tid]);
    const again = await helper.post(`/staff/tickets/${other.tid}/merge`, { into: one.tid });
    expect(again.body.code).toBe('ticket_same');
  });

  it('takes chosen messages along, and leaves none without any', async () => {
    const ticket = await open(ana, { message: 'stays-here' });
    const more = await ana.post(`/dashboard/tickets/${ticket.tid}`, { message: 'goes-away' });
    const [stays, goes] = more.body.data.ticket.replies;
    await settled(product);
    const before = await contents(product);
    const all = { message_ids: [stays.id, goes.id], subject: 'All of it' };
    expect((await helper.post(`/staff/tickets/${ticket.tid}/split`, all)).body.code).toBe(
      'ticket_split_empty',
    );
    const foreign = { message_ids: [(await open(bo)).replies[0].id], subject: 'Not mine' };
    expect((await helper.post(`/staff/tickets/${ticket.tid}/split`, foreign)).status).toBe(404);
    expect((await contents(product)).ticket_messages?.length).toBe((before.ticket_messages?.length ?? 0) + 1);
    const made = await staffDoes(ticket.tid, 'split', { message_ids: [goes.id], subject: 'Another matter' });
    expect(texts((await asCustomer(made.tid)).replies)).toEqual(['goes-away']);
    expect(texts((await asCustomer(ticket.tid)).replies)).toEqual(['stays-here']);
    const found = await ana.get('/dashboard/tickets?search=goes-away');
    expect(found.body.data.tickets.map(({ tid }: { tid: string }) => tid)).toEqual([made.tid]);
  });

  it('is refused between two customers, and changes nothing', async () => {
    const [one, other] = [await open(ana), await open(bo)];
    await settled(product);
    const before = await contents(product);
    const answer = await helper.post(`/staff/tickets/${one.tid}/merge`, { into: other.tid });
    expect([answer.status, answer.body.code]).toEqual([409, 'ticket_of_another']);
    expect(await contents(product)).toEqual(before);
  });
});

describe('a service that moved to another organization', () => {
  it('keeps nobody from working on its tickets, and says nothing there any more', async () => {
    const { serviceId } = await orderVps(product, ana);
    const { tid } = await open(ana, { service_id: serviceId });
    const canned = { name: 'Whose', message: 'Your server {{service.domain}}' };
    const { id } = (await product.staff.post('/staff/canned-replies', canned)).body.data.canned_reply;
    const preview = () => helper.post(`/staff/canned-replies/${id}/preview`, { tid });
    expect((await preview()).status).toBe(200);
    await sql(
      product,
      'update services set organization_id = $1 where id = $2',
      bo.organizationId,
      serviceId,
    );
    expect(
      (await helper.patch(`/staff/tickets/${tid}`, { priority: 'urgent' })).body.data.ticket,
    ).toMatchObject({
      ...{ priority: 'urgent', service_id: serviceId },
    });
    expect((await preview()).body.code).toBe('canned_reply_unfilled');
    const other = await open(ana);
    const foreign = await helper.patch(`/staff/tickets/${other.tid}`, { service_id: serviceId });
    expect([foreign.status, foreign.body.code]).toEqual([403, 'forbidden']);
  });
});

describe('canned replies', () => {
  it('are filled in for a ticket, and say what would be empty', async () => {
    const make = (name: string, message: string) =>
      product.staff.post('/staff/canned-replies', { name, message });
    const { tid } = await open();
    const id = (await make('Hello', 'Hello {{customer.first_name}}, {{ticket.tid}} {{ department }}')).body;
    expect(id.code).toBe('canned_reply_unknown_variable');
    const good = (await make('Hello', 'Hello {{customer.first_name}}, about {{ ticket.tid }}')).body.data
      .canned_reply.id;
    const shown = await helper.post(`/staff/canned-replies/${good}/preview`, { tid });
    expect(shown.body.data.message).toBe(`Hello Ana, about ${tid}`);
    const empty = (await make('Server', 'Your server {{service.domain}}')).body.data.canned_reply.id;
    const refused = await helper.post(`/staff/canned-replies/${empty}/preview`, { tid });
    expect([refused.status, refused.body.code]).toEqual([409, 'canned_reply_unfilled']);
    expect(refused.body.message).toContain('{{service.domain}}');
    expect((await make('hello', 'x')).body.code).toBe('duplicate_canned_reply');
  });
});

describe('a note', () => {
  it('reaches no customer, whichever way they look', async () => {
    const planted = 'zwetschgenknoedel';
    const dora = await newCustomer(product);
    const { tid } = await open(dora);
    const before = await dora.get(`/dashboard/tickets/${tid}`);
    product.clock.travel(60_000);
    const noted = await staffDoes(tid, 'notes', { message: `Between us: ${planted}` });
    expect(texts(noted.messages)).toContain(`Between us: ${planted}`);
    expect(await queue(`search=${planted}`)).toEqual([tid]);
    const after = await dora.get(`/dashboard/tickets/${tid}`);
    expect(after.body.data).toEqual(before.body.data);
    expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
    await staffDoes(tid, 'replies', { message: 'Done' });
    await settled(product);
    const organization = `/dashboard/organizations/${dora.organizationId}/activity`;
    const found = await dora.get(`/dashboard/tickets?search=${planted}`);
    expect(found.body.data).toMatchObject({ tickets: [], total: 0 });
    for (const path of [
      '/dashboard/tickets',
      `/dashboard/tickets/${tid}`,
      `/dashboard/tickets/${tid}/subject`,
      organization,
    ]) {
      const { status, body } = await dora.get(path);
      expect([path, status]).toEqual([path, 200]);
      expect(JSON.stringify(body)).not.toMatch(/zwetschgen|ticket_noted|ticket_assigned|"note"/);
    }
    // By counting either: a page asked for with the note's id is as one asked for with an id that there is not.
    const note = noted.messages.at(-1).id;
    const around = await dora.get(`/dashboard/tickets/${tid}?before=${note}`);
    expect(JSON.stringify(around.body)).not.toContain(planted);
    const kept = await sql<{ place: string }>(
      product,
      `select 'journal' as place from journal where data::text like $1
       union all select 'mails' from mails m where m::text like $1
       union all select 'jobs' from jobs j where j::text like $1
       union all select 'answers' from idempotency_keys k where k::text like $1`,
      `%${planted}%`,
    );
    expect(kept).toEqual([]);
    const words = await sql<{ words: string }>(
      product,
      `select words::text from ticket_words where words::text like $1`,
      `%${planted}%`,
    );
    expect(words.map((row) => row.words.match(/'[^']*zwetschgen[^']*'/g))).toEqual([[`'s:${planted}'`]]);
  });
});

describe('a change', () => changes.leaveEntries(() => product, ['assignTicket']));
