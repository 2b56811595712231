/** The typed client, as this program uses it. */
import { Client } from '../client/index.ts';
import { UsageError } from './failures.ts';

/** A key goes where it was meant for: who answers "look over there" is not followed. */
const straight: typeof fetch = (target, init) => fetch(target, { ...init, redirect: 'error' });

/** Throws {@link UsageError} for a key that could not be sent; it is not quoted, since messages end up in logs. */
export function clientAt(url: string, key: string | undefined, organization: number | null): Client {
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
    throw new UsageError(
      'The API key holds a space, a line break or another letter that no key has. Copy it once more.',
    );
  return new Client({ url, token: () => key, organization: () => organization, fetch: straight });
}
