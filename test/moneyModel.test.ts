import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from './crash/audit.ts';
import { runMoneyModel } from './moneyModel.ts';
import { sql } from './sql.ts';
import { type PaidProduct, startPaidProduct } from './stripe/product.ts';

/** `MODEL_SEED` repeats a run, `MODEL_STEPS` makes it longer or shorter. */
const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2_147_483_647);
const steps = Number(process.env.MODEL_STEPS ?? 300);

describe.each(['payment', 'issue'])('where invoices count from their %s on', (numbering) => {
  let paid: PaidProduct;
  beforeAll(async () => {
    paid = await startPaidProduct({ env: { INVOICE_NUMBERING: numbering } });
  });
  afterAll(() => paid.stop());

  it(`${steps} random things done with money leave the books as a model in memory has them (seed ${seed})`, async () => {
    await runMoneyModel(paid, { steps, customers: 10, seed });
    const { product } = paid;
    expect(await audit(product.databaseUrl)).toEqual([]);
    product.clock.travel(86_400_000);
    await product.periodic('billing.checkLedger');
    expect(await sql(product, 'select message from ledger_differences')).toEqual([]);
  }, 600_000);
});
