/** Answers for people: lists as tables that fit the terminal, single things as records. */
import { cut, shown, widthOf } from './shown.ts';

type Row = Record<string, unknown>;

/** What says most about a thing, in the order in which it is looked for. */
const first = [
  ...[
    'id',
    'tid',
    'slug',
    'number',
    'kind',
    'domain',
    'name',
    'hostname',
    'title',
    'subject',
    'code',
    'email',
    'command',
  ],
  ...[
    'status',
    'state',
    'provisioning_state',
    'progress',
    'primary_ip',
    'address',
    'total',
    'price',
    'amount',
    'amount_due',
  ],
  ...[
    'currency',
    'duedate',
    'description',
    'message',
    'action',
    'role',
    'location',
    'priority',
    'department',
    'created_at',
  ],
];

/** The terminal's; what reads a pipe gets lines as long as those of a wide one. */
function widthOfTerminal(): number {
  const asked = Number(process.env.COLUMNS);
  return asked >= 20 ? asked : (process.stdout.columns ?? 160);
}

/** Prints rows as they come. Columns and their widths are those of the first page. */
export class Table {
  #columns: { name: string; width: number }[] | null = null;
  readonly #asked: string[] | null;

  constructor(asked?: string) {
    this.#asked = asked === undefined ? null : asked.split(',').map((name) => name.trim());
  }

