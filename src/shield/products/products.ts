import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type Context, requireRow, statement, type TxContext, transaction } from '../../platform/index.ts';
import { mergedThresholds } from '../addresses/sensitivity.ts';
import type { levels, mitigations, modes, Thresholds } from '../addresses/words.ts';
import { productChanged } from '../events.ts';

/** What is so of the addresses of a product's machines until their owner says otherwise. Null: what is so of all. */
interface ProductRow {
  id: number;
  name: string;
  level: (typeof levels)[number] | null;
  mode: (typeof modes)[number] | null;
  mitigation: (typeof mitigations)[number] | null;
  thresholds: Thresholds;
}

const from = 'products p left join shield_products d on d.product_id = p.id';
const select = `select p.id, p.name, d.level, d.mode, d.mitigation, coalesce(d.thresholds, '{}') as thresholds from ${from}`;
const products = pagedList<ProductRow>({
  name: 'shield.products',
  from,
  select,
  key: { by: 'p.id', type: 'bigint', of: (row) => row.id },
  sorts: { id: null },
  order: 'id',
});
const productById = statement<ProductRow, { id: number }>('shield.product', `${select} where p.id = :id`);
const lock = statement<{ id: number }, { id: number }>(
  'shield.lockProduct',
  'select id from products where id = :id for update',
);
const set = statement<never, Omit<ProductRow, 'name' | 'thresholds'> & { thresholds: string; now: Date }>(
  'shield.setProduct',
  `insert into shield_products (product_id, level, mode, mitigation, thresholds, updated_at)
   values (:id, :level, :mode, :mitigation, :thresholds::jsonb, :now)
   on conflict (product_id) do update set level = excluded.level, mode = excluded.mode,
     mitigation = excluded.mitigation, thresholds = excluded.thresholds, updated_at = excluded.updated_at`,
);

export async function listShieldProducts(ctx: Context, query: ListRequest) {
  const { rows, at } = await products(ctx, query, {});
  return listData('products', rows, at);
}

/** `not_found`. */
export async function readShieldProduct(ctx: Context, id: number) {
  return { product: await requireRow(ctx, productById, { id }) };
}

export async function lockShieldProduct(tx: TxContext, id: number): Promise<void> {
  await tx.db.maybe(lock, { id });
}

export type ProductChange = {
  [Field in 'level' | 'mode' | 'mitigation' | 'thresholds']?: ProductRow[Field] | null | undefined;
};

/** Sets the fields that are named; one that is null is as it is for all again. `not_found`. */
export function changeShieldProduct(ctx: Context, id: number, change: ProductChange) {
  return transaction(ctx, 'shield.changeProduct', async (tx) => {
    await lockShieldProduct(tx, id);
    const before = await requireRow(tx, productById, { id });
    const { level = before.level, mode = before.mode, mitigation = before.mitigation } = change;
    const thresholds =
      change.thresholds === null ? {} : mergedThresholds(before.thresholds, change.thresholds ?? {});
    await tx.db.run(set, {
      ...{ id, level, mode, mitigation },
      ...{ thresholds: JSON.stringify(thresholds), now: tx.clock.now() },
    });
    const fields = Object.keys(change);
    if (fields.length > 0)
      await record(tx, productChanged, {
        subject: { type: 'product', id },
        organizationId: null,
        data: { name: before.name, fields },
      });
    return readShieldProduct(tx, id);
  });
}
