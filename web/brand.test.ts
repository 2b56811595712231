/** The provider's own look, from staff's form to what customers see. */
import { crc32, deflateSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { examples } from '../src/settings/brand/examples.ts';
import { lookAt, openStaffBed, type StaffBed } from './staffBed.ts';
import { signIn } from './testbed.ts';

let bed: StaffBed;
beforeAll(async () => {
  bed = await openStaffBed();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('is set by staff, who see it before, and shown to everybody', async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto('/staff/settings/brand');
  await page.getByLabel('Name', { exact: true }).fill('Polder');
  await page.getByLabel('Accent').fill('#ffd400');
  const buffer = Buffer.from(examples.addBrandPicture.body.content_base64, 'base64');
  await page.getByLabel('Logo on light').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer });
  await page.locator('.brand-preview img').first().waitFor();
  await page.getByLabel('CSS variables').fill('--page-light: #fffdf7;');
  await page.getByLabel('Languages of the dashboard').selectOption({ label: 'English' });
  await page.getByLabel('Imprint').fill('https://polder.example/imprint');
  await page.getByRole('button', { name: 'Add a page' }).click();
  await page.getByLabel('Name of the page').fill('Our guides');
  await page
    .getByRole('group', { name: 'Own pages 1' })
    .getByLabel('Address')
    .fill('https://polder.example/guides');
  await page.getByLabel('Above the sign-in, in English').fill('Welcome behind the dike.');
  const empty = page.getByRole('group', { name: 'On the page of services while it is empty' });
  await empty.getByLabel('English').fill('<b>Your dike</b>\nis a minute away.');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  expect(complaints()).toEqual([]);

  const visitor = await bed.open();
  await visitor.page.goto('/sign-in');
  await visitor.page.getByText('Welcome behind the dike.').waitFor();
  await visitor.page.getByRole('img', { name: 'Polder' }).waitFor();
  expect(await visitor.page.title()).toBe('Sign in · Polder');
  const imprint = visitor.page.getByRole('link', { name: 'Imprint' });
  expect(await imprint.getAttribute('href')).toBe('https://polder.example/imprint');
  await visitor.page.getByRole('link', { name: 'Our guides' }).waitFor();
  // Its own colours, and no choice of a language where there is but one.
  expect(await visitor.page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
    'rgb(255, 253, 247)',
  );
  expect(await visitor.page.getByRole('button', { name: 'Deutsch' }).count()).toBe(0);
  expect([...(await visitor.faults()), ...visitor.complaints()]).toEqual([]);
  await signIn(bed, visitor);
  await visitor.page.getByRole('link', { name: 'Polder' }).waitFor();
  // On the overview as on the page itself, and nothing in it is more than text.
  await visitor.page.getByText('<b>Your dike</b> is a minute away.').waitFor();
  await visitor.page.goto('/services');
  await visitor.page.getByText('<b>Your dike</b> is a minute away.').waitFor();
  await visitor.page.goto('/tickets');
  await visitor.page
    .getByText('Write to us, and we answer here.')
    .or(visitor.page.getByText('No tickets yet.'))
    .first()
    .waitFor();
});

it('speaks the first of its languages to whoever speaks none of them', async () => {
  await bed.product.staff.patch('/staff/settings', { brand: { languages: ['de'] } });
  const visitor = await bed.open({ locale: 'en-GB' });
  await visitor.page.goto('/sign-in');
  await visitor.page.getByRole('heading', { name: 'Anmelden' }).waitFor();
  await bed.product.staff.patch('/staff/settings', { brand: { languages: ['en', 'de'], css: null } });
});

it('keeps what was typed when a link is none, and says so at it', async () => {
  const { page } = await bed.openStaff();
  await page.goto('/staff/settings/brand');
  await page.getByLabel('Terms').fill('javascript:alert(1)');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('A whole address, such as').waitFor();
  expect(await page.getByLabel('Terms').inputValue()).toBe('javascript:alert(1)');
});

it('tells whoever registers that only those do who were invited, and not who that is', async () => {
  await bed.product.staff.patch('/staff/settings', { brand: { registration: 'invited' } });
  const { page, faults, complaints } = await bed.open();
  await page.goto('/register');
  await page.getByText('Only those register here whom an organization has invited').waitFor();
  expect(await faults()).toEqual([]);
  await page.getByLabel('First name').fill('Zoë');
  await page.getByLabel('Last name').fill('Brand');
  await page.getByLabel('E-mail address').fill('nobody.invited@example.com');
  await page.locator('input[name=password]').fill('seven green lanterns');
  await page.getByLabel('Country').selectOption({ label: 'Austria' });
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('If nobody.invited@example.com was invited, or has an account already').waitFor();
  await bed.product.staff.patch('/staff/settings', { brand: { registration: 'everybody' } });
  expect(complaints()).toEqual([]);
});

it.each(['#ffd400', '#101010', '#ff00ff'])(
  'reads with %s as accent, as staff and customers see it',
  async (colour) => {
    await bed.product.staff.patch('/staff/settings', { company: { colour } });
    expect(await lookAt(bed, ['/staff/settings/brand'])).toEqual([]);
    const visitor = await bed.open({ colorScheme: 'dark' });
    await signIn(bed, visitor);
    expect(await visitor.faults()).toEqual([]);
  },
  240_000,
);

it('leaves what stands beside it where it is on a phone, however wide the logo is', async () => {
  const picture = { content_base64: flag(1_200, 100).toString('base64') };
  const { body } = await bed.product.staff.post('/staff/brand/pictures', picture);
  await bed.product.staff.patch('/staff/settings', { brand: { logo_light: body.data.picture } });
  const visitor = await bed.open({ viewport: { width: 320, height: 640 }, colorScheme: 'light' });
  await signIn(bed, visitor);
  const header = visitor.page.locator('header');
  const logo = await header.getByRole('img').boundingBox();
  const search = await header.getByRole('button', { name: 'Search' }).boundingBox();
  expect(logo?.width).toBeGreaterThan(40);
  expect((logo?.x ?? 0) + (logo?.width ?? 0)).toBeLessThanOrEqual(search?.x ?? 0);
  expect(await visitor.faults()).toEqual([]);
  await bed.product.staff.patch('/staff/settings', { brand: { logo_light: null } });
});

/** A PNG of one colour. */
function flag(width: number, height: number): Buffer {
  const part = (type: string, data: Buffer) => {
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    const named = Buffer.concat([Buffer.from(type), data]);
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 0], 8); // eight bits of grey
  const begins = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const rows = deflateSync(Buffer.alloc((width + 1) * height));
  return Buffer.concat([begins, part('IHDR', head), part('IDAT', rows), part('IEND', Buffer.alloc(0))]);
}
