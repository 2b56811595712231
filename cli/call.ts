/** Makes the call that a command stands for, and prints its answer. */
import {
  type Answer,
  ApiError,
  type Call,
  type Client,
  type Schema,
  UnreachableError,
} from '../client/index.ts';
import { follow } from './events.ts';
import { PerhapsDoneError, UsageError } from './failures.ts';
import { read, type Typed } from './parse.ts';
import { printRecord, Table } from './print.ts';
import { save } from './save.ts';
import { shown, shownJson } from './shown.ts';
import type { Command } from './table.ts';
import { waitForAction, waitForDelivery } from './wait.ts';

/** As many as the API gives at once. */
const mostOfPage = 100;

type Page = Record<string, unknown> & { next_cursor?: string | null };

export async function make(client: Client, command: Command, typed: Typed): Promise<void> {
  const call = callOf(command, typed);
  if (command.answer === 'events') return follow(client, command.path, call, typed.flags.json === true);
  if (command.answer !== 'json') return save(client, command, call, typed);
  if (command.list?.hasPages) return printPages(client, command, typed, call);
  const { text, data, headers } = await answerTo(client, command, call);
  if (typed.flags.json === true) printJson(text);
  else if (command.list !== null)
    printRows(new Table(columnsOf(typed)), data[command.list.key], 'Nothing there.');
  else printRecord(data);
  const isTried = command.method !== 'get' && headers.get('test-key') === 'true';
  if (isTried) process.stderr.write('The key is a test key: nothing was changed.\n');
  else if (typed.body?.dry_run === true)
    process.stderr.write('Nothing was changed: this is what it would do.\n');
  // After it is printed: it may hold what is said once, such as a password, and whoever waits may give up.
  else if (typed.flags.wait === true) await wait(client, command, typed, data);
}

function callOf({ upload, takesKey }: Command, { places, query, body, flags }: Typed): Call {
  const ifMatch = headerOf(flags, 'if-match');
  return {
    ...{ path: places, query, body },
    ...(upload !== null && { file: fileToSend(flags.file, upload) }),
    ...(ifMatch !== undefined && { ifMatch }),
    // Chosen here, so that it can be told when nobody knows whether it was done.
    ...(takesKey && { idempotencyKey: headerOf(flags, 'idempotency-key') ?? crypto.randomUUID() }),
  };
}

function headerOf(flags: Typed['flags'], name: string): string | undefined {
  const value = flags[name];
  if (typeof value !== 'string') return undefined;
  if (!/^[\x20-\x7e]+$/.test(value)) throw new UsageError(`--${name} holds what cannot be sent.`);
  return value;
}

function fileToSend(file: string | true | undefined, type: string): Blob {
  if (typeof file !== 'string') throw new UsageError('Missing: --file');
  return new Blob([new Uint8Array(read(file))], { type });
}

async function answerTo(client: Client, { method, path }: Command, call: Call): Promise<Answer<Page>> {
  try {
    return await client.answer<Page>(method, path, call);
  } catch (error) {
    const isFailure = error instanceof ApiError || error instanceof UnreachableError;
    if (isFailure && error.isPerhapsDone && call.idempotencyKey !== undefined)
      throw new PerhapsDoneError(error, call.idempotencyKey);
    throw error;
  }
}

async function wait(client: Client, { waitsFor }: Command, { places }: Typed, data: unknown): Promise<void> {
  if (waitsFor === 'delivery') await waitForDelivery(client, data as Schema<'InvoicePaymentAnswer'>);
  const { action } = data as { action?: Schema<'Action'> | null };
  if (waitsFor === 'action' && action) await waitForAction(client, Number(places.id), action);
}

/** Each page is printed when it has come: whoever reads gets the first line at once, however long the list. */
async function printPages(client: Client, command: Command, typed: Typed, call: Call): Promise<void> {
  const { flags } = typed;
  const isJson = flags.json === true;
  const most =
    flags.limit === undefined ? (flags.all ? Number.POSITIVE_INFINITY : null) : Number(flags.limit);
  const table = new Table(columnsOf(typed));
  let left = most;
  let cursor: string | null | undefined;
  let isFirst = true;
  do {
    const size = left === null ? undefined : Math.min(mostOfPage, left);
    const query = {
      ...call.query,
      ...(size !== undefined && { limit: size }),
      ...(cursor && { cursor, page: undefined }),
    };
    const { text, data } = await answerTo(client, command, { ...call, query });
    const rows = data[command.list?.key ?? ''];
    if (isJson) printJson(text);
    else printRows(table, rows, isFirst ? 'Nothing there.' : null);
    isFirst = false;
    cursor = data.next_cursor;
    if (left !== null) left -= Array.isArray(rows) ? rows.length : 0;
  } while (cursor && left !== null && left > 0);
  if (cursor && !isJson) process.stderr.write(`There are more: --all, or --cursor ${shown(cursor)}\n`);
}

function columnsOf({ flags }: Typed): string | undefined {
  return typeof flags.columns === 'string' ? flags.columns : undefined;
}

function printRows(table: Table, rows: unknown, otherwise: string | null): void {
  const all = Array.isArray(rows) ? rows : [];
  const records = all.map((row) => (typeof row === 'object' && row !== null ? row : { value: row }));
  if (records.length === 0 && otherwise !== null) process.stderr.write(`${otherwise}\n`);
  table.print(records as Record<string, unknown>[]);
}

/** As it came; a terminal gets the same in letters that it does not obey. */
function printJson(text: string): void {
  process.stdout.write(`${process.stdout.isTTY ? shownJson(text) : text}\n`);
}
