import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newStaff } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { examples } from './examples.ts';
import { contrast, onDark, onLight } from './shade.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const read = async () => {
  const answer = await fetch(`${product.url}/api/brand`);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: { brand: Record<string, unknown> } }).data.brand;
};
const { content_base64 } = examples.addBrandPicture.body;

describe('the brand', () => {
  it('is ours until staff says another one, and then theirs for everybody', async () => {
    await product.staff.patch('/staff/settings', {
      company: { colour: null },
      brand: { name: null, radius: 8 },
    });
    expect(await read()).toMatchObject({ accent: '#0b6e4f', radius: 8, registration: 'everybody' });
    await product.staff.patch('/staff/settings', { company: { name: 'Polder B.V.', colour: '#ffd400' } });
    expect((await read()).name).toBe('Polder B.V.');
    const links = { imprint: 'https://polder.example/imprint', terms: null, privacy: null, status: null };
    await product.staff.patch('/staff/settings', { brand: { name: 'Polder', radius: 0, links } });
    const said = await read();
    expect(said).toMatchObject({ name: 'Polder', accent: '#ffd400', radius: 0, links });
    expect(contrast(String(said.accent_on_light), '#ffffff')).toBeGreaterThanOrEqual(4.5);
  });

  it('leads nowhere but to pages by https', async () => {
    for (const imprint of [
      'javascript:alert(1)',
      'http://x.example',
      'https://',
      '//x.example',
      'https://x"y',
    ]) {
      const links = { imprint, terms: null, privacy: null, status: null };
      const { status } = await product.staff.patch('/staff/settings', { brand: { links } });
      expect([imprint, status]).toEqual([imprint, 400]);
    }
  });

  it('shows a picture that staff has added, for ever at one address', async () => {
    const added = await product.staff.post('/staff/brand/pictures', { content_base64 });
    expect(added.status).toBe(200);
    const { picture } = added.body.data;
    await product.staff.patch('/staff/settings', { brand: { logo_light: picture } });
    const { logo_light, logo_dark } = await read();
    expect(logo_dark).toBe(logo_light);
    const shown = await fetch(`${product.url}${String(logo_light)}`);
    expect(shown.headers.get('content-type')).toBe('image/png');
    expect(shown.headers.get('cache-control')).toContain('immutable');
    expect(Buffer.from(await shown.arrayBuffer()).toString('base64')).toBe(content_base64);
    const absent = await fetch(`${product.url}/api/brand/pictures/${'0'.repeat(32)}.png`);
    expect(absent.status).toBe(404);
  });

  it('says on pages with nothing on them what staff has written, in each language, as text that is bounded', async () => {
    const none = { en: null, de: null };
    expect((await read()).empty).toEqual({ services: none, invoices: none, tickets: none });
    const empty = { services: { en: '<b>Hello</b>', de: 'Grüß Gott' }, invoices: none, tickets: none };
    expect((await product.staff.patch('/staff/settings', { brand: { empty } })).status).toBe(200);
    expect((await read()).empty).toEqual(empty);
    const long = { ...empty, tickets: { en: 'x'.repeat(501), de: null } };
    const { status, body } = await product.staff.patch('/staff/settings', { brand: { empty: long } });
    expect([status, body.details[0].field]).toEqual([400, 'brand.empty.tickets.en']);
  });

  it('takes no picture that is a program, and none of who may not', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
    for (const text of [svg, '<!doctype html><script>alert(1)</script>', 'GIF89a;', 'no picture at all']) {
      const body = { content_base64: Buffer.from(text).toString('base64') };
      expect([text, (await product.staff.post('/staff/brand/pictures', body)).status]).toEqual([text, 400]);
    }
    const billing = await newStaff(product, 'billing');
    expect((await billing.post('/staff/brand/pictures', { content_base64 })).status).toBe(403);
  });
});

