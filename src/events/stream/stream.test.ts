import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, newMember, newStaff, type Person, signedIn } from '../../../test/people.ts';
import { putPoints } from '../../../test/points.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { type EventStream, openStream } from '../../../test/stream.ts';
import { allRoutes } from '../../api.ts';
import { shownBy, subjectOf } from '../../heardByStaff.ts';
import { listRoutes } from '../../platform/http/index.ts';
import { dropSsh } from '../../shield/testbed.ts';
import { allEvents } from '../event.ts';
import { type Data, recordPaid } from './testbed.ts';

let product: TestProduct;
let owner: Person;
beforeAll(async () => {
  product = await startTestProduct({ env: { EVENT_STREAMS: '3' } });
  owner = await newCustomer(product, { creditMinor: 50_000 });
});
afterAll(() => product.stop());

const opened: EventStream[] = [];
afterEach(() => {
  for (const stream of opened.splice(0)) stream.close();
});

async function follow(
  who: { key?: string; organizationId?: number },
  headers: Record<string, string> = {},
  query = '',
): Promise<EventStream> {
  const identity: Record<string, string> = {};
  if (who.key !== undefined) identity.token = who.key;
  if (who.organizationId !== undefined) identity['x-organization-id'] = String(who.organizationId);
  const path = who.organizationId === undefined && query === '' ? '/staff/events' : '/dashboard/events';
  const stream = await openStream(`${product.url}/api${path}${query}`, { ...identity, ...headers });
  opened.push(stream);
  return stream;
}

const pay = (data: Partial<Data> = {}, options: Parameters<typeof recordPaid>[3] = {}) =>
  recordPaid(product, owner.organizationId, data, options);
const totals = ({ events }: EventStream) => events.map(({ data }) => data.data.total);
const soon = { timeout: 4_000, interval: 10 };

