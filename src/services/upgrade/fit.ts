import { checkOptions, missingOptions, type Option, type Product } from '../../catalog/index.ts';
import type { ErrorDetail } from '../../platform/index.ts';
import { kindOf } from '../kinds/table.ts';
import type { Terms } from '../terms.ts';

/** The options that a service has as another product, or why it cannot become that one. */
export type Fitted = { options: Record<string, unknown> } | { problems: ErrorDetail[] };

/**
 * What a service is as another product of its kind. What it has it keeps; where the product begins with more, it gets
 * more. Where the product ends with less, or lacks the option, the service does not fit: nothing is taken away unasked.
 */
export function fitInto(service: Terms, product: Product, cycle = service.cycle): Fitted {
  const problem = (message: string): Fitted => ({ problems: [{ field: 'product_id', message }] });
  if (product.id === service.productId)
    return problem('the service is this product already; renew it (`POST …/renew`) to change its cycle');
  if (product.status !== 'active') return problem('this product is not for sale');
  if (product.moduleId !== service.moduleId) return problem(`${product.name} is not of the same kind`);
  // It would be another machine, with nothing of what is on this one.
  if (service.onServer || product.servers !== null)
    return problem('a dedicated server cannot become another product; order another one');
  if (product.currency !== service.currency) return problem(`${product.name} is sold in ${product.currency}`);
  if (!product.prices.some((price) => price.cycle === cycle)) {
    const sold = product.prices.map((price) => price.cycle).join(', ');
    const message = `${product.name} is not sold ${cycle}, but ${sold}; name one of these as cycle`;
    return { problems: [{ field: cycle === service.cycle ? 'product_id' : 'cycle', message }] };
  }
  const lacking = Object.keys(service.options).filter(
    (key) => /^option\d$/.test(key) && !product.options.some((option) => option.key === key),
  );
  const options = { ...service.options };
  for (const option of product.options) options[option.key] = grown(option, service.options[option.key]);
  const kind = kindOf(product.moduleId);
  const wrong = [
    ...lacking.map((key) => ({ field: key, message: `${product.name} has no such option` })),
    ...checkOptions(product, options, '').map(({ field, message }) => ({ field: field.slice(1), message })),
    ...missingOptions(product, options).map((key) => ({ field: key, message: 'is missing' })),
    ...kind
      .unreadable(options)
      .map((key) => ({ field: key, message: 'cannot be delivered with this value' })),
  ];
  return wrong.length > 0 ? { problems: wrong } : { options };
}

function grown(option: Option, value: unknown): unknown {
  if (option.kind === 'choice') return value;
  if (value === undefined) return option.required ? option.min : undefined;
  return typeof value === 'number' ? Math.max(value, option.min) : value;
}
