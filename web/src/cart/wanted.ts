import type { Schema } from '../../../client/index.ts';

type Product = Schema<'Product'>;

const optionKeys = [
  ...(['option1', 'option2', 'option3', 'option4'] as const),
  ...(['option5', 'option6', 'option7', 'option8'] as const),
];
type OptionKey = (typeof optionKeys)[number];
type Options = { [Key in OptionKey]?: number | string };

/** What somebody is about to order, as it stands in the address: a link to it orders the same. */
export interface Wanted extends Options {
  product?: number;
  cycle?: string;
  name?: string;
  coupon?: string;
}

export function wantedOf(search: Record<string, unknown>): Wanted {
  const { product } = search;
  const wanted: Wanted = typeof product === 'number' ? { product } : {};
  for (const key of ['cycle', 'name', 'coupon'] as const) {
    const given = search[key];
    if (given !== undefined) wanted[key] = String(given);
  }
  for (const key of optionKeys) {
    const given = search[key];
    if (typeof given === 'number' || typeof given === 'string') wanted[key] = given;
  }
  return wanted;
}

/** A choice for each option of the product: what is wanted where the product has it, else its first. */
export function chosenOf(product: Product, wanted: Wanted): Record<string, number | string> {
  return Object.fromEntries(
    product.options.map((option) => {
      const given = wanted[option.key as OptionKey];
      if (option.kind === 'choice') {
        const [first] = option.values;
        const found = option.values.find(({ value }) => value === String(given)) ?? first;
        return [option.key, found?.value ?? ''];
      }
      const min = option.min ?? 0;
      const isOffered =
        typeof given === 'number' &&
        given >= min &&
        given <= (option.max ?? given) &&
        (given - min) % (option.step ?? 1) === 0;
      return [option.key, isOffered ? given : min];
    }),
  );
}

/** What kinds of things have a name and a password of their own; see `moduleId` in the description of the API. */
const servers: readonly number[] = [2, 5];

export function isServer(product: Product): boolean {
  return servers.includes(product.moduleId);
}

interface Given {
  cycle: Product['prices'][number]['cycle'];
  options: Record<string, number | string>;
  coupon: string | undefined;
  name: string | undefined;
  password: string | undefined;
}

export function cartOf(product: Product, { cycle, options, coupon, name, password }: Given): Schema<'Cart'> {
  const isDomain = product.type === 'Domain';
  return {
    products: [
      {
        id: product.id,
        type: product.type,
        cycle,
        ...(isDomain && name !== undefined && { domain: name }),
        ...((product.options.length > 0 || isServer(product) || (!isDomain && name !== undefined)) && {
          options: {
            ...options,
            ...(!isDomain && name !== undefined && { domain: name }),
            ...(password !== undefined && { password }),
          },
        }),
      },
    ],
    ...(coupon !== undefined && { couponcode: coupon }),
  };
}

/**
 * What stands in for a name and a password where only the price is asked for: it depends on neither, and a secret is
 * not sent along with every press of a key.
 */
export function standIns(product: Product): Pick<Given, 'name' | 'password'> {
  return {
    name: product.type === 'Domain' || isServer(product) ? 'price.example.com' : undefined,
    password: isServer(product) ? `Aa1-${crypto.randomUUID()}` : undefined,
  };
}
