import { isDeepStrictEqual } from 'node:util';

export type Json = Record<string, unknown>;

export interface Components {
  /** The schema as the description shows it: each named one inside it becomes a reference. */
  show(schema: unknown): unknown;
  /** Every named schema that was shown, by name. */
  schemas: Record<string, Json>;
}

/** Collects named schemas, so that each stands in the description once. Two that share a name are refused. */
export function collectComponents(): Components {
  const schemas: Record<string, Json> = {};

  const show = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(show);
    if (typeof schema !== 'object' || schema === null) return schema;
    const { 'x-name': name, 'x-meaning': meaning, 'x-shown': shown, ...plain } = schema as Json;
    if (shown !== undefined) return show(shown);
    return typeof name === 'string' ? refer(name, meaning, plain) : showFields(plain);
  };

  const showFields = (plain: Json): Json =>
    withoutDefaults(Object.fromEntries(Object.entries(plain).map(([key, value]) => [key, show(value)])));

  const refer = (name: string, meaning: unknown, plain: Json): Json => {
    const shown = showFields(withoutNull(plain));
    schemas[name] ??= shown;
    if (!isDeepStrictEqual(schemas[name], shown)) throw new Error(`two schemas are named ${name}`);
    const reference = { $ref: `#/components/schemas/${name}` };
    const described = typeof meaning === 'string' && { description: meaning };
    if (!isNullable(plain)) return { ...reference, ...described };
    return { anyOf: [reference, { type: 'null' }], ...described };
  };

  return { show, schemas };
}

function isNullable({ type }: Json): boolean {
  return Array.isArray(type) && type.includes('null');
}

/** The schema that `Nullable` was made of. */
function withoutNull(plain: Json): Json {
  if (!isNullable(plain)) return plain;
  const type = (plain.type as string[]).find((each) => each !== 'null');
  const values = Array.isArray(plain.enum) && { enum: plain.enum.filter((each) => each !== null) };
  return { ...plain, type, ...values };
}

/** A field with a default need not be sent, which a schema alone does not say. */
function withoutDefaults(schema: Json): Json {
  const properties = schema.properties as Record<string, Json> | undefined;
  if (!Array.isArray(schema.required) || properties === undefined) return schema;
  const required = schema.required.filter((name: string) => !('default' in (properties[name] ?? {})));
  const { required: _, ...rest } = schema;
  return required.length === 0 ? rest : { ...rest, required };
}
