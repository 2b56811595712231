/** What an operation takes as flags, out of its schema. */
import { fileField, flagOf, isSecret } from './flags.ts';

/** A shape of the description, as far as it is looked at. */
export interface Shape {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  default?: unknown;
  items?: Shape;
  properties?: Record<string, Shape>;
  required?: string[];
  anyOf?: Shape[];
  oneOf?: Shape[];
}

export interface Field {
  /** Where it goes, in the wire's names; `[]` steps into a list. */
  path: string[];
  flag: string;
  kind: 'text' | 'integer' | 'number' | 'boolean' | 'json';
  /** May be given several times. */
  isMany: boolean;
  isNullable: boolean;
  isRequired: boolean;
  /** Asked for, never given. */
  isAsked: boolean;
  /** Names a file that is sent as base64. */
  isFile: boolean;
  choices?: string[];
  minimum?: number;
  maximum?: number;
  preset?: string;
  about?: string;
}

export type Resolve = (shape: Shape) => Shape;

/** Where a request goes, as the description names it, and how its references are looked up. */
interface Sent {
  to: string;
  resolve: Resolve;
}

/** The fields of a body, those within others as well. */
export function fieldsOf(given: Shape, sent: Sent): Field[] {
  return [...partsOf(given, sent.resolve)].flatMap(([name, shape]) =>
    fieldsAt([name], shape, isRequired(given, name, sent.resolve), sent),
  );
}

/** A single one: what a query or a place of the path takes. */
export function fieldOf(name: string, given: Shape, required: boolean, { to, resolve }: Sent): Field {
  return leaf([name], plain(given, resolve), required, to);
}

function fieldsAt(path: string[], given: Shape, required: boolean, sent: Sent): Field[] {
  const { to, resolve } = sent;
  const field = plain(given, resolve);
  const name = path.at(-1) ?? '';
  if (name === fileField) return [{ ...leaf(path, field, required, to), isFile: true }];
  const items = field.items && plain(field.items, resolve);
  const inner = partsOf(items ?? field, resolve);
  if (inner.size === 0) return [leaf(path, field, required, to, items)];
  const below = [...inner].flatMap(([part, shape]) =>
    fieldsAt([...path, ...(items ? ['[]'] : []), part], shape, false, sent),
  );
  // The whole of it at once, for what cannot be said field by field.
  return [{ ...leaf(path, field, required, to, items), kind: 'json' }, ...below];
}

function leaf(
  path: string[],
  field: Shape & { isNullable: boolean },
  required: boolean,
  to: string,
  items?: Shape,
): Field {
  const of = items ?? field;
  const choices = of.enum?.filter((choice) => typeof choice === 'string') as string[] | undefined;
  return {
    ...{ path, flag: flagOf(path), kind: kindOf(of), isMany: items !== undefined },
    ...{ isNullable: field.isNullable, isRequired: required },
    ...{ isAsked: isSecret(path.at(-1) ?? '', to), isFile: false },
    ...(choices && choices.length > 0 && { choices }),
    ...(of.minimum !== undefined && of.minimum !== 1 && { minimum: of.minimum }),
    ...(of.maximum !== undefined && of.maximum < Number.MAX_SAFE_INTEGER && { maximum: of.maximum }),
    ...(field.default !== undefined && { preset: String(field.default) }),
    ...(field.description !== undefined && { about: field.description }),
  };
}

function kindOf({ type, enum: choices, properties }: Shape): Field['kind'] {
  const [first] = [type].flat().filter((each) => each !== 'null');
  if (first === 'integer' || first === 'number' || first === 'boolean') return first;
  return first === 'string' || choices !== undefined || properties === undefined ? textual(first) : 'json';
}

function textual(type: string | undefined): Field['kind'] {
  return type === 'object' || type === 'array' ? 'json' : 'text';
}

/** Without the reference, and with its variant when the other one is null. */
function plain(given: Shape, resolve: Resolve): Shape & { isNullable: boolean } {
  const shape = { ...resolve(given), ...(given.description && { description: given.description }) };
  const variants = shape.anyOf ?? shape.oneOf;
  const isNullable =
    [shape.type].flat().includes('null') || variants?.some(({ type }) => type === 'null') === true;
  const others = variants?.filter(({ type }) => type !== 'null') ?? [];
  if (others.length !== 1 || others[0] === undefined) return { ...shape, isNullable };
  const inner = resolve(others[0]);
  return { ...inner, description: shape.description ?? inner.description, isNullable };
}

/** What it has in it, in any of its variants; what several have may be what any of them says. */
function partsOf(given: Shape, resolve: Resolve): Map<string, Shape> {
  const shape = plain(given, resolve);
  const parts = new Map<string, Shape>();
  for (const each of [shape, ...(shape.anyOf ?? shape.oneOf ?? []).map((variant) => resolve(variant))])
    for (const [name, part] of Object.entries(each.properties ?? {})) {
      const choices = [...(parts.get(name)?.enum ?? []), ...(part.enum ?? [])];
      parts.set(name, choices.length > 0 ? { ...part, enum: choices } : part);
    }
  return parts;
}

function isRequired(given: Shape, name: string, resolve: Resolve): boolean {
  return plain(given, resolve).required?.includes(name) === true;
}
