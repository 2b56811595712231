/** What the dashboard was built into: what a browser loads before anybody sees a page, and what each page brings. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

const built = path.join(import.meta.dirname, '../dist/dashboard');
export const read = (file: string) => readFileSync(path.join(built, file), 'utf8');
const scriptsThere = () =>
  readdirSync(path.join(built, 'assets'))
    .filter((file) => file.endsWith('.js'))
    .map((file) => `assets/${file}`);

/** Of files as they are sent, compressed. */
export const kilobytes = (files: Iterable<string>) =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(path.join(built, file))).length, 0) / 1_000;

/** A script and all that it cannot begin without. */
function withImports(file: string, known = new Set<string>()): Set<string> {
  if (known.has(file)) return known;
  known.add(file);
  for (const [, name = ''] of read(file).matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g))
    withImports(`assets/${name}`, known);
  return known;
}

export function loadedFirst() {
  const page = read('index.html');
  const scripts = [...page.matchAll(/(?:src|href)="\/(assets\/[\w.-]+\.js)"/g)].map(([, file = '']) => file);
  const styles = [...page.matchAll(/href="\/(assets\/[\w.-]+\.css)"/g)].map(([, file = '']) => file);
  const all = new Set<string>();
  for (const script of scripts) withImports(script, all);
  return { scripts: all, styles };
}

/** The words of a language, which are loaded with the first page; those of the longer one. */
export function longestWords(): string[] {
  const words = ['en', 'de'].map((language) =>
    scriptsThere().filter((file) => file.startsWith(`assets/${language}-`)),
  );
  const [longest = []] = words.sort((one, other) => kilobytes(other) - kilobytes(one));
  return longest;
}

/** What pages bring, each with its size; terminal, screen and charts are apart, since few open them. */
export function chunks(): { file: string; size: number }[] {
  const { scripts } = loadedFirst();
  return scriptsThere()
    .filter((file) => !scripts.has(file) && !/xterm|novnc|rfb|uplot|chart|serial|screen/i.test(file))
    .map((file) => ({ file, size: kilobytes([file]) }))
    .sort((one, other) => other.size - one.size);
}
