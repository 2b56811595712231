/** The events of the product, as customers' webhooks know them, are documented as the code has them. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { allEvents, gatherReactions } from '../src/events/index.ts';
import { allJobs, allReactions } from '../src/worker.ts';

const root = path.join(import.meta.dirname, '..');

interface Documented {
  name: string;
  meaning: string;
  /** Names in the event's data, `?` behind those that may be absent. */
  data: string[];
}

const byName = (one: Documented, other: Documented) => one.name.localeCompare(other.name);

/** What each room's `events.ts` declares; the shapes are types, so they are read from the source. */
function declared(): Documented[] {
  const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const found = files
    .filter((file) => /^\w+\/events\.ts$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(path.join(root, 'src', file), 'utf8');
      const calls = text.matchAll(/\bevent(?:<(\w+)>)?\(\s*'([^']+)'/g);
      return [...calls].map(([, type, name = '']) => ({ name, data: fieldsOf(text, type) }));
    });
  const meanings = new Map(allEvents().map(({ name, meaning }) => [name, meaning]));
  return found.map(({ name, data }) => ({ name, meaning: meanings.get(name) ?? '', data }));
}

function fieldsOf(text: string, type: string | undefined): string[] {
  if (type === undefined) return [];
  const [, base, body = ''] =
    new RegExp(`interface ${type}(?: extends (\\w+))? \\{\\n([^}]*(?:\\{[^}]*\\}[^}]*)*)\\n\\}`).exec(text) ??
    [];
  if (body === '') throw new Error(`declare ${type} as an interface in the room's events.ts`);
  const own = [...body.matchAll(/^ {2}(\w+\??):/gm)].map((match) => match[1] ?? '');
  return [...fieldsOf(text, base), ...own];
}

function documented(): Documented[] {
  return readFileSync(path.join(root, 'docs/events.md'), 'utf8')
    .split('\n')
    .filter((line) => /^\| *`/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, name = '', meaning = '', data = '']) => ({
      name: name.replaceAll('`', ''),
      meaning,
      data: [...data.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
    }));
}

it('every event and its data are documented', () => {
  const namesOf = (events: { name: string }[]) => events.map(({ name }) => name).toSorted();
  expect(
    namesOf(declared()),
    "an event is declared in its room's events.ts, with its data as an interface: event<ThingClosed>('thing.closed', …)",
  ).toEqual(namesOf(allEvents()));
  expect(
    documented().toSorted(byName),
    "a row of docs/events.md (+) is what the room's events.ts declares (-)",
  ).toEqual(declared().toSorted(byName));
});

it('every reaction has a job that a worker knows', () => {
  const jobs = new Set(allJobs.map(({ name }) => name));
  expect(allReactions.filter(({ job }) => !jobs.has(job.name))).toEqual([]);
});

it('two reactions to one event cannot have one name', () => {
  const [reaction] = allReactions;
  if (reaction === undefined) throw new Error('there are no reactions');
  expect(() => gatherReactions([...allReactions, reaction])).toThrow(`two reactions to ${reaction.event}`);
});
