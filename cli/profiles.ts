/**
 * Who asks which installation. Keys are kept in the user's own directory of settings, readable by nobody else, or come
 * from the environment; never from an argument, which everybody on the host can read.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { UsageError } from './failures.ts';

export interface Profile {
  url: string;
  api_key: string;
  organization: number | null;
}

export interface Profiles {
  current: string;
  profiles: Record<string, Profile>;
}

/** What a call is made with. */
export interface Connection {
  url: string;
  key: string | undefined;
  organization: number | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

function fileIn(env: Environment): string {
  const given = env.XDG_CONFIG_HOME;
  // Only an absolute one counts, says the specification.
  const directory = given && path.isAbsolute(given) ? given : path.join(env.HOME ?? os.homedir(), '.config');
  return path.join(directory, 'innkeeper', 'profiles.json');
}

export function readProfiles(env: Environment): Profiles {
  const file = fileIn(env);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: 'default', profiles: {} };
    throw new UsageError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  try {
    const kept = JSON.parse(text) as Profiles;
    if (typeof kept.current === 'string' && typeof kept.profiles === 'object') return kept;
  } catch {
    // Says so below, whatever is wrong with it.
  }
  throw new UsageError(`${file} is not what a sign-in leaves. Take it away and sign in again.`);
}

/** Whole or not at all, and nobody else's to read at any moment. */
export function writeProfiles(env: Environment, kept: Profiles): string {
  const file = fileIn(env);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
  chmodSync(fresh, 0o600);
  renameSync(fresh, file);
  return file;
}

/** The profile that is meant where nobody names another one. */
export function profileInUse(env: Environment, kept: Profiles, given?: string): string {
  return given ?? env.INNKEEPER_PROFILE ?? kept.current;
}

/** The id of an organization as it was typed; refuses what is none. */
export function organizationIn(typed: string): number {
  if (!/^[1-9]\d{0,15}$/.test(typed))
    throw new UsageError(`An organization is named by its id, not "${typed}".`);
  return Number(typed);
}

export function connectionOf(
  env: Environment,
  given: { profile?: string | undefined; organization?: string | undefined },
): Connection {
  const kept = readProfiles(env);
  const name = profileInUse(env, kept, given.profile);
  const profile = Object.hasOwn(kept.profiles, name) ? kept.profiles[name] : undefined;
  if (name !== kept.current && profile === undefined) throw new UsageError(`There is no profile "${name}".`);
  // Whoever names a profile means its key.
  const isNamed = given.profile !== undefined;
  const url = isNamed ? profile?.url : env.INNKEEPER_URL ? apiAt(env.INNKEEPER_URL) : profile?.url;
  if (url === undefined)
    throw new UsageError('Nobody is signed in. Use "login", or set INNKEEPER_URL and INNKEEPER_API_KEY.');
  const own = isNamed ? undefined : env.INNKEEPER_API_KEY?.trim() || undefined;
  // A key is for the installation that made it, and for no other.
  const key = own ?? (profile?.url === url ? profile.api_key : undefined);
  const about = given.organization ?? (isNamed ? undefined : env.INNKEEPER_ORGANIZATION);
  const named = about === undefined ? undefined : organizationIn(about);
  const ownOrganization = profile?.url === url && own === undefined ? profile.organization : null;
  return { url, key, organization: named ?? ownOrganization };
}

/** Where the API of an installation is: what people type is where the dashboard is. */
export function apiAt(typed: string): string {
  let url: URL;
  try {
    url = new URL(/^https?:\/\//.test(typed) ? typed : `https://${typed}`);
  } catch {
    throw new UsageError(`"${typed}" is no address.`);
  }
  if (url.username !== '' || url.password !== '') throw new UsageError('A key does not stand in an address.');
  const at = `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  return at.endsWith('/api') ? at : `${at}/api`;
}
