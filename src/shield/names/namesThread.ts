/** Reads the tables of who has which network, in a thread of its own: that keeps a processor busy for a second or two. */
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { parentPort } from 'node:worker_threads';
import type { Tables } from './names.ts';
import { makeTable, readRow, type Table } from './table.ts';

const { resolve } = createRequire(import.meta.url);

async function* rowsOf(file: string, nameFrom: (first: string, second: string | null) => string) {
  for await (const line of createInterface({ input: createReadStream(resolve(file), 'utf8') })) {
    const row = readRow(line, nameFrom);
    if (row !== null) yield row;
  }
}

/** Null where the package is not installed. */
async function read(name: string, nameFrom: (first: string, second: string | null) => string) {
  const file = (family: 4 | 6) => `@ip-location-db/${name}/${name}-ipv${family}-num.csv`;
  try {
    return await makeTable(rowsOf(file(4), nameFrom), rowsOf(file(6), nameFrom));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}

const asn = await read('asn', (number, name) => (name ? `AS${number} ${name}` : `AS${number}`));
const country = await read('asn-country', (code) => code);
const tables: Tables = { asn, country };
const buffers = ({ four, six, text, ends }: Table) =>
  [four, six].flatMap((of) => [of.starts, of.ends, of.names]).concat(text as never, ends as never);
const moved = [asn, country].flatMap((table) => (table === null ? [] : buffers(table)));
parentPort?.postMessage(tables, [...new Set(moved.map(({ buffer }) => buffer as ArrayBuffer))]);
