import {
  decodeCursor,
  encodeCursor,
  type ListRequest,
  type PageQuery,
  type Position,
} from '../platform/http/index.ts';
import { type Context, fail, type Statement, statement } from '../platform/index.ts';
import { asked } from './words.ts';

/** The newest tickets, which are looked through before all others are asked for. */
const nearWindow = 400;
const countWindow = 3_000;
const countCap = 1_000;
const deepestOffset = 10_000;

interface Ordered {
  id: number;
  last_reply_at: Date;
}

type Values = Record<string, unknown>;

interface Searched {
  /** Prefix of the statements' names. */
  name: string;
  /** Everything before `where`, with `t` for the tickets. */
  select: string;
  /** Whose tickets are looked through. */
  within: string;
  /** What a request may ask besides, of `t`; a value of null does not. */
  filters: string;
}

/**
 * Full text within a scope, the ticket with the newest reply first. A word that is everywhere is found by looking through
 * the newest tickets, which the order's index has; one that is rare by the index of words, which names all that have
 * it. Neither costs more for the number of tickets there are.
 */
export function ticketSearch<Row extends Ordered>({ name, select, within, filters }: Searched) {
  const found = `w.words @@ ${asked}`;
  const beyond = '(t.last_reply_at, t.id) < (:after0::timestamptz, :after1::bigint)';
  const order = 'order by t.last_reply_at desc, t.id desc';
  const newest = (what: string, most: number) =>
    `(select ${what} from tickets t where ${within} and t.merged_into is null and ${beyond} ${order} limit ${most})`;
  const page = `${order} limit :limit offset :offset`;
  const near: Statement<Row, Values> = statement(
    `${name}.searchNear`,
    `${select} where ${filters} and t.id in (select n.id from ${newest('t.id', nearWindow)} n
       join ticket_words w on w.ticket_id = n.id where ${found}) ${page}`,
  );
  const far: Statement<Row, Values> = statement(
    `${name}.searchFar`,
    `${select} where ${within} and t.merged_into is null and ${filters} and ${beyond}
       and t.id = any (array(select w.ticket_id from ticket_words w where ${found})) ${page}`,
  );
  const countNear: Statement<{ total: number }, Values> = statement(
    `${name}.countNear`,
    // `offset 0` has each ticket looked at in turn, so that a word that is everywhere is counted to the cap and no further.
    `select count(*)::int as total from (select 1 from ${newest('t.*', countWindow)} t
       cross join lateral (select from ticket_words w where w.ticket_id = t.id and ${found} offset 0) w
       where ${filters} limit ${countCap}) counted`,
  );
  const countFar: Statement<{ total: number }, Values> = statement(
    `${name}.countFar`,
    `select count(*)::int as total from (select 1 from ticket_words w join tickets t on t.id = w.ticket_id
       where ${within} and t.merged_into is null and ${filters} and ${found} limit ${countCap}) counted`,
  );

  const exactCount = async (ctx: Context, all: Values) => (await ctx.db.one(countFar, all)).total;
  const cappedCount = async (ctx: Context, all: Values) => {
    const { total } = await ctx.db.one(countNear, all);
    return total === countCap ? total : exactCount(ctx, all);
  };

  return async (
    ctx: Context,
    query: ListRequest & { search: string },
    scope: string,
    given: Values,
  ): Promise<{ rows: Row[]; at: Position }> => {
    const { limit } = query;
    const values = { ...given, scope, search: query.search };
    const all = { ...values, after0: 'infinity', after1: 0 };
    const asking = { ...values, ...placeOf(query), limit: limit + 1 };
    const seen = await ctx.db.many(near, asking);
    const fillsPage = seen.length > limit;
    const isFirst = query.cursor === undefined && query.page === 1;
    const [rows, total] = await Promise.all([
      fillsPage ? seen : ctx.db.many(far, asking),
      // What does not fill the first page from the newest tickets is not everywhere.
      fillsPage || !isFirst ? cappedCount(ctx, all) : exactCount(ctx, all),
    ]);
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const goesOn = last !== undefined && rows.length > limit;
    const nextCursor = goesOn ? encodeCursor([last.last_reply_at.toISOString(), last.id]) : null;
    return { rows: shown, at: { total, page: query.page, limit, nextCursor } };
  };
}

function placeOf({ page, limit, cursor }: PageQuery) {
  const offset = (page - 1) * limit;
  if (cursor === undefined) {
    if (offset >= deepestOffset) throw fail('page_too_deep');
    return { after0: 'infinity', after1: 0, offset };
  }
  const [after0, after1] = decodeCursor(cursor, ['time', 'integer']);
  return { after0, after1, offset: 0 };
}
