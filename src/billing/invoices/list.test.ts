import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { encodeCursor } from '../../platform/http/index.ts';

let product: TestProduct;
let customer: Person;
/** Newest first. */
const all: number[] = [];
const paid: number[] = [];

beforeAll(async () => {
  product = await startTestProduct();
  customer = await newCustomer(product, { creditMinor: 100_000 });
  const other = await newCustomer(product);
  for (let count = 1; count <= 23; count += 1) {
    const id = await newInvoice(product, customer);
    all.unshift(id);
    if (count % 5 === 0) await newInvoice(product, other);
    if (count % 3 !== 0) continue;
    await payByCredit(customer, id);
    paid.unshift(id);
  }
});
afterAll(() => product.stop());

interface Page {
  invoices: { id: number; status: string }[];
  pages: number;
  current_page: number;
  entries: number;
  total: number;
  next_cursor: string | null;
}

async function list(query: Record<string, string | number>): Promise<Page> {
  const text = new URLSearchParams(
    Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
  );
  return (await customer.get(`/dashboard/invoices?${text}`)).body.data;
}

const idsOf = (page: Page) => page.invoices.map((invoice) => invoice.id);

describe('the list of invoices', () => {
  it('finds numbers by their beginning, in their order, and none of another organization', async () => {
    const numbered = (await list({ status: 'paid', limit: 100 })).invoices as unknown as { number: string }[];
    const numbers = numbered.map(({ number }) => number).sort();
    const [first = ''] = numbers;
    const found = await list({ search: first.slice(0, 5), limit: 3 });
    expect(found).toMatchObject({ total: paid.length, entries: 3 });
    expect(found.invoices.map((each) => (each as unknown as { number: string }).number)).toEqual(
      numbers.slice(0, 3),
    );
    const next = await list({ search: first.slice(0, 5), limit: 3, cursor: found.next_cursor ?? '' });
    expect(next.invoices.map((each) => (each as unknown as { number: string }).number)).toEqual(
      numbers.slice(3, 6),
    );
    expect((await list({ search: first.toLowerCase(), status: 'paid' })).total).toBe(1);
    expect((await list({ search: 'nothing' })).total).toBe(0);
    const stranger = await newCustomer(product);
    expect((await stranger.get(`/dashboard/invoices?search=${first}`)).body.data.total).toBe(0);
  });

  it.each([
    ['all', {}, all],
    ['paid ones', { status: 'paid' }, paid],
  ])('has the same entries by page and by cursor, newest first: %s', async (_, filter, expected) => {
    for (const limit of [1, 7, 23, 100]) {
      const byPage: number[] = [];
      for (let page = 1; page <= Math.ceil(expected.length / limit); page += 1) {
        const seen = await list({ ...filter, page, limit });
        expect(seen).toMatchObject({ current_page: page, total: expected.length });
        expect(seen.pages).toBe(Math.ceil(expected.length / limit));
        expect(seen.entries).toBe(seen.invoices.length);
        byPage.push(...idsOf(seen));
      }
      const byCursor: number[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const seen: Page = await list({ ...filter, limit, ...(cursor === '' ? {} : { cursor }) });
        byCursor.push(...idsOf(seen));
        cursor = seen.next_cursor;
      }
      expect([byPage, byCursor]).toEqual([expected, expected]);
    }
  });

  it('is 25 long when nobody says otherwise', async () => {
    expect(await list({})).toMatchObject({ entries: 23, pages: 1, current_page: 1, next_cursor: null });
  });

  it('is empty far behind its end, and says how long it is', async () => {
    expect(await list({ page: 1_000_000, limit: 100 })).toMatchObject({ entries: 0, total: 23, pages: 1 });
    expect(await list({ page: 3, status: 'paid' })).toMatchObject({ entries: 0, total: paid.length });
    expect(await list({ status: 'refunded' })).toMatchObject({ entries: 0, total: 0, pages: 0 });
  });

  it('shows what is new on the first page while somebody walks on by cursor', async () => {
    const first = await list({ limit: 10 });
    const added = await newInvoice(product, customer);
    const second = await list({ limit: 10, cursor: first.next_cursor ?? '' });
    expect(idsOf(second)).toEqual(all.slice(10, 20));
    expect(idsOf(await list({ limit: 1 }))).toEqual([added]);
    all.unshift(added);
  });

  it.each([
    ['page=0', 'invalid_request'],
    ['limit=0', 'invalid_request'],
    ['limit=101', 'invalid_request'],
    ['page=x', 'invalid_request'],
    ['page=1&page=2', 'invalid_request'],
    ['colour=red', 'invalid_request'],
    ['status=lost', 'invalid_request'],
    ['cursor=nonsense', 'invalid_cursor'],
    [`cursor=${encodeCursor(['x'])}`, 'invalid_cursor'],
    [`cursor=${encodeCursor([1, 2])}`, 'invalid_cursor'],
    ['status=paid&page=101&limit=100', 'page_too_deep'],
  ])('refuses ?%s', async (query, code) => {
    const answer = await customer.get(`/dashboard/invoices?${query}`);
    expect([answer.status, answer.body.code]).toEqual([400, code]);
  });
});
