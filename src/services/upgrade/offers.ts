import { taxOf } from '../../billing/index.ts';
import { findProductsOfKind } from '../../catalog/index.ts';
import { AppError, type Context, dayOf, type OrganizationContext } from '../../platform/index.ts';
import { kindOf } from '../kinds/table.ts';
import { paidAhead } from '../paidAhead.ts';
import { readService } from '../read.ts';
import { reasonAgainst } from '../states.ts';
import { requireTerms, type Terms } from '../terms.ts';
import { fitInto } from './fit.ts';
import type { Growths } from './growth.ts';
import { type Priced, priceChange } from './price.ts';
import { totalOf } from './request.ts';
import { viewOffer } from './view.ts';

/** What a service of the organization can become, with what each would cost now; nothing while it cannot change. */
export async function readUpgrades(
  ctx: OrganizationContext,
  id: number,
  { cycle }: { cycle?: string | undefined },
  growths: Growths,
) {
  const { service } = await readService(ctx, id);
  const terms = await requireTerms(ctx, id);
  const { duedate } = terms;
  const today = dayOf(ctx.clock.now());
  if (duedate === null || reasonAgainst('upgrade', terms, today) !== null) {
    return { service, availableProducts: [] };
  }
  const running = { ...terms, duedate };
  const tax = await taxOf(ctx, ctx.organizationId, { lock: false });
  const asked = { cycle, paidAheadMinor: await paidAhead(ctx, terms, cycle) };
  const growth = growths[kindOf(terms.moduleId).type];
  const availableProducts = [];
  for (const product of await findProductsOfKind(ctx, terms.moduleId)) {
    const fitted = fitInto(terms, product, cycle);
    if ('problems' in fitted) continue;
    if (((await growth?.problems(ctx, terms, fitted.options)) ?? []).length > 0) continue;
    const priced = priceOrNull(ctx, running, { product, options: fitted.options }, asked);
    if (priced === null) continue;
    const { invoice_id: _, ...offer } = viewOffer(running, priced, {
      ...{ invoiceId: null, totalMinor: totalOf(running, priced, tax) },
    });
    const { name, description, group } = product;
    availableProducts.push({ id: product.id, name, description, group, ...offer });
  }
  return { service, availableProducts };
}

/** Null for what nobody can ask for: the time that is paid for is worth more than the new period. */
function priceOrNull(
  ctx: Context,
  service: Terms & { duedate: string },
  what: Pick<Priced, 'product' | 'options'>,
  asked: { cycle: string | undefined; paidAheadMinor: number },
): Priced | null {
  try {
    return priceChange(ctx, service, what, asked);
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_configuration') return null;
    throw error;
  }
}
