import { dedicatedModule } from '../fleet/index.ts';
import { type ErrorDetail, parseMoney } from '../platform/index.ts';
import type { OptionChange, PriceChange, ProductChange } from './change.ts';
import { cycles, monthsOf } from './cycles.ts';
import type { Option, Product } from './products.ts';
import type { Selling } from './selling.ts';
import type { TrafficTerms } from './traffic.ts';
import type { Draft } from './write.ts';

/** What is wrong with a body, by field; gathered, so that one answer names all of it. */
type Problems = ErrorDetail[];

const domains = 4;

/** A product after a change of it. Appends to `problems` what cannot be. `isSold`: somebody has it as it was before. */
export function drafted(before: Draft, change: ProductChange, isSold: boolean, problems: Problems): Draft {
  const { prices = [], options = [] } = change;
  const amount = amountsIn(before.currency, problems);
  const all = options.reduce(
    (known, option, at) => {
      const field = `options[${at}]`;
      if (options.findIndex(({ key }) => key === option.key) !== at)
        problems.push({ field: `${field}.key`, message: 'is there twice' });
      return withOption(known, option, { field, isSold, amount, problems });
    },
    { options: before.options, retiredOptions: before.retiredOptions },
  );
  return {
    ...before,
    ...all,
    type: change.type ?? before.type,
    moduleId: change.moduleId ?? before.moduleId,
    name: change.name?.trim() ?? before.name,
    description: change.description ?? before.description,
    stock: change.stock === undefined ? before.stock : change.stock,
    status: change.status ?? before.status,
    downgrade: change.downgrade ?? before.downgrade,
    traffic: withTraffic(before.traffic, change, amount, problems),
    position: change.position ?? before.position,
    prices: withPrices(before, prices, amount, problems),
  };
}

/** Whether a product can be as it is drafted. What nobody can order yet may be incomplete. */
export function check(
  draft: Draft,
  selling: Selling,
  problems: Problems,
  servers: Product['servers'] = null,
): void {
  const { type, moduleId, prices, status } = draft;
  if ((type === 'Domain') !== (moduleId === domains))
    problems.push({ field: 'type', message: `Domain is for moduleId ${domains}, and for it alone` });
  const short = prices.filter(({ cycle }) => type === 'Domain' && monthsOf[cycle] < 12);
  if (short.length > 0) {
    const names = short.map(({ cycle }) => cycle).join(', ');
    problems.push({ field: 'prices', message: `a domain is sold by the year, not ${names}` });
  }
  if (draft.traffic !== null && moduleId !== dedicatedModule)
    problems.push({ field: 'traffic', message: `is billed of servers alone, moduleId ${dedicatedModule}` });
  if (status !== 'active') return;
  if (prices.length === 0)
    problems.push({ field: 'prices', message: 'what is for sale needs a price for one cycle at least' });
  problems.push(...selling.problems({ ...draft, servers }));
}

type Amount = (text: string, field: string) => number;

function amountsIn(currency: string, problems: Problems): Amount {
  return (text, field) => {
    const minor = parseMoney(text, currency);
    if (minor === null)
      problems.push({ field, message: `must be an amount in ${currency}, such as ${sample(currency)}` });
    return minor ?? 0;
  };
}

function sample(currency: string): string {
  return parseMoney('12.50', currency) === null ? '"12"' : '"12.50"';
}

function withPrices(
  before: Draft,
  changes: PriceChange[],
  amount: Amount,
  problems: Problems,
): Draft['prices'] {
  const prices = new Map(before.prices.map((price) => [price.cycle, price]));
  for (const [at, { cycle, price, setup_fee: setupFee }] of changes.entries()) {
    const field = `prices[${at}]`;
    if (changes.findIndex((other) => other.cycle === cycle) !== at)
      problems.push({ field: `${field}.cycle`, message: 'is there twice' });
    if (price === null) {
      if (setupFee !== undefined)
        problems.push({ field: `${field}.setup_fee`, message: 'is for a cycle with a price' });
      prices.delete(cycle);
      continue;
    }
    const known = prices.get(cycle)?.setupFeeMinor ?? 0;
    prices.set(cycle, {
      cycle,
      priceMinor: amount(price, `${field}.price`),
      setupFeeMinor: setupFee === undefined ? known : amount(setupFee, `${field}.setup_fee`),
    });
  }
  return [...prices.values()].sort((one, other) => cycles.indexOf(one.cycle) - cycles.indexOf(other.cycle));
}

