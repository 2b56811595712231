/** What `GET /dashboard/account` says that somebody of staff may call, against what is let through. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { staffRoles } from '../src/account/index.ts';
import { allRoutes } from '../src/api.ts';
import { listRoutes } from '../src/platform/http/index.ts';
import { newStaff, signedIn, staffHere } from './people.ts';
import { startTestProduct, type TestProduct } from './product.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const lists = listRoutes(allRoutes).filter(
  ({ auth, method, path, produces }) =>
    auth === 'staff' && method === 'GET' && !path.includes(':') && produces === null,
);

it.each(staffRoles)('%s may call what it is told, and nothing else', async (role) => {
  const person = await staffHere(product, role);
  const { staff } = (await person.get('/dashboard/account')).body.data;
  expect(staff.role).toBe(role);
  const told: string[] = staff.operations;
  const refused: string[] = [];
  for (const { operation, path } of lists)
    if ((await person.get(path)).body.code === 'permission_denied') refused.push(operation);
  expect(lists.map(({ operation }) => operation).filter((name) => !told.includes(name))).toEqual(refused);
  expect(told).toEqual([...new Set(told)]);
});

it('says nothing to customers, and nothing may be called before a second factor was shown', async () => {
  expect((await product.customer.get('/dashboard/account')).body.data.staff).toBeNull();
  const weak = await signedIn(product, await newStaff(product, 'support'));
  expect((await weak.get('/dashboard/account')).body.data.staff).toEqual({ role: 'support', operations: [] });
  expect((await weak.get('/staff/attention')).body.code).toBe('second_factor_required');
});

it('leaves out what a key is not for', async () => {
  const administrator = await newStaff(product, 'administrator');
  const made = await administrator.post('/staff/keys', { name: 'Kept', vps: false });
  const { token } = made.body.data;
  const { body } = await product.nobody.request('GET', '/dashboard/account', undefined, { token });
  const ofMachines = listRoutes(allRoutes).filter(({ auth, area }) => auth === 'staff' && area === 'vps');
  expect(ofMachines.length).toBeGreaterThan(5);
  for (const { operation } of ofMachines) expect(body.data.staff.operations).not.toContain(operation);
});
