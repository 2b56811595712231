import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../../test/product.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const list = async (query: string) => (await product.nobody.get(`/products?${query}`)).body.data;

describe('the list of products', () => {
  it('has the same entries by page and by cursor, without what is not for sale', async () => {
    const { hosting } = product.demo.products;
    await product.staff.patch(`/staff/products/${hosting}`, { status: 'hidden' });
    const whole = await list('limit=100');
    const ids = whole.products.map((each: { id: number }) => each.id);
    expect(ids).not.toContain(hosting);
    expect(whole).toMatchObject({ total: ids.length, entries: ids.length, pages: 1, next_cursor: null });
    const byPage: number[] = [];
    const byCursor: number[] = [];
    let cursor = '';
    for (let page = 1; page <= ids.length; page += 1) {
      byPage.push((await list(`limit=1&page=${page}`)).products[0].id);
      const seen = await list(`limit=1${cursor}`);
      byCursor.push(seen.products[0].id);
      cursor = `&cursor=${seen.next_cursor}`;
    }
    expect([byPage, byCursor]).toEqual([ids, ids]);
    expect(cursor).toBe('&cursor=null');
    await product.staff.patch(`/staff/products/${hosting}`, { status: 'active' });
  });

  it('refuses what no list takes', async () => {
    for (const query of ['limit=0', 'page=x', 'colour=red', 'cursor=nonsense'])
      expect((await product.nobody.get(`/products?${query}`)).status, query).toBe(400);
  });
});
