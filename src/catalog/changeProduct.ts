import { record } from '../events/index.ts';
import {
  type Context,
  type ErrorDetail,
  fail,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import type { ProductChange } from './change.ts';
import { check, drafted } from './draft.ts';
import { productUpdated } from './events.ts';
import { findGroup, noGroup } from './groups/groups.ts';
import { findProducts, type Product, viewProductForStaff } from './products.ts';
import type { Selling } from './selling.ts';
import { updateProduct } from './write.ts';

const lock = statement<{ id: number }, { id: number }>(
  'catalog.lock',
  'select id from products where id = :id for update',
);

/** A product as staff sees it, hidden and retired ones included. */
export async function readProductForStaff(ctx: Context, id: number) {
  const product = (await findProducts(ctx, [id])).get(id);
  if (!product) throw fail('not_found');
  return { product: viewProductForStaff(product) };
}

/** Nobody changes the product until the transaction ends. */
export async function lockProduct(tx: TxContext, id: number): Promise<void> {
  await tx.db.maybe(lock, { id });
}

/**
 * Changes what the body names of a product. Invoices and services that exist keep their terms: who bought a cycle or an
 * option that is gone has it still. `not_found`, `invalid_request`, `product_sold` for what would turn what customers have
 * into something else.
 */
export async function changeProduct(ctx: Context, id: number, change: ProductChange, selling: Selling) {
  return transaction(ctx, 'catalog.changeProduct', async (tx) => {
    await lockProduct(tx, id);
    const product = (await findProducts(tx, [id])).get(id);
    if (!product) throw fail('not_found');
    const isSold = await selling.isSold(tx, id);
    if (isSold) requireSameKind(product, change);
    const problems = currencyProblems(product, change);
    const draft = drafted(product, change, isSold, problems);
    const group = change.group_id === undefined ? product.group : await findGroup(tx, change.group_id);
    if (group === null) problems.push(noGroup(change.group_id));
    problems.push(...serverProblems(product, change));
    check(draft, selling, problems, product.servers);
    if (problems.length > 0) throw fail('invalid_request', { details: problems });
    await updateProduct(tx, id, { ...draft, group: group ?? product.group });
    await record(tx, productUpdated, {
      subject: { type: 'product', id },
      organizationId: null,
      data: { change, before: beforeOf(product, change) },
    });
    return readProductForStaff(tx, id);
  });
}

function requireSameKind(product: Product, { type, moduleId }: ProductChange): void {
  if ((type ?? product.type) === product.type && (moduleId ?? product.moduleId) === product.moduleId) return;
  throw fail('product_sold', {
    message: `${product.name} was sold, and what customers have is delivered as it was bought; retire it and create another product`,
  });
}

/** What is sold out of the rack is so until no profile names it any more. */
function serverProblems({ moduleId, servers }: Product, change: ProductChange): ErrorDetail[] {
  if (servers === null) return [];
  const problems: ErrorDetail[] = [];
  if (change.stock !== undefined && change.stock !== null)
    problems.push({ field: 'stock', message: 'is the number of its ready servers: profiles are sold as it' });
  if (change.moduleId !== undefined && change.moduleId !== moduleId)
    problems.push({ field: 'moduleId', message: 'stays while profiles of servers are sold as this product' });
  return problems;
}

function currencyProblems(product: Product, { currency }: ProductChange): ErrorDetail[] {
  if (currency === undefined || currency === product.currency) return [];
  const message = `its prices are in ${product.currency}; create another product for ${currency}`;
  return [{ field: 'currency', message }];
}

/** What the change names, as it was. */
function beforeOf(product: Product, change: ProductChange): Record<string, unknown> {
  const { group, currency: _, ...view } = { ...viewProductForStaff(product), currency: product.currency };
  const fields = Object.entries({ ...view, currency: product.currency, group_id: group.id });
  return Object.fromEntries(fields.filter(([field]) => field in change));
}
