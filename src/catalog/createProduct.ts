import { record } from '../events/index.ts';
import { type Context, type ErrorDetail, fail, transaction } from '../platform/index.ts';
import type { ProductToCreate } from './change.ts';
import { readProductForStaff } from './changeProduct.ts';
import { check, drafted } from './draft.ts';
import { productCreated } from './events.ts';
import { findGroup, noGroup } from './groups/groups.ts';
import type { Selling } from './selling.ts';
import { insertProduct } from './write.ts';

/** Puts a product into the catalogue, hidden unless it says otherwise. `invalid_request` names each field that cannot be. */
export async function createProduct(ctx: Context, wanted: ProductToCreate, selling: Selling) {
  const { currency, type, moduleId, name } = wanted;
  // What is no currency has no digits to hold an amount against.
  if (!Intl.supportedValuesOf('currency').includes(currency))
    throw invalid([{ field: 'currency', message: `${currency} is no currency` }]);
  return transaction(ctx, 'catalog.createProduct', async (tx) => {
    const problems: ErrorDetail[] = [];
    const group = await findGroup(tx, wanted.group_id);
    if (group === null) problems.push(noGroup(wanted.group_id));
    const empty = {
      ...{ type, moduleId, name, currency, description: '', stock: null, position: null },
      ...{ status: 'hidden' as const, downgrade: 'now' as const, traffic: null },
      ...{ prices: [], options: [], retiredOptions: [] },
    };
    const draft = drafted({ ...empty, group: group ?? { id: 0, name: '' } }, wanted, false, problems);
    check(draft, selling, problems);
    if (problems.length > 0) throw invalid(problems);
    const id = await insertProduct(tx, draft);
    const { status } = draft;
    await record(tx, productCreated, {
      subject: { type: 'product', id },
      organizationId: null,
      data: { name: draft.name, currency, status },
    });
    return readProductForStaff(tx, id);
  });
}

function invalid(details: ErrorDetail[]) {
  return fail('invalid_request', { details });
}
