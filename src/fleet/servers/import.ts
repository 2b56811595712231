import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { type Problem, validatorFor } from '../../platform/http/index.ts';
import {
  AppError,
  attempt,
  type Context,
  type ErrorDetail,
  fail,
  refuse,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { NewServer as NewServerSchema } from './schema.ts';
import { insertOne, type NewServer } from './staff.ts';

export const importLimits = { bytes: 1024 * 1024, lines: 500 } as const;

const columns = [
  ...['name', 'serial', 'rack', 'unit', 'height', 'macs', 'bmc_kind', 'bmc_address', 'bmc_port', 'bmc_user'],
  ...['bmc_password', 'bmc_certificate', 'note'],
] as const;

/** A line of the file: its number there, and what stands under each heading; an empty cell is left out. */
interface Line {
  number: number;
  cells: Partial<Record<(typeof columns)[number], string>>;
}

const rackNamed = statement<{ id: number }, { name: string }>(
  'fleet.rackNamed',
  'select id from racks where name = :name',
);
const check = validatorFor('body', NewServerSchema);

/**
 * Adds every server of a table, or none: `invalid_request` says of each line what is wrong with it. The first line has the headings, of
 * which only `name` and `serial` must be there; MACs stand in one cell, with blanks between them.
 */
export async function importServers(ctx: Context, file: Buffer) {
  const lines = readTable(file);
  return transaction(ctx, 'fleet.importServers', async (tx) => {
    const wrong: ErrorDetail[] = [];
    const servers: { id: number; name: string }[] = [];
    for (const line of lines) {
      const added = await addLine(tx, line);
      if ('id' in added) servers.push(added);
      else wrong.push(...added.details);
    }
    if (wrong.length > 0) throw fail('invalid_request', { details: wrong.slice(0, mostDetails) });
    return { servers };
  });
}

/** Nobody mends more of them at once. */
const mostDetails = 100;

function readTable(file: Buffer): Line[] {
  const text = new TextDecoder('utf-8', { fatal: true });
  let records: { info: { lines: number }; record: Record<string, string> }[];
  try {
    const options = { bom: true, trim: true, skip_empty_lines: true, info: true, columns: headings } as const;
    records = parse(text.decode(file), options) as unknown as typeof records;
  } catch (error) {
    if (error instanceof CsvError) throw refuse('body', `is no CSV: ${error.message}`);
    if (error instanceof TypeError) throw refuse('body', 'must be text in UTF-8');
    throw error;
  }
  if (records.length === 0) throw refuse('body', 'must have a line of headings and a line for each server');
  if (records.length > importLimits.lines)
    throw refuse('body', `must have at most ${importLimits.lines} servers; send the rest as another file`);
  return records.map(({ info, record }) => ({
    number: info.lines,
    cells: Object.fromEntries(Object.entries(record).filter(([, cell]) => cell !== '')),
  }));
}

function headings(given: string[]): string[] {
  const known: readonly string[] = columns;
  for (const heading of given)
    if (!known.includes(heading))
      throw refuse(
        'body',
        `has a heading "${heading.slice(0, 40)}"; those that mean something are ${columns.join(', ')}`,
      );
  for (const heading of ['name', 'serial'])
    if (!given.includes(heading)) throw refuse('body', `must have the heading ${heading}`);
  const twice = given.find((heading, at) => given.indexOf(heading) !== at);
  if (twice !== undefined) throw refuse('body', `has the heading ${twice} twice`);
  return given;
}

/** Adds the server of a line, or says what is wrong with it; a line that is wrong leaves nothing behind for the next. */
async function addLine(
  tx: TxContext,
  { number, cells }: Line,
): Promise<{ id: number; name: string } | { details: ErrorDetail[] }> {
  const field = `line ${number}`;
  try {
    const server = await wantedIn(tx, cells);
    return { id: await attempt(tx, (inner) => insertOne(inner, server)), name: server.name };
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    const { details } = error;
    if (details === undefined) return { details: [{ field, message: error.message }] };
    return { details: details.map((each) => inLine(field, each)) };
  }
}

/** What is wrong with a field of the request, said of the heading that it stands under. */
function inLine(line: string, { field, message }: ErrorDetail): ErrorDetail {
  const heading = field
    .replace(/\[\d+\]$/, '')
    .replace('bmc.', 'bmc_')
    .replace('rack_id', 'rack');
  return { field: line, message: `${heading} ${message}` };
}

/** What a line asks for, held against what a request may ask for; `invalid_request`. */
async function wantedIn(tx: TxContext, cells: Line['cells']): Promise<NewServer> {
  const { name, serial, rack, unit, height, macs, note } = cells;
  const { bmc_kind: kind, bmc_address: address, bmc_user: user, bmc_password: password } = cells;
  const { bmc_certificate: certificate } = cells;
  const bmc = { kind, address, port: numberIn(cells.bmc_port), user, password, certificate };
  const hasBmc = Object.values(bmc).some((value) => value !== undefined);
  const wanted = {
    ...{ name, serial, unit: numberIn(unit), height: numberIn(height), note },
    ...(rack !== undefined && { rack_id: await requireRackNamed(tx, rack) }),
    ...(macs !== undefined && { macs: macs.split(/\s+/) }),
    ...(hasBmc && { bmc }),
  };
  // As in a request, what is left out is not there.
  const asked: unknown = JSON.parse(JSON.stringify(wanted));
  const problems: Problem[] = [];
  check(asked, 0, problems);
  if (problems.length > 0)
    throw fail('invalid_request', { details: problems.map(({ field, message }) => ({ field, message })) });
  return asked as NewServer;
}

async function requireRackNamed(tx: TxContext, name: string): Promise<number> {
  const rack = await tx.db.maybe(rackNamed, { name });
  if (rack === null) throw refuse('rack_id', 'is no rack');
  return rack.id;
}

/** A number, or the text, of which the check then says that it is none. */
function numberIn(cell: string | undefined): number | string | undefined {
  return cell !== undefined && /^\d{1,9}$/.test(cell) ? Number(cell) : cell;
}
