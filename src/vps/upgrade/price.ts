import {
  changedPrice,
  changeLots,
  checkOptions,
  findProducts,
  isCycle,
  monthsOf,
  type Product,
} from '../../catalog/index.ts';
import { findImage, reasonAgainst } from '../../fleet/index.ts';
import { type Context, type ErrorDetail, fail, requireExact } from '../../platform/index.ts';
import {
  type NewTerms,
  prorate,
  prorateRise,
  remainingOf,
  resourcesOf,
  type Terms,
  vpsOptions,
} from '../../services/index.ts';
import { findMachine } from '../machine.ts';

/** The options that an upgrade may change; the others are the machine's identity. */
export interface SizeChange {
  option1?: number;
  option2?: number;
  option3?: number;
  option4?: number;
  option5?: number;
  option7?: string;
}

/** A service whose period is paid. */
export type PaidTerms = Terms & { duedate: string };

export interface PricedUpgrade extends NewTerms {
  product: Product;
  /** All options afterwards. */
  options: Record<string, unknown>;
  /** Due now, before tax. */
  chargeMinor: number;
  /** What the time that remains was worth so far; it is off the charge already. */
  creditMinor: number;
}

/**
 * Holds a change of size against the product and prices it. What stays as it is keeps its price, also when the
 * catalogue's has changed since; only what is added is priced as the catalogue says today.
 */
export async function priceUpgrade(
  ctx: Context,
  service: PaidTerms,
  change: SizeChange,
): Promise<PricedUpgrade> {
  const product = (await findProducts(ctx, [service.productId])).get(service.productId);
  if (!product) throw fail('not_found');
  const changes = Object.fromEntries(
    Object.entries(change).filter(([key, value]) => value !== undefined && value !== service.options[key]),
  );
  const options = { ...service.options, ...changes };
  await check(ctx, product, service, changes, options);

  const { cycle, duedate: dueDate, periodStart, anchorDay } = service;
  if (!isCycle(cycle)) throw new Error(`there is no cycle ${cycle}`);
  const months = monthsOf[cycle];
  const lots = changeLots(product, service.unitPrices, service.options, options);
  const newPriceMinor = changedPrice(service.priceMinor, service.unitPrices, lots, months);
  const today = ctx.clock.now().toISOString().slice(0, 10);
  const remaining = remainingOf({ today, dueDate, months, periodStart, anchorDay });
  return {
    product,
    changes,
    options,
    newPriceMinor,
    lots,
    // What is paid ahead may be several periods, and so more than a price.
    chargeMinor: requireExact(prorateRise(service.priceMinor, newPriceMinor, remaining)),
    creditMinor: requireExact(prorate(Math.min(service.priceMinor, newPriceMinor), remaining)),
  };
}

async function check(
  ctx: Context,
  product: Product,
  service: PaidTerms,
  changes: Record<string, unknown>,
  options: Record<string, unknown>,
): Promise<void> {
  const wrong = checkOptions(product, changes, '');
  if (wrong.length > 0)
    throw invalid(wrong.map(({ field, message }) => ({ field: field.slice(1), message })));
  const problems: ErrorDetail[] = [];
  const [size, now] = [vpsOptions.read(options), vpsOptions.read(service.options)];
  if (size.diskGb < now.diskGb) {
    problems.push({
      field: vpsOptions.keyOf('diskGb'),
      message: `storage never shrinks; it is ${now.diskGb} GB`,
    });
  }
  // What is installed now, which is not what was ordered after a reinstall; staff may have deleted it since.
  const installed = (await findMachine(ctx, service.id))?.image ?? size.os;
  const image = problems.length === 0 ? await findImage(ctx, installed) : null;
  const reason = image && reasonAgainst(image, resourcesOf(size));
  if (reason !== null) problems.push({ field: 'option1', message: reason });
  if (problems.length === 0 && Object.keys(changes).length === 0) {
    problems.push({ field: 'option1', message: 'nothing changes: the machine has this size already' });
  }
  if (problems.length > 0) throw invalid(problems);
}

function invalid(details: ErrorDetail[]) {
  return fail('invalid_configuration', { details });
}
