import { decodeCursor, encodeCursor, type PageQuery } from './lists.ts';

/**
 * A page of what a person has, which is capped and therefore read whole. The cursor knows the last entry shown by
 * its id and, should it be deleted meanwhile, the place after it.
 */
export function pageOf<Row extends { id: number }>(rows: readonly Row[], { page, limit, cursor }: PageQuery) {
  const from = cursor === undefined ? (page - 1) * limit : after(rows, cursor);
  const shown = rows.slice(from, from + limit);
  const end = from + shown.length;
  const last = shown.at(-1);
  const nextCursor = last === undefined || end >= rows.length ? null : encodeCursor([last.id, end - 1]);
  return { shown, at: { total: rows.length, page, limit, nextCursor } };
}

function after(rows: readonly { id: number }[], cursor: string): number {
  const [id, place] = decodeCursor(cursor, ['integer', 'integer']);
  const found = rows.findIndex((row) => row.id === id);
  return found === -1 ? Math.max(0, place) : found + 1;
}
