import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openPainter } from './painter.ts';
import { runProgram } from './platform/host/program.ts';
import { type RequestFields, readSite, type Site } from './platform/http/index.ts';
import type { ProcessLog } from './platform/index.ts';

const root = path.join(import.meta.dirname, '..');
const place = path.join(root, 'dist/dashboard');
/** Names what the built files were made of. */
const stampFile = '.made-of';
/** What paints pages in the server. */
const painterFile = '.painter/paint.mjs';
/** What the built files are made of; the types of the client leave nothing in them. */
const sources = [
  ...['web', 'client', 'package-lock.json'],
  ...['cli/flags.ts', 'cli/names.ts', 'src/platform/countries.ts', 'src/platform/http/requestField.ts'],
  ...['src/settings/brand/shade.ts', 'src/settings/brand/variables.ts'],
];

/** What forms know of each request, by operation: made of the schemas, and so a part of what the dashboard is made of. */
type AllFields = ReadonlyMap<string, RequestFields>;
const fieldsPlace = path.join(root, 'client/generated/fields');

/** The dashboard, as it is served: built where it has to be, see {@link buildDashboard}. */
export async function openDashboard(
  fields: AllFields,
  log: ProcessLog,
  say: (detail: string) => void,
): Promise<Site> {
  await buildDashboard(fields, say);
  const [site, paint] = await Promise.all([readSite(place), openPainter(path.join(place, painterFile), log)]);
  return { ...site, paint };
}

/**
 * The dashboard, built into files. Built here when there are sources that differ from what was built: after a
 * checkout, an update, a change. A package brings it built, without sources.
 */
export async function buildDashboard(fields: AllFields, say: (detail: string) => void): Promise<void> {
  const wanted = await fingerprint(fields);
  if (wanted === null || wanted === (await builtOf())) return;
  say('building the dashboard');
  await writeFields(fields);
  await build(wanted);
}

/** Null where there are no sources. */
async function fingerprint(fields: AllFields): Promise<string | null> {
  if (!(await isThere(path.join(root, 'web/index.html')))) return null;
  const hash = createHash('sha256').update(JSON.stringify([...fields]));
  for (const source of sources) {
    for (const file of await filesUnder(path.join(root, source))) {
      hash.update(path.relative(root, file)).update('\0');
      hash.update(await readFile(file)).update('\0');
    }
  }
  return hash.digest('hex');
}

async function filesUnder(where: string): Promise<string[]> {
  const found = await readdir(where, { recursive: true, withFileTypes: true }).catch(() => null);
  if (found === null) return [where];
  return found
    .filter((each) => each.isFile() && !each.parentPath.includes(`${path.sep}generated`))
    .map((each) => path.join(each.parentPath, each.name))
    .sort();
}

/**
 * A module for each operation, so that a page brings those of its own forms alone. What stays is not written again:
 * somebody may be building of it.
 */
export async function writeFields(fields: AllFields): Promise<void> {
  await mkdir(fieldsPlace, { recursive: true });
  for (const old of await readdir(fieldsPlace))
    if (old.endsWith('.ts') && !fields.has(path.parse(old).name))
      await rm(path.join(fieldsPlace, old), { force: true });
  for (const [operation, request] of fields) {
    const file = path.join(fieldsPlace, `${operation}.ts`);
    const text = `export const ${operation} = ${JSON.stringify(request, null, 2)} as const;\n`;
    const before = await readFile(file, 'utf8').catch(() => null);
    if (before !== text) {
      const fresh = `${file}.${process.pid}`;
      await writeFile(fresh, text);
      await rename(fresh, file);
    }
  }
}

function builtOf(): Promise<string | null> {
  return readFile(path.join(place, stampFile), 'utf8').catch(() => null);
}

/** In a directory of its own, which then takes the place: whoever starts at the same time finds a whole one. */
async function build(wanted: string): Promise<void> {
  const vite = path.join(root, 'node_modules/vite/bin/vite.js');
  if (!(await isThere(vite))) {
    throw new Error(
      'The dashboard is not built, and what builds it is not installed: run "npm ci" with its development packages, or set DASHBOARD=off.',
    );
  }
  await mkdir(path.dirname(place), { recursive: true });
  const fresh = await mkdtemp(`${place}-`);
  const old = `${fresh}-before`;
  try {
    const painter = path.join(fresh, path.dirname(painterFile));
    for (const target of [
      ['--outDir', fresh],
      ['--ssr', 'src/paint.tsx', '--outDir', painter],
    ])
      await runProgram([process.execPath, vite, 'build', 'web', ...target, '--logLevel', 'warn'], {
        cwd: root,
        timeoutMs: 300_000,
      });
    await writeFile(path.join(fresh, stampFile), wanted);
    if ((await builtOf()) === wanted) return; // Somebody else was quicker, and may be reading it.
    // Moved away at once: one that is taken away bit by bit is in the way of whoever does the same.
    await rename(place, old).catch(() => undefined);
    await rename(fresh, place).catch(async (error: unknown) => {
      // Somebody else was quicker; theirs is as good when it is of the same sources.
      if ((await builtOf()) !== wanted) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await rm(old, { recursive: true, force: true });
  }
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
