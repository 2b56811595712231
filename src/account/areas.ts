/** What an API key can be kept to. */
export const areas = ['billing', 'shield', 'vps'] as const;
export type Area = (typeof areas)[number];

/** Which areas a key is for. */
export type Scopes = Readonly<Record<Area, boolean>>;

/** Of a key that is kept to no area. */
export const wholeScopes: Scopes = { billing: true, shield: true, vps: true };

/** The areas that a key is kept to; null when it is for all there are. */
export function keptTo(scopes: Scopes): ReadonlySet<Area> | null {
  const kept = areas.filter((area) => scopes[area]);
  return kept.length === areas.length ? null : new Set(kept);
}

/** The first area of `wanted` that is not among those of `held`; null when there is none. */
export function areaBeyond(held: Scopes, wanted: Scopes): Area | null {
  return areas.find((area) => wanted[area] && !held[area]) ?? null;
}
