import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { SequenceInBackup, TableInBackup } from './manifest.ts';

type Table = Pick<TableInBackup, 'name' | 'columns'>;
type Contents = Pick<TableInBackup, 'rows' | 'sha256'>;

/** The schema's tables with the columns that are written; what PostgreSQL computes itself is not. */
export async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select c.relname as name, array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0
       and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns
     from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' order by c.relname`,
  );
  return rows;
}

/** Read after the rows: a sequence is not part of a snapshot, and may be ahead of them but never behind. */
export async function listSequences(client: pg.Client): Promise<SequenceInBackup[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'S'
     order by relname`,
  );
  const found: SequenceInBackup[] = [];
  for (const { name } of rows) {
    const { rows: values } = await client.query<{ last_value: string; is_called: boolean }>(
      `select last_value::text, is_called from ${pg.escapeIdentifier(name)}`,
    );
    for (const { last_value, is_called } of values)
      found.push({ name, lastValue: last_value, isCalled: is_called });
  }
  return found;
}

/** Copies all rows of a table into a compressed file, and says what they were. */
export async function copyOut(client: pg.Client, table: Table, file: string): Promise<Contents> {
  const meter = createMeter();
  const out = createWriteStream(file, { mode: 0o600, flags: 'wx', flush: true });
  // Fast rather than small: it runs beside a product that serves.
  await pipeline(
    client.query(copyTo(copyText(table, 'to stdout'))),
    meter.stream,
    createGzip({ level: 2 }),
    out,
  );
  return meter.contents();
}

/** What a table holds, by the same measure. */
export async function measure(client: pg.Client, table: Table): Promise<Contents> {
  const meter = createMeter();
  await pipeline(client.query(copyTo(copyText(table, 'to stdout'))), meter.stream, nowhere());
  return meter.contents();
}

/** What a file of {@link copyOut} holds, without a database. */
export async function measureFile(file: string): Promise<Contents> {
  const meter = createMeter();
  await pipeline(createReadStream(file), createGunzip(), meter.stream, nowhere());
  return meter.contents();
}

/** Copies a file's rows into a table, which has to be empty. */
export async function copyIn(client: pg.Client, table: Table, file: string): Promise<void> {
  await pipeline(
    createReadStream(file),
    createGunzip(),
    client.query(copyFrom(copyText(table, 'from stdin'))),
  );
}

function copyText({ name, columns }: Table, direction: string): string {
  return `copy ${pg.escapeIdentifier(name)} (${columns.map(pg.escapeIdentifier).join(', ')}) ${direction}`;
}

/** Passes rows on, and counts them: COPY ends each with a line feed, and has none within one. */
function createMeter() {
  const hash = createHash('sha256');
  let rows = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) rows += 1;
      done(null, chunk);
    },
  });
  return { stream, contents: (): Contents => ({ rows, sha256: hash.digest('hex') }) };
}

function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
