/** What a release says of itself. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runCommand } from '../src/commands/index.ts';
import { readConfig } from '../src/config.ts';

const root = path.join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  version: string;
  allowScripts: Record<string, boolean>;
};
const lock = JSON.parse(read('package-lock.json')) as {
  version: string;
  packages: Record<string, { hasInstallScript?: boolean; os?: string[] }>;
};

it.each(['version', '--version'])('"%s" names the version of the package', async (command) => {
  expect(await runCommand(readConfig({}), [command])).toContain(`Innkeeper ${manifest.version} `);
});

it('the version is the same in the lockfile and has its place in the list of changes', () => {
  expect(lock.version).toBe(manifest.version);
  const headings = [...read('CHANGELOG.md').matchAll(/^## \[(.+?)\]/gm)].map((match) => match[1]);
  expect(headings[0]).toBe('Unreleased');
  expect(headings[1]).toBe(manifest.version);
});

it('every package with an install script is decided upon, and none is run', () => {
  const scripted = Object.entries(lock.packages)
    .filter(([, { hasInstallScript, os }]) => hasInstallScript && (os === undefined || os.includes('linux')))
    .map(([name]) => name.replace(/^node_modules\//, ''));
  expect(scripted.toSorted()).toEqual(Object.keys(manifest.allowScripts).toSorted());
  expect(Object.values(manifest.allowScripts)).not.toContain(true);
});
