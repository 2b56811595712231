import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from './crash/audit.ts';
import { runMoneyModel } from './moneyModel.ts';
import { type PaidProduct, startPaidProduct } from './stripe/product.ts';

let paid: PaidProduct;
beforeAll(async () => {
  paid = await startPaidProduct();
});
afterAll(() => paid.stop());

const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2_147_483_647);

it(`10,000 random things done with money leave the books as a model in memory has them (seed ${seed})`, async () => {
  await runMoneyModel(paid, { steps: 10_000, customers: 24, seed });
  expect(await audit(paid.product.databaseUrl)).toEqual([]);
}, 3_600_000);
