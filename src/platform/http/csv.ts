import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import type { Bytes } from './answer.ts';

/** A column: its heading, and what stands in it of a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | number | null>>;

/**
 * A table as a download (RFC 4180, UTF-8 with the mark that Excel needs), made while it is read: of the rows there are
 * never more in memory than the source gives at once. No cell begins a formula.
 */
export function csv<Row>(name: string, columns: Columns<Row>, rows: AsyncIterable<Row>): Bytes {
  const headings = Object.keys(columns);
  const cells = Object.values(columns);
  const table = stringify({
    bom: true,
    header: true,
    columns: headings,
    quoted_string: true, // what separates cells elsewhere, such as a semicolon, separates none
    record_delimiter: 'windows',
  });
  const lines = Readable.from(linesOf(rows, cells));
  // What goes wrong in between ends the table too, and so the connection: half a table is not taken for a whole one.
  pipeline(lines, table).catch(() => undefined);
  return { body: table, type: 'text/csv; charset=utf-8', name };
}

async function* linesOf<Row>(rows: AsyncIterable<Row>, cells: Columns<Row>[string][]) {
  for await (const row of rows) yield cells.map((cell) => cellOf(cell(row)));
}

/**
 * What a spreadsheet would take for a formula gets an apostrophe in front, with which it is text. A plain number stays
 * as it is, also with a minus in front.
 */
export function cellOf(value: string | number | null): string {
  const text = String(value ?? '').replaceAll('\0', '');
  if (/^-?\d+(\.\d+)?$/.test(text)) return text;
  return /^[\s\p{Cc}\p{Cf}]*[=+\-@|%＝＋－＠]|^[\t\r\n]/u.test(text) ? `'${text}` : text;
}
