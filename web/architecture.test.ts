/** Who takes what from whom inside the dashboard. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.join(import.meta.dirname, 'src');
/** Every import of every source: from which file, of what; files as paths below `src/`. */
const imports = globSync('**/*.{ts,tsx}', { cwd: root }).flatMap((file) =>
  [...readFileSync(path.join(root, file), 'utf8').matchAll(/(?:from|import\() ?'([^']+)'/g)].map(
    ([, of = '']) => ({
      file,
      of: of.startsWith('.') ? path.join(path.dirname(file), of) : of,
    }),
  ),
);
const roomOf = (file: string) => (file.includes('/') ? (file.split('/', 1)[0] ?? '') : '');
const isShared = (room: string) => ['', 'ui', 'data', 'text', '..'].includes(room);

it('is drawn with the parts of ui/ alone', () => {
  const others = imports.filter(
    ({ file, of }) => of.startsWith('@mantine/') && roomOf(file) !== 'ui' && file !== 'main.tsx',
  );
  const past = imports.filter(
    ({ file, of }) => roomOf(of) === 'ui' && of !== 'ui/index.ts' && !['ui', ''].includes(roomOf(file)),
  );
  expect(imports.length).toBeGreaterThan(100);
  expect([...others, ...past]).toEqual([]);
});

it('is built anew when anything changes that it is made of', () => {
  const house = path.join(root, '../..');
  const listed = readFileSync(path.join(house, 'src/dashboard.ts'), 'utf8');
  const outside = (file: string, of: string) => path.join(path.dirname(file), of);
  const seen = new Set<string>();
  const add = (file: string) => {
    if (/^(web|client)\//.test(file) || seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(path.join(house, file), 'utf8');
    for (const [, of = ''] of text.matchAll(/from '(\.[^']+)'/g)) add(outside(file, of));
  };
  for (const { of } of imports) if (of.startsWith('../')) add(path.join('web/src', of));
  expect(seen).toContain('src/settings/brand/shade.ts');
  expect([...seen].filter((file) => !listed.includes(`'${file}'`))).toEqual([]);
});

it('has rooms that take from each other only what is made for it', () => {
  /** What a room makes for others. */
  const parts = [
    'services/columns.tsx',
    'events/Happened.tsx',
    'dedicated/Delivery.tsx',
    'dedicated/Erasure.tsx',
    'dedicated/Power.tsx',
    'dedicated/Reinstall.tsx',
    'dedicated/Server.tsx',
    'vps/History.tsx',
    'vps/console/Line.tsx',
    'vps/Machine.tsx',
    'shield/staff/Blackholes.tsx',
    'vps/Plot.tsx',
    'vps/KeyChoice.tsx',
    'vps/Power.tsx',
    'vps/Reinstall.tsx',
    'billing/useInvoiceName.ts',
    'account/DeveloperTabs.tsx',
  ];
  const across = imports.filter(
    ({ file, of }) =>
      !isShared(roomOf(file)) && !isShared(roomOf(of)) && /\.tsx?$/.test(of) && roomOf(file) !== roomOf(of),
  );
  expect(across.filter(({ of }) => !parts.includes(of))).toEqual([]);
});

it('has foundations that know no page', () => {
  const pages = imports.filter(
    ({ file, of }) =>
      ['ui', 'data', 'text'].includes(roomOf(file)) && of.endsWith('.tsx') && !isShared(roomOf(of)),
  );
  expect(pages).toEqual([]);
});
