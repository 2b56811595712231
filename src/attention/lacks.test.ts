import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newStaff } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';
import { runCommand } from '../commands/index.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct({ env: { MAIL: 'database', PUBLIC_URL: '', PAYMENTS: 'none' } });
});
afterAll(() => product.stop());

interface Lack {
  code: string;
  message: string;
  page: string | null;
}

async function lacks(who: Pick<TestProduct['staff'], 'get'> = product.staff): Promise<Lack[]> {
  const { status, body } = await who.get('/staff/attention');
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.lacks;
}
const codes = async () => (await lacks()).map(({ code }) => code);

async function set(company: Record<string, string | null>) {
  const { status, body } = await product.staff.patch('/staff/settings', { company });
  expect(status, JSON.stringify(body)).toBe(200);
}

describe('before anything is sold staff is told', () => {
  const whole = { address_line1: '1 Harbour Street', postal_code: '1011 AB', city: 'Amsterdam' };

  it('what is lacking, in the order in which it is mended, and where', async () => {
    expect((await lacks()).map(({ code, page }) => [code, page])).toEqual([
      ['public_url', null],
      ['mail.none', null],
      ['backup.none', null],
      ['company.address', '/staff/settings'],
      ['tax.number', '/staff/settings'],
      ['tax.rate', '/staff/tax-rates'],
      ['payments.none', '/staff/settings'],
    ]);
  });

  it('and nobody is led to what another role mends', async () => {
    const pages = async (role: 'support' | 'billing' | 'operator') =>
      Object.fromEntries((await lacks(await newStaff(product, role))).map(({ code, page }) => [code, page]));
    expect(await pages('support')).toMatchObject({ 'company.address': null, 'tax.rate': null });
    expect(await pages('billing')).toMatchObject({ 'company.address': null, 'tax.rate': '/staff/tax-rates' });
    await sql(product, `update nodes set state = 'draining'`);
    await sql(product, `update products set status = 'hidden' where module_id <> 2`);
    expect(await pages('operator')).toMatchObject({
      'company.address': null,
      'products.no_room': '/staff/nodes',
    });
    expect(await pages('support')).toMatchObject({ 'products.no_room': null });
    await sql(product, `update nodes set state = 'active'`);
  });

  it('of who sells, until the name and the whole address stand', async () => {
    await set({ name: 'Example Hosting B.V.', ...whole });
    expect((await lacks()).find(({ code }) => code === 'company.address')?.message).toMatch(/lacks country$/);
    await set({ country: 'NL' });
    expect(await codes()).not.toContain('company.address');
    await set({ tax_id: '123' });
    expect(await codes()).not.toContain('tax.number');
  });

  it("of tax, until the company's own country has a rate that counts today, which may be none", async () => {
    const add = async (country: string, from: number, rate = '21.00') => {
      const on = new Date(product.clock.now().getTime() + from * 86_400_000).toISOString().slice(0, 10);
      const { status, body } = await product.staff.post('/staff/tax/rates', {
        country,
        rate,
        valid_from: on,
      });
      expect(status, JSON.stringify(body)).toBe(200);
    };
    await add('BE', 0);
    await add('NL', 2);
    expect(await codes()).toContain('tax.rate');
    await add('NL', 0, '0.00');
    expect(await codes()).not.toContain('tax.rate');
  });

  it('of money, until customers can transfer it', async () => {
    expect(await codes()).toContain('payments.none');
    await set({ iban: 'NL91ABNA0417164300' });
    expect(await codes()).not.toContain('payments.none');
  });

  it('of backups, until one was made', async () => {
    expect(await codes()).toContain('backup.none');
    const to = mkdtempSync(path.join(tmpdir(), 'innkeeper-lacks-'));
    await runCommand(product.ctx.config, ['backup', '--quick', '--to', to]);
    rmSync(to, { recursive: true });
    expect(await codes()).toEqual(['public_url', 'mail.none']);
  });

  it.each([
    [
      'products.none',
      `update products set status = 'hidden'`,
      `update products set status = 'active' where module_id = 2`,
    ],
    ['products.sold_out', 'update products set stock = 0', 'update products set stock = null'],
    ['products.no_image', 'update images set active = false', 'update images set active = true'],
    ['products.no_room', `update nodes set state = 'draining'`, `update nodes set state = 'active'`],
    [
      'products.no_room',
      `update addresses set state = 'reserved' where state = 'free'`,
      `update addresses set state = 'free' where state = 'reserved'`,
    ],
  ])('that nothing can be ordered (%s), until something can', async (code, spoil, mend) => {
    await sql(product, spoil);
    expect(await codes()).toEqual(['public_url', 'mail.none', code]);
    await sql(product, mend);
    expect(await codes()).toEqual(['public_url', 'mail.none']);
  });

  it('nothing of machines while something that needs none can be ordered', async () => {
    await sql(product, `update nodes set state = 'draining'`);
    expect(await codes()).toContain('products.no_room');
    const [hidden] = await sql<{ id: number }>(
      product,
      `update products set status = 'active' where id = (select min(id) from products where module_id not in (2, 5)) returning id`,
    );
    expect(hidden).toBeDefined();
    expect(await codes()).not.toContain('products.no_room');
    await sql(product, `update nodes set state = 'active'`);
  });
});

it('what the settings of the process say is not lacking, and what they only half say is', async () => {
  const env = {
    ...{ MAIL: 'auto', SMTP_URL: 'smtp://mail.example.com:587', MAIL_FROM: '' },
    ...{ PUBLIC_URL: 'https://panel.example.com', STAFF_EMAIL: 'off' },
    ...{ PAYMENTS: 'stripe', STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' },
    STRIPE_API_URL: 'http://127.0.0.1:9',
  };
  const half = await startTestProduct({ env });
  const found = await lacks(half.staff);
  expect(found.find(({ code }) => code === 'mail.sender')?.message).toMatch(/set MAIL_FROM$/);
  const others = found.map(({ code }) => code).filter((code) => /^(public|payments|mail)/.test(code));
  expect(others).toEqual(['mail.sender']);
  await half.stop();
});
