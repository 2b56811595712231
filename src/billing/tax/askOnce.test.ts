import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { type StandInVies, startVies } from '../../drivers/vat/testbed.ts';

let product: TestProduct;
let register: StandInVies;
beforeAll(async () => {
  register = await startVies();
  product = await startTestProduct({ env: { VAT: 'vies', VAT_URL: register.url, RATE_LIMITS: 'on' } });
});
afterAll(async () => {
  await register.close();
  await product.stop();
});

/** A French VAT id by the number of its company. */
const idOf = (siren: number) => `FR${String((12 + 3 * (siren % 97)) % 97).padStart(2, '0')}${siren}`;
const ids = [303265045, 404833048, 552081317, 542051180].map(idOf);

it('has one question open however often its VAT id changes, and asks about the last one', async () => {
  const person = await newCustomer(product);
  const tell = (tax_id: string | undefined) =>
    person.patch('/dashboard/billing/profile', { kind: 'company', consumer: false, country: 'FR', tax_id });
  const open = () =>
    sql(
      product,
      `select 1 from jobs where name = 'billing.checkTaxId' and state in ('ready', 'running') and organization_id = $1`,
      person.organizationId,
    );
  register.mood = 'slow';
  for (const id of ids) {
    const { status, body } = await tell(id);
    expect(status, JSON.stringify(body)).toBe(200);
  }
  await expect.poll(() => register.asked.length).toBe(1);
  expect(await open()).toHaveLength(1);
  const answers = await Promise.all(Array.from({ length: 120 }, (_, nth) => tell(ids[1 + (nth % 3)])));
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(4);
  expect(await open()).toHaveLength(1);
  expect(register.asked).toHaveLength(1);

  // The first question comes to nothing, and the next is about what is told by now.
  register.mood = 'well';
  const { tax_id: told } = (await person.get('/dashboard/billing/profile')).body.data.profile;
  const asked = () => register.asked.map(({ vatId }) => vatId);
  expect(told).not.toBe(asked()[0]);
  register.hangUp();
  await expect.poll(asked).toEqual([ids[0], told]);
  await expect.poll(open).toHaveLength(0);
});
