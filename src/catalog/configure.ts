import type { ErrorDetail } from '../platform/index.ts';
import { type Cycle, monthsOf } from './cycles.ts';
import type { Options } from './options.ts';
import type { Option, Product } from './products.ts';
import { type Lots, lotsOf, monthlyOf } from './units.ts';

/** What is wrong with the chosen values: each names the option and what it takes. Empty when all is well. */
export function checkOptions(product: Product, options: Options, path: string): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  for (const option of product.options) {
    const value = options[option.key];
    const problem = value === undefined ? null : problemWith(option, value);
    if (problem !== null) problems.push({ field: `${path}.${option.key}`, message: problem });
  }
  for (const key of Object.keys(options)) {
    if (/^option\d$/.test(key) && !product.options.some((option) => option.key === key)) {
      problems.push({ field: `${path}.${key}`, message: `${product.name} has no such option` });
    }
  }
  return problems;
}

/** Options that the product needs and the customer left out. */
export function missingOptions(product: Product, options: Options): string[] {
  return product.options
    .filter((option) => option.required && options[option.key] === undefined)
    .map((option) => option.key);
}

function problemWith(option: Option, value: unknown): string | null {
  if (option.kind === 'choice') {
    if (option.choices.some((choice) => choice.value === value)) return null;
    return `${option.label} must be one of ${option.choices.map((choice) => choice.value).join(', ')}`;
  }
  const { min, max, step } = option;
  const isValid = Number.isInteger(value) && typeof value === 'number' && value >= min && value <= max;
  if (isValid && (value - min) % step === 0) return null;
  const steps = step === 1 ? '' : ` in steps of ${step}`;
  return `${option.label} must be an integer from ${min} to ${max}${steps}`;
}

export interface Price {
  /** What each period costs. */
  recurringMinor: number;
  /** Due once, with the first period. */
  setupFeeMinor: number;
  /** What of each period's price is for units beyond the price of the cycle. */
  lots: Lots;
}

/**
 * Price of a product in a configuration: the cycle's price, and for each month of the cycle every unit above
 * the minimum and every chosen extra. Null when the product is not sold in that cycle.
 */
export function priceOf(product: Product, cycle: Cycle, options: Options): Price | null {
  const base = product.prices.find((price) => price.cycle === cycle);
  if (!base) return null;
  const lots = lotsOf(product, options);
  const recurringMinor = base.priceMinor + monthlyOf(lots) * monthsOf[cycle];
  return { recurringMinor, setupFeeMinor: base.setupFeeMinor, lots };
}
