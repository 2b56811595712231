/** Texts of the dashboard: each in every language, with the same variables, and used. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import everyonesGerman from './src/text/de.json' with { type: 'json' };
import everyones from './src/text/en.json' with { type: 'json' };
import happenedGerman from './src/text/events/happened.de.json' with { type: 'json' };
import staffsGerman from './src/text/staff/staff.de.json' with { type: 'json' };
import staffs from './src/text/staff/staff.en.json' with { type: 'json' };

type Texts = Record<string, Record<string, string>>;

const en: Texts = { ...everyones, ...staffs };
const de: Texts = { ...everyonesGerman, ...staffsGerman };

function flat(texts: Texts): Map<string, string> {
  return new Map(
    Object.entries(texts).flatMap(([group, named]) =>
      Object.entries(named).map(([name, text]) => [`${group}.${name}`, text] as const),
    ),
  );
}

const variablesIn = (text = '') => [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name).sort();

it('is in every language, with the same variables', () => {
  const [english, german] = [flat(en), flat(de)];
  expect([...german.keys()].sort()).toEqual([...english.keys()].sort());
  for (const [key, text] of english)
    expect([key, variablesIn(german.get(key))]).toEqual([key, variablesIn(text)]);
});

it('is used', () => {
  const root = path.join(import.meta.dirname, 'src');
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => readFileSync(path.join(root, file), 'utf8'))
    .join('\n');
  // Some are named by what the API says: states, commands, priorities.
  const named = [...sources.matchAll(/t\(\s*`(\w+\.\w*)\$\{/g)].map(([, beginning = '']) => beginning);
  const unused = [...flat(en).keys()].filter((key) => {
    const isNamed = named.some((beginning) => key.startsWith(beginning));
    return !isNamed && !sources.includes(`'${key.replace(/_(one|other)$/, '')}'`);
  });
  expect(unused).toEqual([]);
});

it('of staff alone is on no page of a customer, who does not load it', () => {
  const root = path.join(import.meta.dirname, 'src');
  const isStaffs = (file: string) => /staff|(^|\/)(Act|ListPage|Named|Thing|Unfold|Value)\.tsx$/i.test(file);
  const seen = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !isStaffs(file))
    .flatMap((file) => {
      const source = readFileSync(path.join(root, file), 'utf8');
      return Object.keys(staffs)
        .filter((group) => new RegExp(`['"\`]${group}\\.\\w`).test(source))
        .map((group) => [file, group]);
    });
  expect(seen).toEqual([]);
  expect(Object.keys(staffs).filter((group) => group in everyones)).toEqual([]);
});

it('says in German all that can happen, which the API says in English', () => {
  const documented = readFileSync(path.join(import.meta.dirname, '../docs/events.md'), 'utf8');
  const events = [...documented.matchAll(/^\| `([a-z_.]+)` \|/gm)].map(([, name = '']) => name);
  expect(events.length).toBeGreaterThan(150);
  expect(Object.keys(happenedGerman).sort()).toEqual(events.map((name) => name.replaceAll('.', '_')).sort());
});
