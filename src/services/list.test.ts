import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';

let product: TestProduct;
let customer: Person;

/** In the order in which they were bought. */
const names = [
  ...['web1.example.com', 'WEB2.example.com', 'db1.example.com', 'mail.shop.example', 'shop.example', null],
  ...['web10.other.test', 'xn--bcher-kva.example', 'localhost', 'shop.shop.test'],
];

beforeAll(async () => {
  product = await startTestProduct();
  customer = await newCustomer(product);
  const other = await newCustomer(product);
  await fill(customer, names, 1_000);
  await fill(other, ['web1.elsewhere.test'], 2_000);
});
afterAll(() => product.stop());

async function fill(person: Person, domains: (string | null)[], firstId: number): Promise<void> {
  await sql(
    product,
    `insert into services (id, organization_id, position, user_id, product_id, invoice_id, status, provisioning_state,
       domain, cycle, currency, first_price_minor, price_minor, options, holds_stock, created_at)
     select $1::bigint + n, $2, n, $3, (select min(id) from products), 1, case when n % 2 = 0 then 'active' else 'suspended' end,
       'done', domain, 'monthly', 'EUR', 400, 400, '{}', false, now()
     from unnest($4::text[]) with ordinality as d(domain, n)`,
    ...[firstId, person.organizationId, person.userId, domains],
  );
}

interface Page {
  services: { domain: string | null }[];
  total: number;
  next_cursor: string | null;
}

async function list(query: Record<string, string | number>): Promise<Page> {
  const text = new URLSearchParams(
    Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
  );
  return (await customer.get(`/dashboard/services?${text}`)).body.data;
}

const domainsOf = (page: Page) => page.services.map((service) => service.domain);

/** All of a list, in pieces of two, by page and by cursor. */
async function whole(query: Record<string, string>): Promise<(string | null)[][]> {
  const { total } = await list(query);
  const byPage: (string | null)[] = [];
  for (let page = 1; page <= Math.ceil(total / 2); page += 1)
    byPage.push(...domainsOf(await list({ ...query, page, limit: 2 })));
  const byCursor: (string | null)[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await list({ ...query, limit: 2, ...(cursor === null ? {} : { cursor }) });
    byCursor.push(...domainsOf(page));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return [byPage, byCursor];
}

describe('the list of services', () => {
  it.each([
    ['newest first', {}, names.toReversed()],
    ['newest first when asked for', { sort: '-created_at' }, names.toReversed()],
    ['oldest first', { sort: 'created_at' }, names],
    [
      'of one state, oldest first',
      { sort: 'created_at', status: 'active' },
      names.filter((_, n) => n % 2 === 1),
    ],
  ])('is the same by page and by cursor: %s', async (_, query, expected) => {
    expect(await whole(query)).toEqual([expected, expected]);
    expect(await list(query)).toMatchObject({ total: expected.length });
  });

  it.each([
    ['web', ['web1.example.com', 'web10.other.test', 'WEB2.example.com']],
    ['WEB1', ['web1.example.com', 'web10.other.test']],
    ['web1.', ['web1.example.com']],
    ['example.', ['web1.example.com', 'WEB2.example.com', 'db1.example.com']],
    ['shop', ['mail.shop.example', 'shop.example', 'shop.shop.test']],
    ['localhost', ['localhost']],
    ['xn--', ['xn--bcher-kva.example']],
  ])(
    'finds names by the beginning of the whole, or of what follows the first label: %s',
    async (search, expected) => {
      expect(await whole({ search })).toEqual([expected, expected]);
      expect(await list({ search })).toMatchObject({ total: expected.length });
    },
  );

  it.each(['%', '_', 'eb1', 'com', '\\', "'", 'web1.elsewhere', '\u{10ffff}'])(
    "finds nothing by %s: neither patterns, nor middles, nor what is another's",
    async (search) => {
      expect(await list({ search })).toMatchObject({ services: [], total: 0, next_cursor: null });
    },
  );

  it('goes to its end by cursor whatever the script of a note, and finds it by its capitals and its small letters', async () => {
    const person = await newCustomer(product);
    await fill(person, [null, null, null, null], 4_000);
    const notes = ['İzmir one', 'İzmir two', 'ΟΔΟΣ', 'ΟΔΟΣ two'];
    for (const [index, note] of notes.entries()) {
      const { status } = await person.patch(`/dashboard/services/${4_001 + index}/note`, { note });
      expect(status).toBe(200);
    }
    const found = async (search: string) => {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const query: string = new URLSearchParams({
          search,
          limit: '1',
          ...(cursor && { cursor }),
        }).toString();
        const { services, next_cursor }: { services: { note: string }[]; next_cursor: string | null } = (
          await person.get(`/dashboard/services?${query}`)
        ).body.data;
        seen.push(...services.map(({ note }) => note));
        cursor = next_cursor;
      } while (cursor !== null && seen.length <= notes.length);
      return seen;
    };
    expect(await found('İzmir')).toEqual(['İzmir one', 'İzmir two']);
    expect(await found('ΟΔΟΣ')).toEqual(['ΟΔΟΣ', 'ΟΔΟΣ two']);
    expect(await found('οδοσ')).toEqual(['ΟΔΟΣ', 'ΟΔΟΣ two']);
  });

  it('finds what begins so in a note or has a whole address, also without a name, and nothing of another organization', async () => {
    const note = (position: number, text: string | null) =>
      customer.patch(`/dashboard/services/${1_000 + position}/note`, { note: text });
    for (const [position, text] of [
      [6, 'Übungen der Schule'],
      [3, 'übung für Web'],
      [1, 'web front'],
      [9, `${'long '.repeat(60)}end`],
    ] as const)
      expect((await note(position, text)).status).toBe(200);
    expect(await whole({ search: 'ÜBUNG' })).toEqual([
      ['db1.example.com', null],
      ['db1.example.com', null],
    ]);
    // By name and by note at once, it is found once.
    expect((await list({ search: 'web' })).total).toBe(3);
    expect(domainsOf(await list({ search: 'long long' }))).toEqual(['localhost']);
    expect(domainsOf(await list({ search: 'front' }))).toEqual([]);
    const [mine, theirs] = ['203.0.113.200', '203.0.113.201'];
    for (const [address, serviceId] of [
      [mine, 1_003],
      [theirs, 2_001],
    ])
      await sql(
        product,
        `insert into addresses (address, pool_id, service_id, organization_id, ordinal, state)
         select $1, min(id), $2, (select organization_id from services where id = $2), 0, 'taken' from address_pools`,
        ...[address, serviceId],
      );
    expect(domainsOf(await list({ search: mine }))).toEqual(['db1.example.com']);
    expect(domainsOf(await list({ search: theirs }))).toEqual([]);
  });

  it('finds within a filter', async () => {
    expect(domainsOf(await list({ search: 'web', status: 'active' }))).toEqual(['WEB2.example.com']);
  });

  it('refuses an order that it does not have, and a cursor of another order', async () => {
    expect((await customer.get('/dashboard/services?sort=price')).status).toBe(400);
    const { next_cursor: cursor } = await list({ search: 'web', limit: 1 });
    const { status, body } = await customer.get(`/dashboard/services?cursor=${cursor}`);
    expect([status, body.code]).toEqual([400, 'invalid_cursor']);
  });
});