function withTraffic(
  before: TrafficTerms | null,
  { traffic }: ProductChange,
  amount: Amount,
  problems: Problems,
): TrafficTerms | null {
  if (traffic === undefined) return before;
  if (traffic === null) return null;
  const { billing, included, price, direction } = traffic;
  if (billing === 'total' && direction !== undefined)
    problems.push({ field: 'traffic.direction', message: 'is of percentile95 alone: all traffic is both' });
  return { billing, included, priceMinor: amount(price, 'traffic.price'), direction: direction ?? 'greater' };
}

interface Reading {
  field: string;
  isSold: boolean;
  amount: Amount;
  problems: Problems;
}

type Options = Pick<Draft, 'options' | 'retiredOptions'>;

function withOption(all: Options, change: OptionChange, reading: Reading): Options {
  const known = [...all.options, ...all.retiredOptions].find(({ key }) => key === change.key);
  const wasRetired = all.retiredOptions.some(({ key }) => key === change.key);
  const option = optionOf(known ?? null, change, reading);
  const others = {
    options: all.options.filter(({ key }) => key !== change.key),
    retiredOptions: all.retiredOptions.filter(({ key }) => key !== change.key),
  };
  const isRetired = change.retired ?? wasRetired;
  const list = isRetired ? ('retiredOptions' as const) : ('options' as const);
  return {
    ...others,
    [list]: [...others[list], option].sort((one, other) => (one.key < other.key ? -1 : 1)),
  };
}

function optionOf(known: Option | null, change: OptionChange, reading: Reading): Option {
  const { field, isSold, problems } = reading;
  const { name = known?.name, label = known?.label } = change;
  if (name === undefined || label === undefined)
    problems.push({ field, message: `the product has no ${change.key}; a new one needs a name and a label` });
  const isAnother = known !== null && (name !== known.name || kindOf(change, known) !== known.kind);
  if (isSold && isAnother) {
    const message = `${known.name} was sold: what it means stays. Retire it, and take another key for what is new`;
    problems.push({ field: name === known.name ? field : `${field}.name`, message });
  }
  const common = {
    ...{ key: change.key, name: name?.trim() ?? '', label: label?.trim() ?? '' },
    required: change.required ?? known?.required ?? true,
  };
  return kindOf(change, known) === 'choice'
    ? { ...common, ...choicesOf(known, change, reading) }
    : { ...common, ...boundsOf(known, change, reading) };
}

function kindOf(change: OptionChange, known: Option | null): Option['kind'] {
  if (change.values !== undefined) return 'choice';
  return isNumber(change) ? 'integer' : (known?.kind ?? 'integer');
}

function isNumber({ min, max, step, unit_price: price }: OptionChange): boolean {
  return [min, max, step, price].some((each) => each !== undefined);
}

function choicesOf(known: Option | null, change: OptionChange, { field, amount, problems }: Reading) {
  const { values } = change;
  if (isNumber(change)) problems.push({ field, message: 'has either values, or min, max and unit_price' });
  if (values === undefined)
    return { kind: 'choice' as const, choices: known?.kind === 'choice' ? known.choices : [] };
  const twice = values.find(({ value }, at) => values.findIndex((each) => each.value === value) !== at);
  if (twice) problems.push({ field: `${field}.values`, message: `${twice.value} is there twice` });
  const choices = values.map(({ value, label, price }, at) => ({
    ...{ value, label },
    priceMinor: price === undefined ? 0 : amount(price, `${field}.values[${at}].price`),
  }));
  return { kind: 'choice' as const, choices };
}

function boundsOf(known: Option | null, change: OptionChange, { field, amount, problems }: Reading) {
  const before = known?.kind === 'integer' ? known : null;
  const { min = before?.min, max = before?.max, step = before?.step ?? 1, unit_price: price } = change;
  if (min === undefined || max === undefined)
    problems.push({ field, message: 'needs min and max, or values' });
  else if (min > max) problems.push({ field: `${field}.max`, message: 'must not be below min' });
  const unitPriceMinor =
    price === undefined ? (before?.unitPriceMinor ?? 0) : amount(price, `${field}.unit_price`);
  return { kind: 'integer' as const, min: min ?? 0, max: max ?? 0, step, unitPriceMinor };
}
