import type { Json } from './components.ts';
import type { RequestField, RequestFields } from './requestField.ts';
import type { Route } from './route.ts';

/**
 * The fields of the request of each operation, from the schemas that validate them: bounds, patterns, choices and help for
 * the forms of the dashboard. What is no text, number or choice is left out, and so is what may be one of several shapes.
 */
export function requestFields(routes: readonly Route[]): Map<string, RequestFields> {
  const all = new Map<string, RequestFields>();
  for (const { operation, method, body } of routes) {
    // In a PATCH what is absent stays; a field of a form is there, and must not be empty where nothing stands for that.
    const fields = Object.fromEntries(fieldsIn(body as unknown as Json, '', true, method === 'PATCH'));
    if (Object.keys(fields).length > 0) all.set(operation, fields);
  }
  return all;
}

function fieldsIn(
  schema: Json,
  name: string,
  isRequired: boolean,
  isChange: boolean,
): [string, RequestField][] {
  const plain = withoutNull(schema);
  if (plain === null) return [];
  const isNullable = plain !== schema || [schema.type].flat().includes('null');
  const { properties, required = [], items } = plain;
  if (properties !== undefined) {
    const needed = new Set(required as string[]);
    return Object.entries(properties as Record<string, Json>).flatMap(([part, of]) =>
      fieldsIn(
        of,
        name === '' ? part : `${name}.${part}`,
        isChange || (needed.has(part) && !('default' in of)),
        isChange,
      ),
    );
  }
  if (items !== undefined) return fieldsIn(items as Json, `${name}[]`, true, isChange);
  const field = fieldOf(plain, isRequired && !isNullable);
  return field === null || name === '' ? [] : [[name, field]];
}

/** The only shape besides null; null when there are several. */
function withoutNull(schema: Json): Json | null {
  const several = schema.anyOf as Json[] | undefined;
  if (several === undefined) return schema;
  const [only, ...others] = several.filter(({ type }) => type !== 'null');
  if (only === undefined || others.length > 0) return null;
  return { ...only, ...(schema.description !== undefined && { description: schema.description }) };
}

function fieldOf(schema: Json, isRequired: boolean): RequestField | null {
  const type = [schema.type].flat().find((each) => each !== 'null');
  if (type !== 'string' && type !== 'integer' && type !== 'number') return null;
  const { minLength, maxLength, pattern, minimum, maximum } = schema as Partial<RequestField>;
  // As forms have them: what is chosen is a text there, also of numbers.
  const choices = (schema.enum as (string | number | null)[] | undefined)
    ?.filter((each) => each !== null)
    .map(String);
  const help = helpIn(schema['x-meaning'] ?? schema.description);
  const field: RequestField = {
    ...(type !== 'string' && { isNumber: type }),
    ...{ isRequired, minLength, maxLength, pattern, message: schema['x-message'] as string | undefined },
    ...{ minimum, maximum, choices, help },
  };
  return JSON.parse(JSON.stringify(field)) as RequestField;
}

/** For whoever fills in a form: there an empty field is what null is on the wire. Null when it speaks of what only programs do. */
function helpIn(description: unknown): string | undefined {
  if (typeof description !== 'string' || /`|\b(GET|POST|PATCH|absent|ISO|CIDR|IANA)\b/i.test(description))
    return undefined;
  return description.replaceAll(/\bnull\b/g, 'empty').replaceAll(/\bNull\b/g, 'Empty');
}
