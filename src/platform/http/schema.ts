import {
  type Static,
  type TProperties,
  type TSchema,
  type TStringOptions,
  type TUnsafe,
  Type,
} from 'typebox';

/**
 * The schema under a name of its own in the description, of which generated clients make a type. Checking and
 * serializing pay no heed to names.
 */
export function named<T extends TSchema>(name: string, schema: T, description?: string): T {
  return marked(schema, { 'x-name': name, ...(description !== undefined && { description }) });
}

/** A named schema, with what it means in this place. */
export function meaning<T extends TSchema>(description: string, schema: T): T {
  return marked(schema, 'x-name' in schema ? { 'x-meaning': description } : { description });
}

/**
 * A schema that lets more pass than the description tells: what is outside gets an answer of its own from the
 * room's rule, in the order in which the rule looks.
 */
export function shownAs<T extends TSchema>(shown: TSchema, checked: T): T {
  return marked(checked, { 'x-shown': shown });
}

/** Marks of the description, which mean nothing to a validator. */
export const schemaMarks = ['x-name', 'x-meaning', 'x-shown'] as const;

type Marks = { [mark in (typeof schemaMarks)[number]]?: unknown } & { description?: string };

/** A copy with what TypeBox keeps hidden beside the schema. */
function marked<T extends TSchema>(schema: T, marks: Marks): T {
  const copy: T = Object.defineProperties({} as T, Object.getOwnPropertyDescriptors(schema));
  return Object.assign(copy, marks);
}

/** An object that refuses every field it does not name. Requests are made of these. */
export function Strict<P extends TProperties>(properties: P, options: { description?: string } = {}) {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** One of a few words, as a plain `enum`. */
export function Choice<const T extends readonly string[]>(
  values: T,
  options: { description?: string; default?: T[number] } = {},
): TUnsafe<T[number]> {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });
}

/** The schema, or null. Written as a list of types, which serializes without trying alternatives. */
export function Nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const plain = { ...schema } as Record<string, unknown>;
  if (typeof plain.type !== 'string' || 'const' in plain) {
    return Type.Unsafe<Static<T> | null>({ anyOf: [schema, { type: 'null' }] });
  }
  const values = Array.isArray(plain.enum) ? { enum: [...plain.enum, null] } : {};
  return Type.Unsafe<Static<T> | null>({ ...plain, type: [plain.type, 'null'], ...values });
}

/** An id: ours are integers that every JSON reader keeps exactly. */
export const Id = Type.Integer({
  format: 'int64',
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  examples: [4503599627370449],
});

/** `/:id` */
export const IdParams = Strict({ id: Id });

/** A moment in a response: handlers return the Date, clients get ISO 8601 in UTC with milliseconds. */
export const Timestamp = Type.Unsafe<Date | string>({
  type: 'string',
  format: 'date-time',
  examples: ['2026-01-31T12:00:00.000Z'],
});

/** A calendar day, `2026-01-31`. */
export const Day = Type.String({ format: 'date', examples: ['2026-01-31'] });

/** A country by its two letters. Whether there is one, its room sees to: `requireCountry`. */
export const CountryCode = (options: TStringOptions = {}) =>
  Type.String({
    pattern: '^[A-Z]{2}$',
    'x-message': 'must be a country in two capital letters, such as DE',
    ...options,
  });

/** A currency by its three letters (ISO 4217). */
export const CurrencyCode = (options: TStringOptions = {}) =>
  Type.String({
    pattern: '^[A-Z]{3}$',
    'x-message': 'must be a currency in three capital letters, such as EUR',
    ...options,
  });

/** Money on the wire: a decimal string in the currency's digits. */
export const MoneyText = Type.String({ pattern: '^-?\\d+(\\.\\d+)?$', examples: ['12.50'] });

/** No data: `{}`. */
export const Nothing = Strict({});
