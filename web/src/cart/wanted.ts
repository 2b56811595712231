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

type Chosen = Record<string, number | string>;
type Offer = Schema<'ServerOffer'>;

/** Which option chooses what of a server that is sold out of the rack. */
const ofServer = {
  option1: ({ memory_gb: gb }: Offer) => gb,
  option2: ({ storage_gb: gb }: Offer) => gb,
  option7: ({ port_mbps: mbps }: Offer, { options }: Product) =>
    options
      .find(({ key }) => key === 'option7')
      ?.values.map(({ value }) => value)
      .find((value) => mbpsOf(value) === mbps) ?? null,
  option8: ({ location }: Offer) => location,
} as const;
type ServerKey = keyof typeof ofServer;

/** Of a speed as it is ordered, such as `1gbit`. */
function mbpsOf(value: string): number {
  const number = Number.parseInt(value, 10);
  return value.endsWith('gbit') ? number * 1_000 : number;
}

/** The speed of a port chooses nothing before a profile of the product says one. */
function chooses(key: ServerKey, { options, servers }: Product): boolean {
  if (!options.some((option) => option.key === key)) return false;
  return key !== 'option7' || (servers ?? []).some(({ port_mbps: mbps }) => mbps !== null);
}

/** The servers that can be told apart by what an order of the product names, with how many there are of each. */
export function serversOf(product: Product): { key: string; options: Chosen; stock: number }[] {
  const keys = (Object.keys(ofServer) as ServerKey[]).filter((key) => chooses(key, product));
  const servers = new Map<string, { key: string; options: Chosen; stock: number }>();
  for (const offer of product.servers ?? []) {
    const options: Chosen = {};
    for (const key of keys) {
      const value = ofServer[key](offer, product);
      if (value !== null) options[key] = value;
    }
    // One of which a profile says less than an order has to name cannot be named.
    if (keys.length === 0 || Object.keys(options).length < keys.length) continue;
    const key = JSON.stringify(options);
    servers.set(key, { key, options, stock: (servers.get(key)?.stock ?? 0) + offer.stock });
  }
  return [...servers.values()];
}

/** What an order names of its server: the one that is wanted, else the first that can be had. */
function serverIn(product: Product, wanted: Wanted): Chosen {
  const all = serversOf(product);
  const isWanted = ({ options }: { options: Chosen }) =>
    Object.entries(options).every(([key, value]) => wanted[key as ServerKey] === value);
  const found = all.find(isWanted) ?? all.find(({ stock }) => stock > 0) ?? all[0];
  return found?.options ?? {};
}

/** A choice for each option of the product: what is wanted where the product has it, else its first. */
export function chosenOf(product: Product, wanted: Wanted): Chosen {
  return { ...optionsIn(product, wanted), ...serverIn(product, wanted) };
}

function optionsIn(product: Product, wanted: Wanted): Chosen {
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
