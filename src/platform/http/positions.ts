import type { Context } from '../context.ts';
import { type Statement, statement } from '../database/index.ts';
import { fail } from '../errors.ts';
import { decodeCursor, encodeCursor, type PageQuery } from './lists.ts';

/**
 * Lists of rows that are numbered 1, 2, 3 … in their organization (`position`). The total is the highest
 * number and a page is a range of numbers, so the last page of a million costs what the first one costs.
 * With filters the numbers have gaps: those lists count, and go by page, up to a cap.
 */
export interface PositionedList<Row> {
  page(ctx: Context, organizationId: number, query: PageQuery, filters: Filters): Promise<Page<Row>>;
}

/** Values by filter name; undefined ones do not filter. */
export type Filters = Record<string, string | number | boolean | undefined>;

export interface Page<Row> {
  rows: Row[];
  at: { total: number; page: number; limit: number; nextCursor: string | null };
}

interface Definition {
  /** Prefix of the statements' names. */
  name: string;
  table: string;
  /** Everything before `where`; the table is called `t`. */
  select: string;
  /** SQL of each filter, with the filter's own name for its value: `status: 't.status = :status'`. */
  filters: Record<string, string>;
}

const countCap = 10_000;

/** Prepares the list of a table that has `organization_id` and `position`, newest first. */
export function positionedList<Row extends { position: number }>(
  definition: Definition,
): PositionedList<Row> {
  const { name, table, select } = definition;
  const total = statement<{ total: number }, { organizationId: number }>(
    `${name}.total`,
    `select coalesce(max(position), 0)::bigint as total from ${table} where organization_id = :organizationId`,
  );
  const range = statement<Row, { organizationId: number; highest: number; limit: number }>(
    `${name}.range`,
    `${select} where t.organization_id = :organizationId and t.position <= :highest
     order by t.position desc limit :limit`,
  );
  const filtered = filteredStatements<Row>(definition);

  return {
    async page(ctx, organizationId, query, filters) {
      const { limit } = query;
      const before = query.cursor === undefined ? null : decodeCursor(query.cursor, ['integer'])[0];
      const used = Object.entries(filters).filter(([, value]) => value !== undefined);
      if (used.length > 0)
        return filteredPage(ctx, filtered(used.map(([key]) => key)), organizationId, query, used, before);
      const all = (await ctx.db.one(total, { organizationId })).total;
      const highest = before === null ? all - (query.page - 1) * limit : before - 1;
      const rows = highest < 1 ? [] : await ctx.db.many(range, { organizationId, highest, limit });
      const last = rows.at(-1)?.position ?? 0;
      return {
        rows,
        at: { total: all, page: query.page, limit, nextCursor: last > 1 ? encodeCursor([last]) : null },
      };
    },
  };
}

interface FilteredStatements<Row> {
  rows: Statement<Row, Record<string, unknown>>;
  count: Statement<{ total: number }, Record<string, unknown>>;
}

function filteredStatements<Row>(definition: Definition): (keys: string[]) => FilteredStatements<Row> {
  const known = new Map<string, FilteredStatements<Row>>();
  return (keys) => {
    const combination = keys.join('+');
    let statements = known.get(combination);
    if (!statements) {
      const where = keys.map((key) => ` and ${definition.filters[key]}`).join('');
      statements = {
        count: statement(
          `${definition.name}.count.${combination}`,
          `select count(*)::int as total from (select 1 from ${definition.table} t
           where t.organization_id = :organizationId${where} limit ${countCap}) counted`,
        ),
        rows: statement(
          `${definition.name}.rows.${combination}`,
          `${definition.select} where t.organization_id = :organizationId and t.position < :before${where}
           order by t.position desc limit :limit offset :offset`,
        ),
      };
      known.set(combination, statements);
    }
    return statements;
  };
}

async function filteredPage<Row extends { position: number }>(
  ctx: Context,
  statements: FilteredStatements<Row>,
  organizationId: number,
  { page, limit }: PageQuery,
  used: [string, unknown][],
  before: number | null,
): Promise<Page<Row>> {
  const offset = before === null ? (page - 1) * limit : 0;
  if (offset >= countCap) throw fail('page_too_deep');
  const given = { organizationId, ...Object.fromEntries(used) };
  const { total } = await ctx.db.one(statements.count, given);
  const after = { before: before ?? Number.MAX_SAFE_INTEGER, limit: limit + 1, offset };
  const rows = await ctx.db.many(statements.rows, { ...given, ...after });
  const more = rows.length > limit;
  const shown = more ? rows.slice(0, limit) : rows;
  const last = shown.at(-1)?.position ?? 0;
  return { rows: shown, at: { total, page, limit, nextCursor: more ? encodeCursor([last]) : null } };
}
