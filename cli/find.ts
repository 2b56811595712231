/** A thing by its name, where the API wants its id: `vps start web1.example.com`. */
import type { Client } from '../client/index.ts';
import { NotFoundError } from './failures.ts';
import { shown } from './shown.ts';
import type { Command } from './table.ts';

/** By what people know things. */
const names = ['name', 'domain', 'hostname', 'number', 'label', 'slug', 'code', 'email', 'url'];
/** Of what is gone, and may have given its name to another. */
const gone = ['cancelled', 'terminated'];
/** Longer lists are not read to find a name in them. */
const mostPages = 50;

/** The ids for the places of a path; numbers stay as they are. */
export async function findPlaces(
  client: Client,
  commands: readonly Command[],
  command: Command,
  given: Record<string, string>,
): Promise<Record<string, string>> {
  const found = { ...given };
  for (const {
    path: [name = ''],
    kind,
  } of command.places) {
    const typed = given[name] ?? '';
    if (kind !== 'integer' || /^\d+$/.test(typed)) continue;
    const before = command.path
      .slice(0, command.path.indexOf(`/{${name}}`))
      .replace(/\/service$/, '/services');
    const list = commands.find((each) => each.path === before && each.list !== null);
    if (list === undefined) throw new NotFoundError(`${name} is a number, not "${typed}".`);
    found[name] = String(await idOf(client, list, found, typed));
  }
  return found;
}

async function idOf(
  client: Client,
  list: Command,
  places: Record<string, string>,
  typed: string,
): Promise<number> {
  const canSearch = list.query.some(({ flag }) => flag === 'search');
  const matches = await matching(client, list, places, typed, canSearch);
  const what = list.words.slice(0, -1).join(' ');
  const [one, ...more] = matches;
  if (one === undefined) throw new NotFoundError(`There is nothing called "${shown(typed)}" among ${what}.`);
  if (more.length > 0)
    throw new NotFoundError(
      `Several of ${what} are called "${shown(typed)}": ${matches.join(', ')}. Say which by its id.`,
    );
  return one;
}

async function matching(
  client: Client,
  { path, list }: Command,
  places: Record<string, string>,
  typed: string,
  canSearch: boolean,
): Promise<number[]> {
  const found: { id: number; isGone: boolean }[] = [];
  let cursor: string | null | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const query = {
      ...(list?.hasPages && { limit: 100 }),
      ...(canSearch && { search: typed }),
      ...(cursor && { cursor }),
    };
    const answer = await client.send('get', path, { path: places, query });
    const { data } = (await answer.json()) as {
      data: Record<string, unknown> & { next_cursor?: string | null };
    };
    for (const each of data[list?.key ?? ''] as Record<string, unknown>[])
      if (names.some((name) => each[name] === typed))
        found.push({ id: Number(each.id ?? each.user_id), isGone: gone.includes(String(each.status)) });
    cursor = data.next_cursor;
    if (!cursor) break;
  }
  const there = found.filter(({ isGone }) => !isGone);
  return (there.length > 0 ? there : found).map(({ id }) => id);
}