describe('a stream of events', () => {
  it('tells what happens in the organization, and nothing of others or of the house', async () => {
    const stream = await follow(owner);
    await recordPaid(product, (await newCustomer(product)).organizationId, { total: '9.99' });
    await sql(
      product,
      `insert into journal (organization_id, action, subject_type, subject_id, actor_type, data, created_at)
       values ($1, 'api_key.created', 'api_key', 1, 'system', '{"name": "planted"}', now())`,
      owner.organizationId,
    );
    await pay({ total: '1.00' });
    await expect.poll(() => stream.events, soon).toHaveLength(1);
    const [event] = stream.events;
    expect(event).toEqual({
      id: expect.stringMatching(/^\d+$/),
      event: 'invoice.paid',
      data: {
        ...{ id: Number(event?.id), type: 'invoice.paid', timestamp: expect.stringMatching(/Z$/) },
        data: {
          ...{ organization_id: owner.organizationId, subject: { type: 'invoice', id: 7 } },
          ...{ kind: 'order', method: 'credit', currency: 'EUR', total: '1.00' },
        },
      },
    });
  });

  it('goes by the permissions of whoever reads it', async () => {
    const technical = await newMember(product, owner.organizationId, 'technical');
    const [theirs, own] = [await follow(technical), await follow(owner)];
    await pay({ total: '2.00' });
    await owner.post(`/dashboard/organizations/${owner.organizationId}/invitations`, {
      ...{ email: 'someone@example.com', role: 'viewer' },
    });
    await runningVps(product, owner);
    const names = () => theirs.events.map(({ event }) => event);
    await expect.poll(names, { timeout: 20_000 }).toContain('vps.action.succeeded');
    expect(names().filter((name) => /^(invoice|member)/.test(name))).toEqual([]);
    expect(own.events.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['member.invited', 'invoice.created', 'service.provisioned', ...names()]),
    );
  });

  it('is opened by a cookie and ?organization_id=, and never for two organizations at once', async () => {
    const session = await signedIn(product, owner);
    const query = `?organization_id=${owner.organizationId}`;
    const stream = await follow({}, { cookie: session.cookie }, query);
    await pay({ total: '3.00' });
    await expect.poll(() => totals(stream), soon).toEqual(['3.00']);
    const other = { 'x-organization-id': String(owner.organizationId + 1) };
    await expect(follow({ key: owner.key }, other, query)).rejects.toThrow('400');
    await expect(follow({ key: owner.key }, {}, '?organization_id=x')).rejects.toThrow('400');
    const stranger = await newCustomer(product);
    await expect(follow({ key: stranger.key }, {}, query)).rejects.toThrow('403');
  });

  it('ends for a member who is removed, a key that is revoked and a session that is ended', async () => {
    const member = await newMember(product, owner.organizationId, 'billing');
    const removed = await follow(member);
    await owner.delete(`/dashboard/organizations/${owner.organizationId}/members/${member.userId}`);
    await removed.ended;

    const session = await signedIn(product, owner);
    const bySession = await follow({ key: session.token, organizationId: owner.organizationId });
    await session.post('/auth/logout');
    await bySession.ended;

    // Past the product, as another process would do it: at the next event nothing is sent any more.
    const other = await newMember(product, owner.organizationId, 'admin');
    const byKey = await follow(other);
    await sql(product, 'update api_keys set revoked_at = now() where user_id = $1', other.userId);
    product.clock.travel(2_000);
    await pay({ total: '4.00' });
    await byKey.ended;
    expect([...removed.events, ...byKey.events]).toEqual([]);
  });

  it('does not keep a session from ending', async () => {
    const session = await signedIn(product, owner);
    await follow({ key: session.token, organizationId: owner.organizationId });
    const [before] = await sql<{ at: string }>(
      product,
      'select last_seen_at::text as at from sessions where id = $1',
      session.sessionId,
    );
    product.clock.travel(600_000);
    await pay();
    await expect.poll(() => opened.at(-1)?.events.length, soon).toBe(1);
    const [after] = await sql<{ at: string }>(
      product,
      'select last_seen_at::text as at from sessions where id = $1',
      session.sessionId,
    );
    expect(after).toEqual(before);
  });

  it('goes on after Last-Event-ID: nothing lost, nothing twice, however many were missed', async () => {
    const first = await follow(owner);
    await pay({ total: '5.00' });
    await expect.poll(() => totals(first), soon).toEqual(['5.00']);
    const lastId = first.lastId();
    first.close();
    const missed = Array.from({ length: 450 }, (_, nth) => `6.${String(nth).padStart(3, '0')}`);
    await recordPaid(product, owner.organizationId, { total: missed }, {});
    const second = await follow(owner, { 'last-event-id': lastId });
    const writing = pay({ total: '7.00' });
    await expect.poll(() => totals(second).length, { timeout: 10_000 }).toBe(451);
    await writing;
    expect(totals(second)).toEqual([...missed, '7.00']);
    const ids = second.events.map(({ id }) => Number(id));
    expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
  });

  it('begins with a position, from which a client goes on that got no event yet', async () => {
    const first = await follow(owner);
    await expect.poll(() => first.lastId(), soon).toMatch(/^\d+$/);
    first.close();
    await pay({ total: '8.00' });
    const second = await follow(owner, { 'last-event-id': first.lastId() });
    await expect.poll(() => totals(second), soon).toEqual(['8.00']);
  });

  it('begins after what its caller read, where they say so in the address', async () => {
    const { body } = await owner.get('/dashboard/account');
    await pay({ total: '8.50' });
    const stream = await follow(owner, {}, `?after=${body.data.events_position}`);
    await expect.poll(() => totals(stream), soon).toContain('8.50');
    // Who comes back has got further than the address says.
    const lastId = stream.lastId();
    stream.close();
    await pay({ total: '8.75' });
    const again = await follow(owner, { 'last-event-id': lastId }, `?after=${body.data.events_position}`);
    await expect.poll(() => totals(again), soon).toEqual(['8.75']);
  });

  it('begins so early that what was read two seconds before the position misses nothing either', async () => {
    await pay({ total: '8.90' });
    // A transaction takes five at most from its entry to its end.
    product.clock.travel(6_900);
    const { body } = await owner.get('/dashboard/account');
    const stream = await follow(owner, {}, `?after=${body.data.events_position}`);
    await expect.poll(() => totals(stream), soon).toContain('8.90');
  });

  it('loses nothing of transactions that commit in another order than they began', async () => {
    const stream = await follow(owner);
    const slow = pay({ total: 'slow' }, { holdMs: 500 });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await pay({ total: 'quick' });
    await slow;
    await expect.poll(() => totals(stream), soon).toEqual(['slow', 'quick']);
  });

  it('waits for no transaction that records nothing, however long it runs', async () => {
    const stream = await follow(owner);
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const long = pay({}, { records: false, until: finished });
    await pay({ total: 'undone' }, { undo: true }); // leaves a gap, so that it is asked who writes
    await pay({ total: 'kept' });
    await expect.poll(() => totals(stream), soon).toEqual(['kept']);
    finish();
    await long;
  });

  it('says `reset` to who missed what is not kept, or has seen what is not there', async () => {
    const stream = await follow(owner);
    await pay();
    await expect.poll(() => stream.events, soon).toHaveLength(1);
    const last = Number(stream.lastId());
    const ahead = await follow(owner, { 'last-event-id': String(last + 1_000_000) });
    await expect.poll(() => ahead.events[0]?.event, soon).toBe('reset');
    await sql(product, 'update journal_horizon set removed_through = $1', last);
    const behind = await follow(owner, { 'last-event-id': String(last - 1) });
    await expect.poll(() => behind.events[0]?.event, soon).toBe('reset');
    await sql(product, 'update journal_horizon set removed_through = 0');
    expect(behind.events[0]).toMatchObject({ data: { reason: expect.stringContaining('read anew') } });
  });

  it('is one of a few of a person, and room is made when one closes', async () => {
    const [first] = [await follow(owner), await follow(owner), await follow(owner)];
    await expect(follow(owner)).rejects.toThrow('429');
    first.close();
    await expect
      .poll(
        () =>
          follow(owner).then(
            () => true,
            () => false,
          ),
        soon,
      )
      .toBe(true);
  });

  it.each(['nonsense', '-1', '1.5', '9'.repeat(20)])('refuses the Last-Event-ID %s', async (id) => {
    await expect(follow(owner, { 'last-event-id': id })).rejects.toThrow(/400.*Last-Event-ID/);
  });

  it('cuts off who does not read, and goes on for others', async () => {
    const [deaf, other] = [await follow(owner), await follow(owner)];
    deaf.stall();
    const long = 'x'.repeat(100_000);
    for (let nth = 0; nth < 120 && !deaf.isEnded(); nth += 1) await pay({ total: `${nth}`, method: long });
    await expect.poll(() => other.events.length, { timeout: 10_000 }).toBe(120);
    // Three is the most: there is room for two more only once the deaf one has gone.
    await follow(owner);
    const hasRoom = () =>
      follow(owner).then(
        () => true,
        () => false,
      );
    await expect.poll(hasRoom).toBe(true);
  });

  it('brings the newest samples of a machine to who watches it, and of no other', async () => {
    const { serviceId } = await runningVps(product, owner);
    const stream = await follow(owner, {}, `?watch=vps:${serviceId}`);
    await putPoints(product, {
      ...{ serviceId, organizationId: owner.organizationId, times: [product.clock.now()] },
      ...{ cpu: 12.5, netout: 6 },
    });
    const samples = () => stream.events.filter(({ event }) => event === 'vps.sample');
    await expect.poll(() => samples().length).toBeGreaterThan(0);
    expect(samples().find(({ data }) => data.sample.cpu === 12.5)).toMatchObject({
      ...{ id: null, data: { subject: { type: 'vps', id: serviceId }, sample: { mem: 1, netout: 6 } } },
    });
    const stranger = await newCustomer(product);
    await expect(follow(stranger, {}, `?watch=vps:${serviceId}`)).rejects.toThrow('403');
    await expect(follow(owner, {}, '?watch=vps:4242')).rejects.toThrow('404');
    await expect(follow(owner, {}, '?watch=node:1')).rejects.toThrow('400');
  });
});