describe('an accent', () => {
  const parts = [0, 51, 102, 153, 204, 255].map((value) => value.toString(16).padStart(2, '0'));
  const colours = parts.flatMap((red) =>
    parts.flatMap((green) => parts.map((blue) => `#${red}${green}${blue}`)),
  );

  it.each(colours)('%s reads in both themes', (colour) => {
    expect(contrast(onLight(colour), '#ffffff')).toBeGreaterThanOrEqual(4.5);
    for (const background of ['#242424', '#2e2e2e'])
      expect(contrast(onDark(colour), background)).toBeGreaterThanOrEqual(4.5);
  });

  it('that reads already stays as it is', () => {
    expect(onLight('#0b6e4f')).toBe('#0b6e4f');
    expect(onDark('#9ad8bf')).toBe('#9ad8bf');
  });
});

describe('registration', () => {
  it('is for those alone who were invited, where staff says so, and tells no stranger who that is', async () => {
    await product.staff.patch('/staff/settings', { brand: { registration: 'invited' } });
    const nth = randomBytes(6).toString('hex');
    const [stranger, guest] = [`stranger.${nth}@example.com`, `invited.${nth}@example.com`];
    const register = async (email: string) => {
      const person = { email, password: 'seven green lanterns', first_name: 'Zoë', last_name: 'Brand' };
      const { status, body } = await product.nobody.post('/auth/register', person);
      return [status, body.data];
    };
    const isThere = async (email: string) => {
      await settled(product);
      return (await sql(product, 'select 1 from users where email = $1', email)).length === 1;
    };
    const mailsTo = async (email: string) =>
      (await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(email)}`)).body.data.mails.length;
    const id = product.demo.customer.organization_id;
    const invitation = { email: `Invited.${nth}@example.com`, role: 'technical' };
    const invited = await product.customer.post(`/dashboard/organizations/${id}/invitations`, invitation);
    expect(invited.status).toBe(200);
    for (const email of [stranger, guest, product.demo.customer.email])
      expect([email, await register(email)]).toEqual([email, [200, { mail_sent: true }]]);
    expect(await isThere(guest)).toBe(true);
    expect([await isThere(stranger), await mailsTo(stranger)]).toEqual([false, 0]);
    await product.staff.patch('/staff/settings', { brand: { registration: 'everybody' } });
    expect(await register(stranger)).toEqual([200, { mail_sent: true }]);
    expect([await isThere(stranger), await mailsTo(stranger)]).toEqual([true, 1]);
  });
});

describe('its CSS variables', () => {
  const set = (css: string | null) => product.staff.patch('/staff/settings', { brand: { css } });

  it('are colours by theme, and an update of the rest leaves them', async () => {
    const css = '/* ours */\n--page-light: #FFFDF7;\n--text-light:#1a1a1a; --page-dark: #101418';
    expect((await set(css)).status).toBe(200);
    await product.staff.patch('/staff/settings', { brand: { radius: 4 } });
    expect((await read()).variables).toEqual({
      light: { page: '#fffdf7', text: '#1a1a1a' },
      dark: { page: '#101418' },
    });
    expect((await set(null)).status).toBe(200);
    expect((await read()).variables).toEqual({ light: {}, dark: {} });
  });

  it.each([
    ['a selector', 'body { --page-light: #ffffff; }'],
    ['an address', '--page-light: url(https://evil.example/x.png);'],
    ['a function', '--page-light: var(--text-light);'],
    ['an import', '@import "https://evil.example/x.css";'],
    ['a name that is none', '--mantine-z-index-modal: #ffffff;'],
    ['a word', '--page-light: white;'],
    ['an end of the style', '--page-light: #ffffff</style><script>alert(1)</script>;'],
    ['a comment that hides half a line', '--page-light: #ff/* */ffff; } * { color: red'],
    ['text that cannot be read', '--text-light: #999999;'],
    ['a page that is dark in the light theme', '--page-light: #303030; --text-light: #ffffff;'],
  ])('refuse %s, at the field', async (_, css) => {
    const { status, body } = await set(css);
    expect(status).toBe(400);
    expect(body.details[0].field).toBe('brand.css');
    expect((await read()).variables).toEqual({ light: {}, dark: {} });
  });
});
