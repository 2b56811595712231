/**
 * `npm run inn`: the command line tool in one file, with the commands of this version, that runs wherever there is Node 20
 * or newer, whatever it is called: `dist/cli/inn.mjs`. Built anew when what it is made of differs.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Rolldown } from 'vite';
import { ourDescription } from '../client/description.ts';
import { type Description, tableOf } from './table.ts';

const root = path.join(import.meta.dirname, '..');
const place = path.join(root, 'dist/cli');
const sources = ['cli', 'client'];

/** Returns the file. */
export async function buildTool(): Promise<string> {
  const table = JSON.stringify(tableOf(ourDescription() as unknown as Description));
  const madeOf = await fingerprint(table);
  const file = path.join(place, 'inn.mjs');
  const stamp = path.join(place, '.made-of');
  if ((await readFile(stamp, 'utf8').catch(() => null)) === madeOf) return file;
  await mkdir(place, { recursive: true });
  const built = (await build({
    ...{ root, configFile: false, logLevel: 'warn' },
    define: { tableOfCommands: `JSON.parse(${JSON.stringify(table)})` },
    build: {
      ...{ ssr: path.join(root, 'cli/main.ts'), target: 'node20', copyPublicDir: false, write: false },
      rolldownOptions: { output: { format: 'cjs' } },
    },
  })) as Rolldown.RolldownOutput;
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, asProgram(built.output[0]), { mode: 0o755 });
  await rename(fresh, file);
  await writeFile(stamp, madeOf);
  return file;
}

/**
 * Node goes by a file's name, and by the package it lies in, to read it as a module or not; older ones refuse a module
 * without `.mjs`. People save it as they like: with `import()` alone, which both have, it is either.
 */
function asProgram({ code, imports }: Rolldown.OutputChunk): string {
  const names = JSON.stringify(imports);
  return [
    '#!/usr/bin/env node',
    '(async () => {',
    `const loaded = new Map(await Promise.all(${names}.map(async (name) => [name, await import(name)])));`,
    'const require = (name) => loaded.get(name);',
    code,
    '})();',
    '',
  ].join('\n');
}

async function fingerprint(table: string): Promise<string> {
  const hash = createHash('sha256').update(table);
  for (const source of sources)
    for (const file of (await readdir(path.join(root, source))).sort())
      if (file.endsWith('.ts')) hash.update(file).update(await readFile(path.join(root, source, file)));
  return hash.digest('hex');
}

if (import.meta.main) console.log(await buildTool());
