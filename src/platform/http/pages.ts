import { isIP } from 'node:net';
import type { Context } from '../context.ts';
import { fail } from '../errors.ts';
import { cursorKeys, type ListDefinition, type SortKey } from './listDefinition.ts';
import { decodeCursor, encodeCursor, type PageQuery, type Position } from './lists.ts';
import { declareOrders, declareSearches, foundWord, type Statements } from './pageStatements.ts';

/** Where in the list, and in which order. */
export type ListRequest = PageQuery & { sort?: string | undefined; search?: string | undefined };

/** Values of what stands in `within` and `filters`; an undefined one does not filter. */
export type ListValues = Record<string, string | number | boolean | undefined>;

export interface Page<Row> {
  rows: Row[];
  at: Position;
}

const deepestOffset = 10_000;
/** From here on passing over rows costs more than finding those that are shown a second time. */
const deepOffset = 250;

/**
 * Prepares a list, the same for all that are listed: by page or by cursor, in a chosen order, with filters. No page
 * costs more for lying deep: a cursor begins where the page before ended, pages go 10,000 entries deep (or all the
 * way, where rows are numbered), and entries are counted up to a cap.
 */
export function pagedList<Row>(definition: ListDefinition<Row>) {
  const { name, sorts, filters = {} } = definition;
  const statements = new Map([...declareOrders(definition), ...declareSearches(definition)]);

  return async (ctx: Context, query: ListRequest, given: ListValues = {}): Promise<Page<Row>> => {
    const used = Object.keys(filters).filter((filter) => given[filter] !== undefined);
    const text = query.search;
    const order = text === undefined ? (query.sort ?? definition.order) : 'search';
    const found = statements.get([order, ...used].join('.'));
    if (!found) throw new Error(`${name} has no order ${order}`);
    const values = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    if (text === undefined) {
      const narrowed = narrowing(definition.bounds, order);
      const isRange = definition.numbered && used.length === 0 && sorts[order.replace('-', '')] === null;
      return read(
        ctx,
        query,
        found,
        values,
        isRange ? (order.startsWith('-') ? 'down' : 'up') : null,
        narrowed,
      );
    }
    const word: SortKey<Row> = { by: '', type: 'text', of: wordOf };
    const { rows, at } = await read(
      ctx,
      query,
      { ...found, keys: [word, definition.key] },
      { ...values, search: text },
      null,
    );
    for (const row of rows as Partial<Found>[]) delete row[foundWord];
    return { rows, at };
  };
}

async function read<Row>(
  ctx: Context,
  { page, limit, cursor }: PageQuery,
  { count, first, deep, next, keys }: Statements<Row>,
  values: Record<string, unknown>,
  range: 'up' | 'down' | null,
  narrowed: Narrow = (given) => given,
): Promise<Page<Row>> {
  const { total } = await ctx.db.one(count, values);
  const skipped = (page - 1) * limit;
  let after = cursor === undefined ? null : placeOf(cursor, keys);
  if (after === null && range !== null) after = [range === 'up' ? skipped : total - skipped + 1];
  if (after === null && skipped >= deepestOffset) throw fail('page_too_deep');
  const place =
    after === null
      ? { offset: skipped }
      : Object.fromEntries(after.map((value, index) => [`after${index}`, value]));
  const byPage = skipped < deepOffset ? first : deep;
  const found = await ctx.db.many(after === null ? byPage : next, {
    ...(after === null ? values : narrowed(values, after)),
    ...place,
    limit: limit + 1,
  });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const goesOn = last !== undefined && found.length > limit;
  const nextCursor = goesOn ? encodeCursor(keys.map(({ of }) => of(last))) : null;
  return { rows, at: { total, page, limit, nextCursor } };
}

type Narrow = (values: Record<string, unknown>, after: (string | number)[]) => Record<string, unknown>;

/**
 * Where a list is bounded by the moment it is sorted by, what comes after a place is bounded by that place. Of a bound of one
 * column and that of a pair the index begins at the first, and would pass over all that was shown before.
 */
function narrowing(bounds: ListDefinition<unknown>['bounds'], order: string): Narrow | undefined {
  if (bounds === undefined) return undefined;
  return (values, [at]) => {
    const moment = Date.parse(String(at));
    const isDown = order.startsWith('-');
    const name = isDown ? bounds.until : bounds.since;
    const bound = Date.parse(String(values[name]));
    // No moment is one without a bound.
    // PostgreSQL reads no year of five digits, and whoever writes a cursor by hand can name the last moment that there is.
    const nearer = isDown
      ? Math.min(moment + 1, lastMoment, Number.isNaN(bound) ? Number.POSITIVE_INFINITY : bound)
      : Math.max(moment, Number.isNaN(bound) ? Number.NEGATIVE_INFINITY : bound);
    return { ...values, [name]: new Date(nearer).toISOString() };
  };
}

const lastMoment = Date.parse('9999-12-31T23:59:59.999Z');

type Found = { [foundWord]: string };

function wordOf(row: unknown): string {
  return (row as Found)[foundWord];
}

function placeOf<Row>(cursor: string, keys: SortKey<Row>[]): (string | number)[] {
  const values: (string | number)[] = decodeCursor(
    cursor,
    keys.map(({ type }) => cursorKeys[type]),
  );
  for (const [index, value] of values.entries()) {
    if (keys[index]?.type === 'inet' && !isAddress(String(value))) throw fail('invalid_cursor');
  }
  return values;
}

function isAddress(text: string): boolean {
  return isIP(text) > 0 && !text.includes('%');
}
