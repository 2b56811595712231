/** Which tax an invoice carries goes by a country, so wherever one is told it has to be one. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { settled } from '../../test/sql.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const refused = (field: string) => ({
  status: 400,
  body: {
    code: 'invalid_request',
    details: [{ field, message: 'ZZ is no country of ISO 3166-1' }],
  },
});

it('nobody founds an organization in a country that there is not', async () => {
  const { post, get } = product.customer;
  const before = (await get('/dashboard/organizations')).body.data.organizations.length;
  const answer = await post('/dashboard/organizations', { name: 'Nowhere Ltd', country: 'ZZ' });
  expect(answer).toMatchObject(refused('country'));
  expect((await get('/dashboard/organizations')).body.data.organizations).toHaveLength(before);
});

it('nobody registers from one, and gets no mail', async () => {
  const email = 'nowhere@example.com';
  const person = { email, password: 'Sea-Otter-Lantern-42', first_name: 'No', last_name: 'Where' };
  const answer = await product.nobody.post('/auth/register', { ...person, country: 'ZZ' });
  expect(answer).toMatchObject(refused('country'));
  await settled(product);
  const { body } = await product.staff.get(`/staff/mails?recipient=${email}`);
  expect(body.data.mails).toEqual([]);
});

it('staff corrects no organization into one', async () => {
  const person = await newCustomer(product, { country: 'NL' });
  const where = `/staff/organizations/${person.organizationId}`;
  expect(await product.staff.patch(where, { country: 'ZZ' })).toMatchObject(refused('country'));
  expect((await product.staff.get(where)).body.data.organization.country).toBe('NL');
});

it.each([
  ['company', { country: 'ZZ' }, 'company.country'],
  ['review', { countries: ['NL', 'ZZ'] }, 'review.countries[1]'],
])('the settings %s name none', async (section, change, field) => {
  const before = (await product.staff.get('/staff/settings')).body.data.settings[section];
  expect(await product.staff.patch('/staff/settings', { [section]: change })).toMatchObject(refused(field));
  expect((await product.staff.get('/staff/settings')).body.data.settings[section]).toEqual(before);
});
