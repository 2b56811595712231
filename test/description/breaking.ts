/** What would break a client between two descriptions, both with their references resolved. */

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  pattern?: string;
  format?: string;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  [keyword: string]: unknown;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

type Content = Record<string, { schema?: Schema }>;

interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
}

export interface Description {
  paths: Record<string, Record<string, Operation>>;
}

/** Changes that a client of `released` would trip over, in words; additions are none. */
export function breakingChanges(released: Description, now: Description): string[] {
  return Object.entries(released.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, before]) => {
      const after = now.paths[path]?.[method];
      const name = `${method.toUpperCase()} ${path}`;
      if (after === undefined) return [`${name} is gone`];
      if (after.operationId !== before.operationId) return [`${name} is now called ${after.operationId}`];
      return [...requestChanges(before, after), ...answerChanges(before, after)].map(
        (change) => `${name}: ${change}`,
      );
    }),
  );
}

function requestChanges(before: Operation, after: Operation): string[] {
  const keyOf = (parameter: Parameter) => `${parameter.in} ${parameter.name}`;
  const old = new Map((before.parameters ?? []).map((parameter) => [keyOf(parameter), parameter]));
  const kept = new Map((after.parameters ?? []).map((parameter) => [keyOf(parameter), parameter]));
  const gone = [...old.keys()].filter((key) => !kept.has(key)).map((key) => `${key} is gone`);
  const others = [...kept].flatMap(([key, parameter]) => {
    const known = old.get(key);
    if (parameter.required === true && known?.required !== true) return [`${key} is now required`];
    return known === undefined ? [] : narrowed(known.schema, parameter.schema, key);
  });
  return [...gone, ...others, ...narrowed(bodyOf(before), bodyOf(after), 'body')];
}

function answerChanges(before: Operation, after: Operation): string[] {
  const schemaOf = ({ responses }: Operation) => responses['200']?.content?.['application/json']?.schema;
  // An answer widens as a request narrows: what was promised has to be among what is promised now.
  return narrowed(schemaOf(after) ?? {}, schemaOf(before) ?? {}, 'answer', 'answer');
}

function bodyOf({ requestBody }: Operation): Schema {
  return requestBody?.content['application/json']?.schema ?? { type: 'object', properties: {} };
}

type Place = 'request' | 'answer';

/**
 * What the first schema, the wide one, allows and the second does not. Of a request the released schema is the wide one,
 * of an answer the present one, in which new fields and new values of an enumeration are no break.
 */
function narrowed(given: Schema, kept: Schema, at: string, place: Place = 'request'): string[] {
  const [wide, narrow] = [plain(given), plain(kept)];
  const changes: string[] = [];
  const lost = typesOf(wide).filter((type) => !typesOf(narrow).includes(type));
  if (lost.length > 0)
    changes.push(`${at}: ${lost.join(', ')} ${place === 'request' ? 'is refused' : 'is new'}`);
  if (place === 'request') changes.push(...tightened(wide, narrow, at));
  else if (wide.format !== narrow.format) changes.push(`${at} has another format`);
  if (wide.items && narrow.items) changes.push(...narrowed(wide.items, narrow.items, `${at}[]`, place));
  const [old, present] = place === 'request' ? [wide, narrow] : [narrow, wide];
  for (const [name, schema] of Object.entries(old.properties ?? {})) {
    const field = `${at}.${name}`;
    const other = present.properties?.[name];
    if (other === undefined) changes.push(`${field} is gone`);
    else if (place === 'request') changes.push(...narrowed(schema, other, field));
    else changes.push(...narrowed(other, schema, field, place));
  }
  const must = narrow.required ?? [];
  const had = wide.required ?? [];
  const missing = must.filter((name) => !had.includes(name));
  const verb = place === 'request' ? 'is now required' : 'may now be absent';
  return [...changes, ...missing.map((name) => `${at}.${name} ${verb}`)];
}

/** Bounds of a request that let less pass than before. */
function tightened(wide: Schema, narrow: Schema, at: string): string[] {
  const changes: string[] = [];
  const values = narrow.enum?.map(String);
  const gone = (wide.enum ?? []).filter((value) => values !== undefined && !values.includes(String(value)));
  if (gone.length > 0) changes.push(`${at}: ${gone.join(', ')} is no longer among its values`);
  if (values !== undefined && wide.enum === undefined && wide.const === undefined)
    changes.push(`${at} takes a few values only`);
  for (const keyword of ['maximum', 'maxLength', 'maxItems', 'maxProperties'] as const) {
    if (Number(narrow[keyword] ?? Infinity) < Number(wide[keyword] ?? Infinity))
      changes.push(`${at}: a lower ${keyword}`);
  }
  for (const keyword of ['minimum', 'minLength', 'minItems', 'minProperties'] as const) {
    if (Number(narrow[keyword] ?? -Infinity) > Number(wide[keyword] ?? -Infinity))
      changes.push(`${at}: a higher ${keyword}`);
  }
  if (narrow.pattern !== undefined && narrow.pattern !== wide.pattern)
    changes.push(`${at} has another pattern`);
  if (narrow.format !== undefined && narrow.format !== wide.format) changes.push(`${at} has another format`);
  return changes;
}

/** `Nullable` of a named schema is a choice between it and null; here it is the schema with one type more. */
function plain(schema: Schema): Schema {
  const [branch, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
  return branch === undefined || others.length > 0 ? schema : { ...branch, type: typesOf(schema) };
}

const everyType = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

function typesOf(schema: Schema): string[] {
  if (schema.anyOf) return [...new Set(schema.anyOf.flatMap(typesOf))];
  if (schema.type === undefined) return everyType;
  const types = [schema.type].flat();
  return types.includes('number') ? [...types, 'integer'] : types;
}
