/** What an API key can be kept to. */
export const areas = ['billing', 'shield', 'vps'] as const;
export type Area = (typeof areas)[number];

/** Which areas a key is for. */
export type Areas = Readonly<Record<Area, boolean>>;

/** Of a key that is kept to no area. */
export const wholeAreas: Areas = { billing: true, shield: true, vps: true };

/** All that a key is kept to, besides where it is used from. Null keeps it to nothing. */
export interface KeyLimits extends Areas {
  /** Names of permissions. */
  readonly scopes: readonly string[] | null;
  readonly organization_ids: readonly number[] | null;
}

/** The limits of a key `k`, for statements. */
export const limitsOfKey = `jsonb_build_object('billing', k.billing, 'shield', k.shield, 'vps', k.vps,
     'scopes', k.scopes, 'organization_ids', k.organization_ids)`;

/** Whether a key `k` is for the organization of a membership, for statements; no key is for all. */
export const isForOrganization = (membership: string) =>
  `(k.organization_ids is null or ${membership}.organization_id = any (k.organization_ids))`;

/**
 * What a key is kept to, where it is asked about a person or by staff: areas, which can be asked for, or words for what cannot;
 * null when it is kept to nothing.
 */
export function keptTo(limits: KeyLimits): ReadonlySet<string> | null {
  if (limits.scopes !== null) return new Set(['scopes']);
  if (limits.organization_ids !== null) return new Set(['organizations']);
  const kept = areas.filter((area) => limits[area]);
  return kept.length === areas.length ? null : new Set(kept);
}

/** The first area of `wanted` that is not among those of `held`; null when there is none. */
export function areaBeyond(held: Areas, wanted: Areas): Area | null {
  return areas.find((area) => wanted[area] && !held[area]) ?? null;
}
