import { looksLikeKey } from '../account/index.ts';
import { authenticator } from '../organizations/index.ts';
import { type Context, fail } from '../platform/index.ts';

/**
 * What public clients send in the header `token` once they have shown their key: the key itself, which says all that there is to
 * say. `unauthorized` when it is none that is good from this address.
 */
export async function tokenForKey(ctx: Context, key: string, ip: string): Promise<{ token: string }> {
  const found = looksLikeKey(key) ? await authenticator(ctx.db, ctx.clock, ctx.config)(key, null, ip) : null;
  if (found === null) throw fail('unauthorized');
  return { token: key };
}
