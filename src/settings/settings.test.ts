import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newStaff } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const path = '/staff/settings';
const read = async () => (await product.staff.get(path)).body.data.settings;

describe('settings', () => {
  it('say their defaults until staff sets something, and keep what is not named', async () => {
    const before = await read();
    expect(before.company).toMatchObject({ name: '', address_line1: null, vat_id: null });
    const { body } = await product.staff.patch(path, { company: { name: 'Example Hosting', country: 'NL' } });
    expect(body.data.settings.company).toEqual({ ...before.company, name: 'Example Hosting', country: 'NL' });
    await product.staff.patch(path, { company: { country: null } });
    expect((await read()).company).toMatchObject({ name: 'Example Hosting', country: null });
  });

  it('tell the journal who changed which field from what to what, and nothing when nothing is different', async () => {
    const entries = () =>
      sql(product, `select data from journal where action = 'settings.changed' order by id`);
    await product.staff.patch(path, { company: { email: 'a@example.com' } });
    const told = await entries();
    expect(told.at(-1)).toEqual({
      data: { section: 'company', before: { email: null }, after: { email: 'a@example.com' } },
    });
    await product.staff.patch(path, { company: { email: 'a@example.com' } });
    expect(await entries()).toHaveLength(told.length);
  });

  it('refuse what they do not know or cannot take, and change nothing', async () => {
    const before = await read();
    const refused = [
      { nonsense: {} },
      { company: { nam: 'x' } },
      { company: { name: 1 } },
      { company: { name: 'x', country: 'Netherlands' } },
      { company: null },
      [],
    ];
    for (const body of refused)
      expect((await product.staff.patch(path, body)).status, JSON.stringify(body)).toBe(400);
    expect(await read()).toEqual(before);
  });

  it('are changed by one person at a time', async () => {
    const { headers } = await product.staff.get(path);
    const tag = { 'if-match': headers.get('etag') ?? '' };
    const changes = ['One', 'Two', 'Three'].map((name) =>
      product.staff.patch(path, { company: { name } }, tag),
    );
    const statuses = (await Promise.all(changes)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 412, 412]);
  });

  it('are read by those who see to money, and changed by administrators', async () => {
    const billing = await newStaff(product, 'billing');
    expect((await billing.get(path)).status).toBe(200);
    expect((await billing.patch(path, { company: { name: 'Mine' } })).status).toBe(403);
    expect((await (await newStaff(product, 'operator')).get(path)).status).toBe(403);
  });
});
