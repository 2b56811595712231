/** The program's own commands about who asks: `login`, `logout`, `profiles`. */
import type { Client } from '../client/index.ts';
import { clientAt } from './client.ts';
import { UsageError } from './failures.ts';
import { apiAt, organizationIn, profileInUse, readProfiles, writeProfiles } from './profiles.ts';
import { ask } from './prompt.ts';
import { shown } from './shown.ts';

type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** Asks for an API key, tries it, and keeps it. */
export async function logIn(flags: Flags, env: NodeJS.ProcessEnv): Promise<void> {
  const name = textOf(flags.profile) ?? env.INNKEEPER_PROFILE ?? 'default';
  const kept = readProfiles(env);
  const before = Object.hasOwn(kept.profiles, name) ? kept.profiles[name]?.url : undefined;
  const url = apiAt(
    textOf(flags.url) ?? env.INNKEEPER_URL ?? before ?? (await ask('Address of your provider')),
  );
  if (url.startsWith('http://') && !/^(localhost|127\.|\[::1\])/.test(new URL(url).host))
    process.stderr.write('This address is not encrypted: whoever sits in between can read the key.\n');
  const key = (await ask('API key', true)).trim();
  if (key === '') throw new UsageError('No key was typed.');
  const client = clientAt(url, key, null);
  const { user } = await client.get('/dashboard/account');
  const typed = textOf(flags.organization);
  const theirs = typed === undefined ? await organizationsOf(client) : [organizationIn(typed)];
  const organization = theirs.length === 1 ? (theirs[0] ?? null) : null;
  // Read again: while it asked, others may have been signed in or out.
  const { profiles } = readProfiles(env);
  const file = writeProfiles(env, {
    current: name,
    profiles: { ...profiles, [name]: { url, api_key: key, organization } },
  });
  process.stderr.write(`Signed in at ${shown(url)} as ${shown(user.email)}; kept in ${shown(file)}.\n`);
  if (theirs.length > 1)
    process.stderr.write('You are in several organizations: name one with --organization.\n');
}

/** Forgets the key. It stays good: `api-keys delete` ends it. */
export function logOut(flags: Flags, env: NodeJS.ProcessEnv): void {
  const kept = readProfiles(env);
  const name = profileInUse(env, kept, textOf(flags.profile));
  if (!Object.hasOwn(kept.profiles, name)) throw new UsageError(`There is no profile "${name}".`);
  const { [name]: _gone, ...profiles } = kept.profiles;
  const [other = 'default'] = Object.keys(profiles);
  writeProfiles(env, { current: kept.current === name ? other : kept.current, profiles });
  process.stderr.write('The key is forgotten here. It stays good until it is deleted.\n');
}

/** Lists the sign-ins that are kept, or makes another one the one in use. */
export function chooseProfile(name: string | undefined, env: NodeJS.ProcessEnv): void {
  const kept = readProfiles(env);
  if (name !== undefined) {
    if (!Object.hasOwn(kept.profiles, name)) throw new UsageError(`There is no profile "${name}".`);
    writeProfiles(env, { ...kept, current: name });
  }
  for (const [each, { url, organization }] of Object.entries(kept.profiles)) {
    const mark = each === (name ?? profileInUse(env, kept)) ? '*' : ' ';
    process.stdout.write(`${mark} ${shown(each)}  ${shown(url)}  ${organization ?? '-'}\n`);
  }
}

/** Two of them at most: with more than one, whose things are meant has to be said. */
async function organizationsOf(client: Client): Promise<number[]> {
  const { organizations } = await client.get('/dashboard/organizations', { query: { limit: 2 } });
  return organizations.map(({ id }) => id);
}

function textOf(flag: string | boolean | undefined): string | undefined {
  return typeof flag === 'string' ? flag : undefined;
}
