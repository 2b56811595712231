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
  /** Conditions by the name of their value, which is null to leave the condition out: `t.location = :location`. */
  where?: Record<string, { sql: string; type: string }>;
}

export interface ListRequest {
  page: number;
  limit: number;
  cursor?: string | undefined;
}

const deepestOffset = 10_000;

/** Prepares such a list; its function takes the values of `where` by their names. */
export function keyedList<Row>({ name, table, select, key, type, keyOf, where = {} }: Definition<Row>) {
  const conditions = Object.entries(where)
    .map(([of, { sql, type }]) => ` and (:${of}::${type} is null or ${sql})`)
    .join('');
  const count = statement<{ total: number }, Record<string, unknown>>(
    `${name}.count`,
    `select count(*)::int as total from ${table} t where true${conditions}`,
  );
  const rows = statement<Row, Record<string, unknown>>(
    `${name}.rows`,
    `${select} where (:after::${type} is null or ${key} > :after::${type})${conditions}
     order by ${key} limit :limit offset :offset`,
  );

  return async (ctx: Context, query: ListRequest, given: Record<string, unknown> = {}) => {
    const { limit, page } = query;
    const after = query.cursor === undefined ? null : keyOfCursor(query.cursor, type);
    const offset = after === null ? (page - 1) * limit : 0;
    if (offset >= deepestOffset) throw fail('page_too_deep');
    const { total } = await ctx.db.one(count, given);
    const found = await ctx.db.many(rows, { ...given, after, limit: limit + 1, offset });
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
