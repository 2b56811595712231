/** What is no JSON: into a file, on to the next program, or in letters to a terminal. */
import { createWriteStream, renameSync, rmSync, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Call, type Client, UnreachableError } from '../client/index.ts';
import { UsageError } from './failures.ts';
import type { Typed } from './parse.ts';
import { shown } from './shown.ts';
import type { Command } from './table.ts';

export async function save(
  client: Client,
  { path, answer: kind }: Command,
  call: Call,
  { flags: { output } }: Typed,
): Promise<void> {
  const file = typeof output === 'string' && output !== '-' ? output : null;
  const isShown = file === null && process.stdout.isTTY;
  if (isShown && kind !== 'text')
    throw new UsageError('It is no text: name a file with --output, or send it on with |.');
  const answer = await client.send('get', path, call);
  try {
    if (isShown) process.stdout.write(`${shown(await answer.text(), true)}\n`);
    else if (file === null) await pipeline(bodyOf(answer), process.stdout, { end: false });
    else await write(answer, file);
  } catch (error) {
    const { syscall, code } = error as NodeJS.ErrnoException;
    if (syscall !== undefined) throw new UsageError(`${file ?? 'The output'} cannot be written: ${code}`);
    // It broke on its way here.
    throw error instanceof TypeError ? new UnreachableError(null, { cause: error }) : error;
  }
  if (file !== null) process.stderr.write(`Written to ${shown(file)}.\n`);
}

/** Beside it first: what breaks midway leaves what was there before. */
async function write(answer: Response, file: string): Promise<void> {
  // A device or a pipe has nothing to keep, and cannot be replaced.
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
    return pipeline(bodyOf(answer), createWriteStream(file));
  const part = `${file}.part`;
  try {
    await pipeline(bodyOf(answer), createWriteStream(part));
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

function bodyOf({ body }: Response): Readable {
  return body === null ? Readable.from([]) : Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
}
