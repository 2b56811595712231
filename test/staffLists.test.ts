/** What staff finds: every organization, person, invoice, service and product, in order, by page, filter and search. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from './invoices.ts';
import { orderVps, runningVps } from './orders.ts';
import { newCustomer, newMember, newStaff, type Person } from './people.ts';
import { startTestProduct, type TestProduct } from './product.ts';
import { sql } from './sql.ts';

let product: TestProduct;
let owner: Person;
let machine: { serviceId: number; invoiceId: number };

beforeAll(async () => {
  product = await startTestProduct();
  owner = await newCustomer(product, { creditMinor: 50_000 });
  await sql(
    product,
    'update organizations set name = $2 where id = $1',
    owner.organizationId,
    'ÜNÏCODE & Söhne',
  );
  await sql(
    product,
    `update users set first_name = 'Ödön', last_name = 'von Horváth' where id = $1`,
    owner.userId,
  );
  machine = await runningVps(product, owner);
});
afterAll(() => product.stop());

type Row = Record<string, unknown> & { id: number };

/** What staff finds at a path, and the answer's place in the list. */
async function find(
  path: string,
  plural: string,
  query: Record<string, string | number> = {},
): Promise<{ rows: Row[]; total: number; next_cursor: string | null }> {
  const text = new URLSearchParams(
    Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
  );
  const { status, body } = await product.staff.get(`/staff/${path}?${text}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return { ...body.data, rows: body.data[plural] as Row[] };
}
const ids = (found: { rows: Row[] }) => found.rows.map(({ id }) => id);

/** Goes through a list by its cursor. */
async function walk(path: string, query: Record<string, string | number>): Promise<number[]> {
  const seen: number[] = [];
  for (let cursor: Record<string, string> = {}; ; ) {
    const found = await find(path, path, { ...query, ...cursor, limit: 2 });
    seen.push(...ids(found));
    if (found.next_cursor === null) return seen;
    cursor = { cursor: String(found.next_cursor) };
  }
}

describe.each(['organizations', 'users', 'invoices', 'services', 'products'])('the list of %s', (path) => {
  it('goes by page and by cursor through the same rows, in both directions', async () => {
    for (let made = 0; made < 4; made += 1) {
      const person = await newCustomer(product);
      await orderVps(product, person);
    }
    const sort = path === 'products' ? 'id' : 'created_at';
    const all = await find(path, path, { sort, limit: 100 });
    expect(all.total).toBe(all.rows.length);
    expect(all.rows.length).toBeGreaterThan(3);
    expect(await walk(path, { sort })).toEqual(ids(all));
    expect(await walk(path, { sort: `-${sort}` })).toEqual(ids(all).toReversed());
    const second = await find(path, path, { sort, limit: 2, page: 2 });
    expect(ids(second)).toEqual(ids(all).slice(2, 4));
  });

  it('answers one of them as it lists it, and 404 for an id that nothing has', async () => {
    const [row] = (await find(path, path, { limit: 1 })).rows;
    const one = await product.staff.get(`/staff/${path}/${row?.id}`);
    expect(one.body.data[path.slice(0, -1)]).toEqual(row);
    expect((await product.staff.get(`/staff/${path}/4242`)).status).toBe(404);
  });

  it('shows no secret', async () => {
    const text = JSON.stringify((await find(path, path, { limit: 100 })).rows);
    expect(text).not.toMatch(/password|hash|secret|sealed|ink_/i);
  });
});

describe('what staff searches for', () => {
  it('are organizations by their name, in whatever letters', async () => {
    for (const search of ['Ünïcode', 'ÜNÏCODE & S', 'ünïcode & söhne'])
      expect(ids(await find('organizations', 'organizations', { search }))).toEqual([owner.organizationId]);
    expect((await find('organizations', 'organizations', { search: 'Söhne' })).rows).toEqual([]);
    const many = await find('organizations', 'organizations', { search: 'a comp', limit: 2 });
    expect(many.total).toBeGreaterThan(4);
    const walked = await walk('organizations', { search: 'a comp' });
    expect(new Set(walked).size).toBe(many.total);
    expect(walked).toHaveLength(many.total);
  });

  it('are people by address, last name and whole name', async () => {
    for (const search of [owner.email, owner.email.toUpperCase(), 'VON hor', 'ödön von', 'Ödön'])
      expect(ids(await find('users', 'users', { search })), search).toEqual([owner.userId]);
    const walked = await walk('users', { search: 'test' });
    expect(new Set(walked).size).toBe(walked.length);
    expect(walked.length).toBeGreaterThan(3);
  });

  it('are invoices by their number', async () => {
    const invoice = await newInvoice(product, owner);
    await payByCredit(owner, invoice);
    const { number } = (await product.staff.get(`/staff/invoices/${invoice}`)).body.data.invoice;
    const found = await find('invoices', 'invoices', { search: number });
    expect(ids(found)).toContain(invoice);
    expect((await find('invoices', 'invoices', { search: '999' })).rows).toEqual([]);
    await product.staff.patch('/staff/settings', { numbering: { prefix: 'INV-' } });
    const named = await newInvoice(product, owner);
    await payByCredit(owner, named);
    const filters: Record<string, string | number>[] = [
      {},
      { status: 'paid' },
      { organization_id: owner.organizationId },
    ];
    for (const search of ['INV-', 'inv-2'])
      for (const more of filters)
        expect(ids(await find('invoices', 'invoices', { search, ...more })), search).toEqual([named]);
    await product.staff.patch('/staff/settings', { numbering: { prefix: '' } });
  });

  it('are services by name, by the name behind its first label, and by their whole address', async () => {
    await sql(
      product,
      `update services set domain = 'mail.Horvath.example' where id = $1`,
      machine.serviceId,
    );
    const service = (await product.staff.get(`/staff/services/${machine.serviceId}`)).body.data.service;
    expect(service.organization).toEqual({ id: owner.organizationId, name: 'ÜNÏCODE & Söhne' });
    for (const search of ['mail.hor', 'HORVATH', service.primary_ip])
      expect(ids(await find('services', 'services', { search })), search).toEqual([machine.serviceId]);
    for (const search of ['203.0.113.77', '2001:db8::77', 'orvath'])
      expect((await find('services', 'services', { search })).rows, search).toEqual([]);
    const elsewhere = { search: service.primary_ip, organization_id: product.demo.customer.organization_id };
    expect((await find('services', 'services', elsewhere)).rows).toEqual([]);
  });

  it('are products by their name', async () => {
    const { rows } = await find('products', 'products', { sort: 'name' });
    const [first] = rows;
    const name = String(first?.name);
    expect(ids(await find('products', 'products', { search: name.toUpperCase() }))).toContain(first?.id);
  });
});

describe('staff filters', () => {
  it('invoices and services by state and by organization', async () => {
    const of = { organization_id: owner.organizationId };
    for (const path of ['invoices', 'services']) {
      const theirs = await find(path, path, of);
      expect(theirs.rows.length).toBeGreaterThan(0);
      expect(theirs.rows.every(({ organization }) => (organization as Row).id === owner.organizationId)).toBe(
        true,
      );
      expect(await walk(path, { ...of, sort: 'created_at' })).toEqual(ids(theirs).toReversed());
      const status = path === 'invoices' ? 'unpaid' : 'pending';
      const waiting = await find(path, path, { status, limit: 100 });
      expect(waiting.rows.every((row) => row.status === status)).toBe(true);
      expect(ids(waiting).toSorted()).toEqual((await walk(path, { status })).toSorted());
      expect(await walk(path, { ...of, status: 'cancelled' })).toEqual([]);
      expect((await find(path, path, { organization_id: 4242 })).rows).toEqual([]);
    }
  });

  it('people by organization, status and role of staff, and organizations by person', async () => {
    const member = await newMember(product, owner.organizationId, 'viewer');
    const of = { organization_id: owner.organizationId };
    expect(ids(await find('users', 'users', of)).toSorted()).toEqual(
      [owner.userId, member.userId].toSorted(),
    );
    expect(ids(await find('organizations', 'organizations', { user_id: member.userId }))).toEqual([
      owner.organizationId,
    ]);
    await sql(product, `update users set status = 'blocked' where id = $1`, member.userId);
    expect(ids(await find('users', 'users', { ...of, status: 'blocked' }))).toEqual([member.userId]);
    await newStaff(product, 'support');
    const support = await find('users', 'users', { staff_role: 'support', sort: 'email' });
    expect(support.rows.map((row) => row.staff_role)).toEqual(['support']);
  });

  it('products by status, and lists what is hidden', async () => {
    const [row] = (await find('products', 'products')).rows;
    await product.staff.patch(`/staff/products/${row?.id}`, { status: 'hidden' });
    expect(ids(await find('products', 'products', { status: 'hidden' }))).toEqual([row?.id]);
    expect(ids(await find('products', 'products'))).toContain(row?.id);
  });

  it.each([
    ['users', 'status=sleeping'],
    ['invoices', 'status=active'],
    ['services', 'organization_id=x'],
    ['products', 'search='],
    ['organizations', 'sort=members_count'],
    ['services', 'colour=red'],
  ])('%s?%s are refused', async (path, query) => {
    expect((await product.staff.get(`/staff/${path}?${query}`)).status).toBe(400);
  });
});
