import { type Context, statement } from '../../platform/index.ts';

/** In SQL, of a rule `r`: whether its destination is wider than one address. There is an index of those. */
export const isWide = `masklen(r.destination) < case family(r.destination) when 4 then 32 else 128 end`;

/** In SQL, of a row of `shield_addresses`: whether an edge filters what is sent to the address at this moment. */
export function isProtected(t: string): string {
  return `(${t}.in_force is not null and (${t}.unmatched = 'deny'
    or exists (select 1 from shield_rules r where r.organization_id = ${t}.organization_id and r.enforced_active
      and r.destination = ${t}.address::cidr)
    or exists (select 1 from shield_rules r where r.organization_id = ${t}.organization_id and r.enforced_active
      and ${isWide} and r.destination >>= ${t}.address and not ${t}.address = any(r.given_back))))`;
}

/** In SQL, of an address of a service: whether an attack on it goes on at this moment. */
export function isUnderAttack(address: string, serviceId: string): string {
  return `exists (select 1 from shield_attacks x where x.address = ${address} and x.service_id = ${serviceId}
    and x.ended_at is null)`;
}

const protectedOf = statement<ShieldState & { address: string }, { serviceId: number }>(
  'shield.protectedOfService',
  `select host(a.address) as address, coalesce(${isProtected('t')}, false) as enabled,
     ${isUnderAttack('a.address', 'a.service_id')} as under_attack
   from addresses a left join shield_addresses t on t.address = a.address and t.service_id = a.service_id
   where a.service_id = :serviceId`,
);

/** What a machine's overview says of Shield, by address. */
export interface ShieldState {
  enabled: boolean;
  under_attack: boolean;
}

/** How Shield stands at a service's addresses; one that is not named has nothing. */
export async function readShieldOf(
  ctx: Context,
  serviceId: number,
): Promise<(address: string) => ShieldState> {
  const rows = await ctx.db.many(protectedOf, { serviceId });
  const found = new Map(
    rows.map(({ address, enabled, under_attack }) => [address, { enabled, under_attack }]),
  );
  return (address) => found.get(address) ?? { enabled: false, under_attack: false };
}
