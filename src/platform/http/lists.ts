import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { fail } from '../errors.ts';
import { Nullable, Strict } from './schema.ts';

const paging = {
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1, description: 'One-based page' }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 25, description: 'Entries a page' }),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'next_cursor of the page before; replaces page',
    }),
  ),
};

/** The query of a list, with the room's filters: `ListQuery({ status: Type.Optional(Choice([…])) })`. */
export function ListQuery<F extends TProperties>(filters: F) {
  return Strict({ ...paging, ...filters });
}

/** `?search=`, for lists that can, with what it finds. */
export function Search(description: string) {
  return Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }));
}

/** `?sort=created_at`, or with a minus in front for the other direction: `SortBy(['created_at'], '-created_at')`. */
export function SortBy<const F extends readonly string[]>(fields: F, fallback: F[number] | `-${F[number]}`) {
  return Type.Unsafe<F[number] | `-${F[number]}`>({
    type: 'string',
    enum: fields.flatMap((field) => [field, `-${field}`]),
    default: fallback,
    description: 'Field to sort by; a minus in front turns the order around',
  });
}

/** Which page is asked for: what every {@link ListQuery} has. */
export interface PageQuery {
  page: number;
  limit: number;
  cursor?: string | undefined;
}

const pagingAnswer = {
  pages: Type.Integer({ description: 'How many pages there are' }),
  current_page: Type.Integer(),
  entries: Type.Integer({ description: 'Entries on this page' }),
  total: Type.Integer({
    description: 'Entries on all pages; with filters counted up to 10,000, with search up to 1,000',
  }),
  next_cursor: Nullable(Type.String({ description: 'For ?cursor=; null on the last page' })),
};

/** The data of a list: `{ <plural>: Item[], pages, current_page, entries, total, next_cursor }`. */
export function listOf<K extends string, T extends TSchema, M extends TProperties = Record<never, never>>(
  plural: K,
  item: T,
  more?: M,
) {
  const properties = { [plural]: Type.Array(item), ...pagingAnswer, ...more };
  type Properties = { [key in K]: ReturnType<typeof Type.Array<T>> } & typeof pagingAnswer & M;
  return Type.Object(properties) as unknown as TObject<Properties>;
}

export interface Position {
  total: number;
  page: number;
  limit: number;
  nextCursor: string | null;
}

export type ListData<K extends string, T> = { [key in K]: T[] } & {
  pages: number;
  current_page: number;
  entries: number;
  total: number;
  next_cursor: string | null;
};

/** Fills what {@link listOf} describes. */
export function listData<K extends string, T>(plural: K, items: T[], at: Position): ListData<K, T> {
  return {
    [plural]: items,
    pages: Math.ceil(at.total / at.limit),
    current_page: at.page,
    entries: items.length,
    total: at.total,
    next_cursor: at.nextCursor,
  } as ListData<K, T>;
}

/** Makes an opaque cursor of the sort keys of the last row shown: `encodeCursor([row.created_at, row.id])`. */
export function encodeCursor(position: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/**
 * Reads a cursor back, held against the shape of its position (a tuple schema as a list of checks). Throws
 * `invalid_cursor` for anything {@link encodeCursor} did not make with that shape.
 */
export function decodeCursor<const K extends readonly CursorKey[]>(
  cursor: string,
  kinds: K,
): { [I in keyof K]: CursorValue[K[I]] } {
  const position = parsed(cursor);
  const fits =
    Array.isArray(position) &&
    position.length === kinds.length &&
    kinds.every((kind, at) => isKind(position[at], kind)) &&
    encodeCursor(position) === cursor;
  if (!fits) throw fail('invalid_cursor');
  return position as unknown as { [I in keyof K]: CursorValue[K[I]] };
}

export type CursorKey = 'integer' | 'text' | 'time';

interface CursorValue {
  integer: number;
  text: string;
  time: string;
}

function isKind(value: unknown, kind: CursorKey): boolean {
  if (kind === 'integer') return Number.isSafeInteger(value);
  if (typeof value !== 'string' || value.includes('\u0000') || !value.isWellFormed()) return false;
  return kind === 'text' || isTime(value);
}

/** To the microsecond, as PostgreSQL has it. JavaScript also takes 30 February and the year 0, which there are not. */
function isTime(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/.test(value) || value.startsWith('0000')) return false;
  const read = new Date(value);
  return !Number.isNaN(read.getTime()) && read.toISOString() === `${value.slice(0, 23)}Z`;
}

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}
