/** `npm run migrations:merged`: notes which migrations are merged, and what is in them, so that nobody changes one. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const folder = path.join(import.meta.dirname, '../migrations');
const file = path.join(import.meta.dirname, 'mergedMigrations.json');

type Checksums = Record<string, string>;

/** Each migration by its name, with the checksum that databases keep of it. */
export function checksumsOfMigrations(): Checksums {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  const sum = (name: string) =>
    createHash('sha256')
      .update(readFileSync(path.join(folder, name)))
      .digest('hex');
  return Object.fromEntries(names.sort().map((name) => [name, sum(name)]));
}

/** Those that were merged when the list was written last. */
export const mergedMigrations = (): Checksums => JSON.parse(readFileSync(file, 'utf8')) as Checksums;

// Only adds: one that was changed is for its writer to put back.
if (process.argv[1] === import.meta.filename) {
  const all = { ...checksumsOfMigrations(), ...mergedMigrations() };
  const sorted = Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(file, `${JSON.stringify(sorted, null, 2)}\n`);
}
