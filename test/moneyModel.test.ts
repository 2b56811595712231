import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from './crash/audit.ts';
import { runMoneyModel } from './moneyModel.ts';
import { startTestProduct, type TestProduct } from './product.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

/** `MODEL_SEED` repeats a run. */
const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2_147_483_647);

it(`500 random things done with money leave the books as a model in memory has them (seed ${seed})`, async () => {
  await runMoneyModel(product, { steps: 500, customers: 10, seed });
  expect(await audit(product.databaseUrl)).toEqual([]);
}, 300_000);
