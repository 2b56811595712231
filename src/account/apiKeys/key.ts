import { type Context, statement } from '../../platform/index.ts';
import { type KeyLimits, wholeAreas } from './areas.ts';

/** What a key is kept to. */
export interface KeyTerms extends KeyLimits {
  /** Networks that it is good from; null for everywhere. */
  readonly ip_allowlist: readonly string[] | null;
  /** Whether all that it asks for is tried out and taken back. */
  readonly test: boolean;
}

/** Of a key that is kept to nothing. */
export const wholeTerms: KeyTerms = {
  ...wholeAreas,
  ...{ scopes: null, organization_ids: null, ip_allowlist: null, test: false },
};

/** A key that was not revoked, with whose it is. */
export interface ApiKey extends KeyTerms {
  id: number;
  user_id: number;
  name: string;
  prefix: string;
  expires_at: Date | null;
  created_at: Date;
}

/** What a key is kept to, as a statement gives it. */
export const termsOfKey = `t.billing, t.shield, t.vps, t.scopes, to_jsonb(t.organization_ids) as organization_ids,
    to_jsonb(t.ip_allowlist) as ip_allowlist, t.test`;

const keyById = statement<ApiKey, { id: number }>(
  'account.keyById',
  `select t.id, t.user_id, t.name, t.prefix, ${termsOfKey}, t.expires_at, t.created_at
   from api_keys t where t.id = :id and t.revoked_at is null`,
);

/** A key that was not revoked; null when there is none. */
export function findKey(ctx: Context, id: number): Promise<ApiKey | null> {
  return ctx.db.maybe(keyById, { id });
}

export function copied<T>(list: readonly T[] | null): T[] | null {
  return list === null ? null : [...list];
}
