/** Makes the call that a command stands for, and prints its answer. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Call, Client, Schema } from '../client/index.ts';
import { follow } from './events.ts';
import { UsageError } from './failures.ts';
import { read, type Typed } from './parse.ts';
import { printRecord, Table } from './print.ts';
import { shown, shownJson } from './shown.ts';
import type { Command } from './table.ts';
import { waitForAction, waitForDelivery } from './wait.ts';

/** As many as the API gives at once. */
const mostOfPage = 100;

type Page = Record<string, unknown> & { next_cursor?: string | null };

export async function make(client: Client, command: Command, typed: Typed): Promise<void> {
  const call = callOf(command, typed);
  if (command.answer === 'events') return follow(client, command.path, call, typed.flags.json === true);
  if (command.answer !== 'json') return save(await client.send('get', command.path, call), command, typed);
  if (command.list?.hasPages) return printPages(client, command, typed, call);
  const { text, data } = await answerTo(client, command, call);
  if (typed.flags.wait === true) await wait(client, command, typed, data);
  if (typed.flags.json === true) printJson(text);
  else if (command.list !== null)
    printRows(new Table(columnsOf(typed)), data[command.list.key], 'Nothing there.');
  else printRecord(data);
}

function callOf({ upload }: Command, { places, query, body, flags }: Typed): Call {
  return {
    ...{ path: places, query, body },
    ...(upload !== null && { file: fileToSend(flags.file, upload) }),
    ...(typeof flags['if-match'] === 'string' && { ifMatch: flags['if-match'] }),
    ...(typeof flags['idempotency-key'] === 'string' && { idempotencyKey: flags['idempotency-key'] }),
  };
}

function fileToSend(file: string | true | undefined, type: string): Blob {
  if (typeof file !== 'string') throw new UsageError('Missing: --file');
  return new Blob([new Uint8Array(read(file))], { type });
}

async function answerTo(
  client: Client,
  { method, path }: Command,
  call: Call,
): Promise<{ text: string; data: Page }> {
  const answer = await client.send(method, path, call);
  const text = await answer.text();
  return { text, data: (JSON.parse(text) as { data: Page }).data };
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

/** What is no JSON: into a file, or on to the next program. */
async function save(answer: Response, { answer: kind }: Command, { flags }: Typed): Promise<void> {
  if (answer.body === null) return;
  const body = Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]);
  if (typeof flags.output === 'string' && flags.output !== '-') {
    await pipeline(body, createWriteStream(flags.output)).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`${flags.output} cannot be written: ${error.code}`);
    });
    process.stderr.write(`Written to ${shown(flags.output)}.\n`);
  } else if (!process.stdout.isTTY) await pipeline(body, process.stdout, { end: false });
  else if (kind === 'text') process.stdout.write(`${shown(await new Response(answer.body).text(), true)}\n`);
  else throw new UsageError('It is no text: name a file with --output, or send it on with |.');
}
