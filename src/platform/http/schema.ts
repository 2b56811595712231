import { type Static, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';

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

/** Money on the wire: a decimal string in the currency's digits. */
export const MoneyText = Type.String({ pattern: '^-?\\d+(\\.\\d+)?$', examples: ['12.50'] });

/** No data: `{}`. */
export const Nothing = Strict({});
