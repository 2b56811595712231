/**
 * `npm run inn:build`: the command line tool in one file, with the commands of this version, that runs wherever there is Node 20
 * or newer: `dist/cli/inn.mjs`. Built anew when what it is made of differs.
 */
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'vite';
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
  const fresh = await mkdtemp(`${place}-`);
  try {
    await build({
      ...{ root, configFile: false, logLevel: 'warn' },
      define: { tableOfCommands: `JSON.parse(${JSON.stringify(table)})` },
      build: {
        ...{ ssr: path.join(root, 'cli/main.ts'), outDir: fresh, target: 'node20', copyPublicDir: false },
        rolldownOptions: { output: { entryFileNames: 'inn.mjs', banner: '#!/usr/bin/env node' } },
      },
    });
    await chmod(path.join(fresh, 'inn.mjs'), 0o755);
    await rename(path.join(fresh, 'inn.mjs'), file);
    await writeFile(stamp, madeOf);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return file;
}

async function fingerprint(table: string): Promise<string> {
  const hash = createHash('sha256').update(table);
  for (const source of sources)
    for (const file of (await readdir(path.join(root, source))).sort())
      if (file.endsWith('.ts')) hash.update(file).update(await readFile(path.join(root, source, file)));
  return hash.digest('hex');
}

if (import.meta.main) console.log(await buildTool());
