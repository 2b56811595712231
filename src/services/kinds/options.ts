import { readSpeed } from '../../fleet/index.ts';

/** How one option of an order becomes a typed value. */
export interface OptionType<T> {
  /** `option1` … `option8`: its name on the wire and in the database (contract §2). */
  key: string;
  /** Counts when an order leaves it out; undefined: it must be there. */
  absent: T | undefined;
  /** The value, or null when it is none of this type. */
  read: (value: unknown) => T | null;
  /** What it is about, for whoever makes a product. */
  about: string;
}

type Types = Record<string, OptionType<unknown>>;
type Values<S extends Types> = { [Name in keyof S]: S[Name] extends OptionType<infer T> ? T : never };

/** The options of a kind of service by the names the code uses. */
export interface OptionSet<T extends object> {
  /** Reads options that were accepted when they were ordered; anything else is a bug. */
  read: (options: Record<string, unknown>) => T;
  /** Keys that an order must have and these options lack. */
  missing: (options: Record<string, unknown>) => string[];
  /** Keys whose value is none of the option's type. */
  unreadable: (options: Record<string, unknown>) => string[];
  keyOf: (name: keyof T) => string;
  /** What a key is about: `memory in GB`. */
  aboutOf: (key: string) => string;
}

export function optionSet<S extends Types>(types: S): OptionSet<Values<S>> {
  const all = Object.entries(types);
  const isAbsent = (options: Record<string, unknown>, { key }: OptionType<unknown>) =>
    options[key] === undefined;
  return {
    read: (options) =>
      Object.fromEntries(all.map(([name, type]) => [name, parse(type, options)])) as Values<S>,
    missing: (options) =>
      all
        .filter(([, type]) => type.absent === undefined && isAbsent(options, type))
        .map(([, { key }]) => key),
    unreadable: (options) =>
      all
        .filter(([, type]) => !isAbsent(options, type) && type.read(options[type.key]) === null)
        .map(([, { key }]) => key),
    keyOf: (name) => types[name]?.key ?? '',
    aboutOf: (wanted) => all.find(([, { key }]) => key === wanted)?.[1].about ?? wanted,
  };
}

/** The same, where an order that leaves it out says nothing of it. */
export function open<T>(type: OptionType<T>): OptionType<T | null> {
  return { ...type, absent: null };
}

function parse<T>(type: OptionType<T>, options: Record<string, unknown>): T {
  const value = options[type.key];
  if (value === undefined && type.absent !== undefined) return type.absent;
  const read = type.read(value);
  if (read === null) throw new Error(`${type.key} cannot be ${JSON.stringify(value)}`);
  return read;
}

/** A whole number of something: GB, cores, addresses. */
export function amount(key: string, about: string, absent?: number): OptionType<number> {
  const read = (value: unknown) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
  return { key, about, absent, read };
}

/** One of the product's choices, which mean nothing to the code. */
export function word(key: string, about: string): OptionType<string> {
  return { key, about, absent: undefined, read: (value) => (typeof value === 'string' ? value : null) };
}

/** A speed such as `1gbit`, in Mbit/s. */
export function speedMbps(key: string, about: string, absent?: number): OptionType<number> {
  const read = (value: unknown) => (typeof value === 'string' ? readSpeed(value) : null);
  return { key, about, absent, read };
}
