/** The program, as it is built into one file with its table of commands. */
import path from 'node:path';
import { exits } from './failures.ts';
import { run } from './run.ts';
import type { Table } from './table.ts';

/** Put in by `build.ts`. */
declare const tableOfCommands: Table;

/** A provider may give it another name: it calls itself by what it was started as. */
const program = path.basename(process.argv[1] ?? 'inn').replace(/\.mjs$/, '');

// Whoever reads no further, as `head` does, has all that they wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
// Should it end before it knows how, that is no success.
process.exitCode = exits.refused;
void run(tableOfCommands, program, process.argv.slice(2)).then((exit) => {
  process.exitCode = exit;
});
