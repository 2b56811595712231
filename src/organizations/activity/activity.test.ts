import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, newMember, type Person, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { allEvents } from '../../events/index.ts';

let product: TestProduct;
let owner: Person;
let serviceId: number;
let invoiceId: number;
beforeAll(async () => {
  product = await startTestProduct();
  owner = await newCustomer(product, { creditMinor: 50_000 });
  ({ serviceId, invoiceId } = await runningVps(product, owner));
});
afterAll(() => product.stop());

type Entry = Record<'id' | 'action' | 'created_at', string | number> & Record<string, unknown>;
const path = () => `/dashboard/organizations/${owner.organizationId}/activity`;

async function activity(query: Record<string, string | number> = {}): Promise<Entry[]> {
  await settled(product);
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const { status, body } = await owner.get(`${path()}?${search}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.activity;
}

describe('the activity of an organization', () => {
  it('tells who did what, from where and with which key', async () => {
    const [entry] = await activity({ action: 'invoice_paid' });
    expect(entry).toMatchObject({
      ...{ action: 'invoice_paid', description: 'An invoice was paid', admin: null, ip: '127.0.0.1' },
      user: { id: owner.userId, first_name: 'Test', last_name: 'Person', email: owner.email },
      api_key: { name: 'Test', key: expect.stringMatching(/^.{4,}…$/) },
      ...{ subject: { type: 'invoice', id: invoiceId }, invoice: { id: invoiceId }, service: null },
      // What webhooks tell of it, and no more: whom a mail goes to is not among it.
      values: { kind: 'order', currency: 'EUR', total: expect.stringMatching(/^\d+\.\d\d$/) },
    });
    expect(entry?.values).not.toHaveProperty('user_id');
    const session = await signedIn(product, owner);
    await session.patch(`/dashboard/services/${serviceId}/note`, { note: 'mine' });
    const [newest] = await activity({ user_id: owner.userId });
    expect(newest).toMatchObject({ user: { id: owner.userId }, api_key: null, service: { id: serviceId } });
  });

  it('tells what staff did by name, and not from where; and what happened by itself', async () => {
    await product.staff.post(`/staff/organizations/${owner.organizationId}/credit`, {
      ...{ amount: '1.00', currency: 'EUR', description: 'Sorry' },
    });
    await product.staff.post(`/staff/services/${serviceId}/suspend`, { reason: 'abuse' });
    const [entry] = await activity({ action: 'service_suspended' });
    expect(entry).toMatchObject({ user: null, api_key: null, ip: null, service: { id: serviceId } });
    expect(entry?.admin).toMatchObject({ last_name: expect.any(String) });
    expect(entry?.admin).not.toHaveProperty('email');
    await product.staff.post(`/staff/services/${serviceId}/unsuspend`);
    const [delivered] = await activity({ action: 'service_provisioned' });
    expect(delivered).toMatchObject({ user: null, admin: null, api_key: null, ip: null });
  });

  it.each(['created_at', '-created_at'])(
    'is whole by its cursors, sorted by %s, between two times too',
    async (sort) => {
      const newest = await activity({ limit: 100 });
      const [first, last] = [newest.at(-2), newest[1]].map((entry) => String(entry?.created_at));
      const between: Record<string, string> = { since: first ?? '', until: last ?? '' };
      for (const times of [{}, between]) {
        const all = await activity({ limit: 100, sort, ...times });
        expect(all.length).toBeGreaterThan(3);
        const walked: Entry[] = [];
        let cursor: string | null = '';
        while (cursor !== null) {
          const query = new URLSearchParams({
            limit: '2',
            sort,
            ...times,
            ...(cursor && { cursor }),
          });
          const { body } = await owner.get(`${path()}?${query}`);
          walked.push(...body.data.activity);
          cursor = body.data.next_cursor;
        }
        expect(walked).toEqual(all);
      }
    },
  );

  it.each(['created_at', '-created_at'])(
    'goes on after the last moment that there is, sorted by %s, as a cursor made by hand says',
    async (sort) => {
      for (const moment of ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999999Z']) {
        const cursor = Buffer.from(JSON.stringify([moment, 1])).toString('base64url');
        const { status, body } = await owner.get(`${path()}?sort=${sort}&cursor=${cursor}`);
        expect([status, body.data?.activity.length > 0], moment).toEqual([200, sort === '-created_at']);
      }
    },
  );

  it('is filtered by action, person, subject and time, and by all of them together', async () => {
    const member = await newMember(product, owner.organizationId, 'technical');
    product.clock.travel(3_600_000);
    const since = product.clock.now().toISOString();
    await member.patch(`/dashboard/services/${serviceId}/note`, { note: 'theirs' });
    product.clock.travel(60_000);
    const until = product.clock.now().toISOString();
    await owner.patch(`/dashboard/services/${serviceId}/note`, { note: 'mine again' });

    const all = await activity({ limit: 100 });
    const theirs = await activity({ user_id: member.userId });
    expect(theirs).toEqual(all.filter(({ user }) => (user as { id: number } | null)?.id === member.userId));
    expect(theirs.length).toBe(1);
    const subject = `service:${serviceId}`;
    expect(await activity({ subject, limit: 100 })).toEqual(
      all.filter(({ service }) => (service as { id: number } | null)?.id === serviceId),
    );
    expect(await activity({ since, until })).toEqual(theirs);
    const action = String(theirs[0]?.action);
    expect(await activity({ action, user_id: member.userId, subject, since, until })).toEqual(theirs);
    expect(await activity({ action, user_id: member.userId, subject, until: since })).toEqual([]);
    expect(await activity({ action: 'nothing_such' })).toEqual([]);
    expect(await activity({ subject: `service:${Number.MAX_SAFE_INTEGER}` })).toEqual([]);
    for (const wrong of [
      'since=yesterday',
      'since=2026-02-31T99:00:00Z',
      'subject=service',
      'user_id=x',
      'x=1',
    ])
      expect((await owner.get(`${path()}?${wrong}`)).body.code, wrong).toBe('invalid_request');
  });

  it('goes on by cursor, each entry once, in both directions', async () => {
    for (const sort of ['-created_at', 'created_at']) {
      const whole = await activity({ limit: 100, sort });
      const seen: Entry[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const { data } = (await owner.get(`${path()}?limit=3&sort=${sort}${next}`)).body;
        seen.push(...data.activity);
        cursor = data.next_cursor;
      }
      expect(seen).toEqual(whole);
    }
  });

  it('is for owners and administrators, and shows nothing of others', async () => {
    for (const role of ['billing', 'technical', 'support', 'viewer'] as const) {
      const member = await newMember(product, owner.organizationId, role);
      expect((await member.get(path())).body.code, role).toBe('permission_denied');
    }
    const other = await newCustomer(product);
    const { data } = (await other.get(`/dashboard/organizations/${other.organizationId}/activity`)).body;
    expect(data.activity.map(({ action }: Entry) => action)).toEqual(['organization_created']);
  });

  it('calls each event by a name of its own', () => {
    const names = allEvents().map(({ name }) => name.replaceAll('.', '_'));
    expect(new Set(names).size).toBe(names.length);
  });

  // What is fast at a million entries reads a range of an index, whatever else there is.
  it.each([
    ['all', ''],
    ['one action', 'and t.action = $2'],
    ['one person', 'and t.user_id = $3'],
  ])('reads %s by an index that begins with the organization and ends in time', async (_, condition) => {
    await sql(
      product,
      `insert into journal (organization_id, action, subject_type, subject_id, actor_type, user_id, data, created_at)
       select $1, case when n % 500 = 0 then 'rare.thing' else 'usual.thing' end, 'thing', n, 'user', n % 300, '{}',
         timestamptz '2020-01-01' + n * interval '1 second' from generate_series(1, 20000) n`,
      product.demo.customer.organization_id,
    );
    await sql(product, 'analyze journal');
    const used = (condition.match(/\$\d/g) ?? []).map((at) => (at === '$2' ? "'rare.thing'" : '7'));
    const where = condition.replace(/\$\d/, used[0] ?? '');
    const rows = await sql<{ 'QUERY PLAN': string }>(
      product,
      `explain select t.id from journal t where t.organization_id = ${product.demo.customer.organization_id} ${where}
       order by t.created_at desc, t.id desc limit 26`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index (Only )?Scan Backward using journal_activity/);
    expect(plan).not.toMatch(/Sort|Seq Scan/);
  });
});
