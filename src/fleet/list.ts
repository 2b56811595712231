import { isIP } from 'node:net';
import { decodeCursor, encodeCursor } from '../platform/http/index.ts';
import { type Context, fail, statement } from '../platform/index.ts';

/** Lists of what the provider owns, in the order of a unique key. They count, and go by page up to a depth. */
interface Definition<Row> {
  /** Prefix of the statements' names. */
  name: string;
  table: string;
  /** Everything before `where`; the table is called `t`. */
  select: string;
  /** Column of `t`, and its type. */
  key: string;
  type: 'bigint' | 'text' | 'inet';
  keyOf: (row: Row) => string | number;
  /** Conditions, each with one `?` for its value; a null value leaves its condition out. */
  where?: { sql: string; type: string }[];
}

export interface ListRequest {
  page: number;
  limit: number;
  cursor?: string | undefined;
}

const deepestOffset = 10_000;

/** Prepares such a list; its function takes the values of `where` in their order. */
export function keyedList<Row>({ name, table, select, key, type, keyOf, where = [] }: Definition<Row>) {
  const conditions = (first: number) =>
    where
      .map(({ sql, type: of }, index) => {
        const value = `$${first + index}::${of}`;
        return ` and (${value} is null or ${sql.replaceAll('?', value)})`;
      })
      .join('');
  const count = statement<{ total: number }>(
    `${name}.count`,
    `select count(*)::int as total from ${table} t where true${conditions(1)}`,
  );
  const rows = statement<Row>(
    `${name}.rows`,
    `${select} where ($1::${type} is null or ${key} > $1::${type})${conditions(4)} order by ${key} limit $2 offset $3`,
  );

  return async (ctx: Context, query: ListRequest, values: unknown[] = []) => {
    const { limit, page } = query;
    const after = query.cursor === undefined ? null : keyOfCursor(query.cursor, type);
    const offset = after === null ? (page - 1) * limit : 0;
    if (offset >= deepestOffset) throw fail('page_too_deep');
    const { total } = await ctx.db.one(count, ...values);
    const found = await ctx.db.many(rows, after, limit + 1, offset, ...values);
    const shown = found.slice(0, limit);
    const last = shown.at(-1);
    const nextCursor = found.length > limit && last !== undefined ? encodeCursor([keyOf(last)]) : null;
    return { rows: shown, at: { total, page, limit, nextCursor } };
  };
}

function keyOfCursor(cursor: string, type: 'bigint' | 'text' | 'inet'): string | number {
  if (type === 'bigint') return decodeCursor(cursor, ['integer'])[0];
  const [text] = decodeCursor(cursor, ['text']);
  if (type === 'inet' && (isIP(text) === 0 || text.includes('%'))) throw fail('invalid_cursor');
  return text;
}