describe("staff's stream", () => {
  it('tells administrators everything', async () => {
    const stream = await follow({ key: product.demo.staff.api_key });
    await pay({ total: '11.00' });
    await product.staff.patch('/staff/settings/company', { name: 'Ours' });
    const paid = () => stream.events.find(({ data }) => data.data.total === '11.00');
    await expect.poll(paid, soon).toMatchObject({ data: { data: { user_id: null } } });
    await expect(follow({ key: owner.key })).rejects.toThrow('403');
  });

  it('tells every other role what happened to what it may read, and nothing else', async () => {
    const [support, operator] = [
      await follow(await newStaff(product, 'support')),
      await follow(await newStaff(product, 'operator')),
    ];
    await pay({ total: '12.00' });
    await product.staff.patch('/staff/settings/company', { name: 'Theirs' });
    await owner.post('/dashboard/tickets/create', {
      ...{
        subject: 'For their eyes alone',
        department: 'support',
        priority: 'low',
        message: 'Is anybody there?',
      },
    });
    const names = ({ events }: EventStream) => events.map(({ event }) => event);
    for (const stream of [support, operator])
      await expect.poll(() => names(stream), soon).toContain('ticket.created');
    expect(names(support)).toContain('invoice.paid');
    expect(names(support)).not.toContain('settings.changed');
    expect(support.events.find(({ event }) => event === 'invoice.paid')?.data.data).toEqual({
      ...{ organization_id: owner.organizationId, subject: { type: 'invoice', id: 7 } },
    });
    expect(names(operator)).not.toContain('invoice.paid');
    expect(names(operator)).not.toContain('settings.changed');
    expect(JSON.stringify([support.events, operator.events])).not.toContain('For their eyes alone');
  });

  it('tells of packets those who have to do with them, and of what filters those who run it', async () => {
    const roles = ['billing', 'support', 'operator'] as const;
    const [billing, support, operator] = await Promise.all(
      roles.map(async (role) => follow(await newStaff(product, role))),
    );
    const { serviceId } = await runningVps(product, owner);
    const { ips } = (await owner.get('/shield/v2/ips')).body.data;
    const of = ips.find((each: { service_id: number }) => each.service_id === serviceId);
    expect((await owner.post('/shield/v2/rules', dropSsh(of.address))).status).toBe(200);
    const sold = `/staff/shield/products/${product.demo.products.vps}`;
    expect((await product.staff.patch(sold, { mode: 'enabled' })).status).toBe(200);
    // Comes after both, and is for all of them.
    await owner.post('/dashboard/tickets/create', {
      ...{ subject: 'After that', department: 'billing', priority: 'low', message: 'Is anybody there?' },
    });
    const heard = async (stream: EventStream | undefined) => {
      const names = () => stream?.events.map(({ event }) => event) ?? [];
      await expect.poll(names, soon).toContain('ticket.created');
      return names().filter((name) => name.startsWith('shield.'));
    };
    expect(await heard(billing)).toEqual([]);
    expect(await heard(support)).toEqual(['shield.rule.created']);
    expect(await heard(operator)).toEqual(['shield.rule.created', 'shield.product.changed']);
  });

  it('knows for every event by which operation staff is shown what it is about', () => {
    const words = new Set(
      allEvents()
        .filter(({ name }) => !name.startsWith('test.'))
        .map(({ name }) => subjectOf(name)),
    );
    expect(Object.keys(shownBy).toSorted()).toEqual([...words].toSorted());
    const staffs = listRoutes(allRoutes).filter(({ auth }) => auth === 'staff');
    const known = new Set(staffs.map(({ operation }) => operation));
    expect(Object.values(shownBy).filter((operation) => !known.has(operation))).toEqual([]);
  });
});