  print(rows: readonly Row[]): void {
    if (rows.length === 0) return;
    if (this.#columns === null) {
      this.#columns = this.#asked === null ? fitting(rows) : this.#asked.map((name) => sized(name, rows));
      if (this.#asked !== null) noteUnknown(this.#asked, rows);
      line(this.#columns.map(({ name, width }) => cut(shown(name.toUpperCase()), width)));
    }
    for (const row of rows)
      line(this.#columns.map(({ name, width }) => cellOf(at(row, name), width, this.#asked !== null)));
  }
}

/** Says which of the columns that were asked for no row has: an empty one would read as "not set". */
function noteUnknown(asked: readonly string[], rows: readonly Row[]): void {
  const unknown = asked.filter((name) => rows.every((row) => at(row, name) === undefined));
  if (unknown.length === 0) return;
  const there = [...new Set(rows.flatMap((row) => Object.keys(row)))].sort().join(', ');
  process.stderr.write(`There is no column ${shown(unknown.join(', '))}; there are ${shown(there)}.\n`);
}

function line(cells: string[]): void {
  process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
}

function cellOf(value: unknown, width: number, isWhole: boolean): string {
  const text = inline(value);
  return isWhole && widthOf(text) > width ? text : cut(text, width);
}

function fitting(rows: readonly Row[]): { name: string; width: number }[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const rank = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length);
  const useful = names
    .filter((name) => rows.some((row) => isSaid(row[name])))
    .sort((one, other) => rank(one) - rank(other));
  const chosen: { name: string; width: number }[] = [];
  let left = widthOfTerminal();
  for (const name of useful) {
    const column = sized(name, rows);
    const isSame = chosen.some((each) => rows.every((row) => inline(row[each.name]) === inline(row[name])));
    if (isSame && chosen.length > 1) continue;
    const width = Math.min(column.width, 40);
    if (width + 2 > left && chosen.length > 0) continue;
    chosen.push({ name, width: Math.min(width, left) });
    left -= width + 2;
  }
  return chosen;
}

function sized(name: string, rows: readonly Row[]): { name: string; width: number } {
  return { name, width: Math.max(widthOf(name), ...rows.map((row) => widthOf(inline(at(row, name))))) };
}

/** `product.name` looks into the product. */
function at(row: Row, name: string): unknown {
  if (name in row) return row[name];
  return name.split('.').reduce<unknown>((value, step) => (isRow(value) ? value[step] : undefined), row);
}

/** Whether a table has room for it, and it says something. */
function isSaid(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false;
  return !isRow(value) && (!Array.isArray(value) || (value.length > 0 && !value.some(isRow)));
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A single thing: a line for each of its fields, what is within it further in. */
export function printRecord(data: unknown): void {
  const [only, ...more] = isRow(data) ? Object.values(data) : [];
  const whole = more.length === 0 && isRow(only) ? only : data;
  process.stdout.write(`${recordOf(whole, '').join('\n')}\n`);
}

function recordOf(value: unknown, indent: string): string[] {
  if (!isRow(value)) return [`${indent}${block(value, indent)}`];
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  const width =
    Math.max(
      0,
      ...entries.filter(([, each]) => !isDeep(each) || isAllowance(each)).map(([name]) => name.length),
    ) + 2;
  return entries.flatMap(([name, each]) => {
    const called = shown(name);
    if (isAllowance(each))
      return [`${indent}${called.padEnd(width)}${each.allowed ? 'yes' : `no: ${inline(each.reason)}`}`];
    if (isRow(each) && isDeep(each)) return [`${indent}${called}`, ...recordOf(each, `${indent}  `)];
    const table = Array.isArray(each) ? tableIn(each, `${indent}  `) : null;
    if (table !== null) return [`${indent}${called}`, ...table];
    if (isDeep(each))
      return [
        `${indent}${called}`,
        ...(each as unknown[]).flatMap((one) => listed(recordOf(one, `${indent}    `), indent)),
      ];
    return [`${indent}${called.padEnd(width)}${block(each, indent + ' '.repeat(width))}`.trimEnd()];
  });
}

/** Whether something may be done now; a record of them has a line each. */
function isAllowance(value: unknown): value is { allowed: boolean; reason: unknown } {
  return isRow(value) && typeof value.allowed === 'boolean' && 'reason' in value;
}

/** Several things of the same kind side by side, when all of each has room there. */
function tableIn(values: readonly unknown[], indent: string): string[] | null {
  if (values.length < 2 || !values.every(isRow)) return null;
  const rows = values.map((each) => flat(each));
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].map((name) => sizedIn(name, rows));
  const isDeepIn = rows.some((row) => Object.values(row).some(isDeep));
  const whole = columns.reduce((sum, { width }) => sum + width + 2, indent.length);
  if (isDeepIn || whole > widthOfTerminal()) return null;
  const lineOf = (cells: string[]) => `${indent}${cells.join('  ')}`.trimEnd();
  return [
    lineOf(columns.map(({ name, width }) => cut(shown(name.toUpperCase()), width))),
    ...rows.map((row) => lineOf(columns.map(({ name, width }) => cut(inline(row[name]), width)))),
  ];
}

function sizedIn(name: string, rows: readonly Row[]): { name: string; width: number } {
  return { name, width: Math.max(widthOf(shown(name)), ...rows.map((row) => widthOf(inline(row[name])))) };
}

/** `recurring.new` instead of what is within. */
function flat(row: Row, before = ''): Row {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      isRow(value)
        ? Object.entries(flat(value, `${before}${name}.`))
        : [[`${before}${name}`, value] as const],
    ),
  );
}

function isDeep(value: unknown): boolean {
  return isRow(value) ? Object.keys(value).length > 0 : Array.isArray(value) && value.some(isRow);
}

function listed([head = '', ...rest]: string[], indent: string): string[] {
  return [`${indent}  - ${head.trimStart()}`, ...rest];
}

/** Of several lines, each below the first. */
function block(value: unknown, indent: string): string {
  return typeof value === 'string'
    ? shown(momentOf(value), true).replaceAll('\n', `\n${indent}`)
    : inline(value);
}

function inline(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value)) return value.map(inline).join(', ') || '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'object' ? shown(JSON.stringify(value)) : shown(momentOf(String(value)));
}

/** To the second is enough for people. */
function momentOf(text: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text)
    ? `${text.slice(0, 10)} ${text.slice(11, 19)}Z`
    : text;
}
