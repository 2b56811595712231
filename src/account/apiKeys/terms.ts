import { fail } from '../../platform/index.ts';
import { addressRange, networkAround } from './addressRange.ts';
import { areaBeyond, areas, type KeyLimits } from './areas.ts';
import type { ApiKey, KeyTerms } from './key.ts';

/** What is asked of a new key; what is absent is as with the key that asks, or kept to nothing. */
export type KeyWish = { name: string } & KeyChange & { test?: boolean | undefined };

/** What is changed of a key; what is absent stays. */
export type KeyChange = { name?: string | undefined; expires_at?: Date | string | null | undefined } & {
  [term in Exclude<keyof KeyTerms, 'test'>]?: KeyTerms[term] | undefined;
};

/** What is wished, and the rest as it is; lists without doubles and in the form in which they are compared. */
export function termsOf(wish: KeyChange & { test?: boolean | undefined }, rest: KeyTerms): KeyTerms {
  const { scopes, organization_ids, ip_allowlist } = wish;
  return {
    billing: wish.billing ?? rest.billing,
    shield: wish.shield ?? rest.shield,
    vps: wish.vps ?? rest.vps,
    scopes: scopes === undefined ? rest.scopes : once(scopes),
    organization_ids: organization_ids === undefined ? rest.organization_ids : once(organization_ids),
    ip_allowlist: ip_allowlist === undefined ? rest.ip_allowlist : once(rangesOf(ip_allowlist)),
    test: wish.test ?? rest.test,
  };
}

function once<T>(list: readonly T[] | null): T[] | null {
  return list === null ? null : [...new Set(list)].sort();
}

function rangesOf(texts: readonly string[] | null): string[] | null {
  if (texts === null) return null;
  return texts.map((text, at) => {
    const range = addressRange(text);
    if (range !== null) return range;
    const network = networkAround(text);
    const message =
      network === null
        ? 'must be an address such as 192.0.2.1, or a network such as 192.0.2.0/24 or 2001:db8::/32'
        : `must begin where its network does: ${network}`;
    throw fail('invalid_request', { details: [{ field: `ip_allowlist[${at}]`, message }] });
  });
}

/** `permission_denied` for a key that may do more, or lives longer, than the key that asks. A session, null, may ask for any. */
export function requireNoMightier(
  asking: ApiKey | null,
  wanted: KeyLimits & { expires_at: Date | null },
): void {
  if (asking === null) return;
  if (
    asking.scopes !== null ||
    asking.organization_ids !== null ||
    asking.ip_allowlist !== null ||
    asking.test
  )
    throw fail('permission_denied', {
      message:
        'Your key is kept to scopes, organizations or addresses, or is for tests; ask with one that is not',
    });
  const area = areaBeyond(asking, wanted);
  if (area !== null) {
    const mine = areas.filter((each) => asking[each]);
    const message = `Your key is kept to ${mine.join(' and ') || 'no area'}, and this one is for ${area} as well; ask with a key that is`;
    throw fail('permission_denied', { message });
  }
  if (asking.expires_at === null) return;
  if (wanted.expires_at !== null && wanted.expires_at <= asking.expires_at) return;
  const message = `Your key ends on ${asking.expires_at.toISOString()}, and this one would outlive it; ask with a key that lives as long`;
  throw fail('permission_denied', { message });
}
