import { type Context, type OrganizationContext, statement } from '../../platform/index.ts';
import type { OwnedAddress } from '../owned.ts';

/** The policy of an address: what is wanted, what is tried out, what is in force. */
export interface AddressRow {
  address: string;
  organization_id: number;
  service_id: number;
  generation: number;
  unmatched: 'permit' | 'deny';
  updated_at: Date;
  in_force: number | null;
  in_force_node: number | null;
  in_force_since: Date | null;
  error: string | null;
  trial_id: number | null;
  trial_generation: number | null;
  trial_until: Date | null;
}

export const addressColumns = `host(t.address) as address, t.organization_id, t.service_id, t.generation, t.unmatched,
  t.updated_at, t.in_force, t.in_force_node, t.in_force_since, t.error, t.trial_id, t.trial_generation, t.trial_until`;

const findThem = statement<AddressRow, { addresses: string[] }>(
  'shield.addresses',
  `select ${addressColumns} from shield_addresses t where t.address = any(:addresses::inet[]) order by t.address`,
);

export function findPolicies(ctx: Context, addresses: readonly string[]): Promise<AddressRow[]> {
  return ctx.db.many(findThem, { addresses: [...addresses] });
}

/** How addresses of the caller's stand, also those for which nothing was ever wanted. */
export async function peekPolicies(
  ctx: OrganizationContext,
  owned: readonly OwnedAddress[],
): Promise<AddressRow[]> {
  const { organizationId: organization_id } = ctx;
  const known = await findPolicies(
    ctx,
    owned.map(({ address }) => address),
  );
  const rows = new Map(known.map((row) => [row.address, row]));
  const updated_at = ctx.clock.now();
  return owned.map(({ address, service_id }) => {
    const nothing = {
      address,
      organization_id,
      service_id,
      generation: 0,
      unmatched: 'permit',
      updated_at,
    } as const;
    const never = { in_force: null, in_force_node: null, in_force_since: null, error: null };
    const untried = { trial_id: null, trial_generation: null, trial_until: null };
    return rows.get(address) ?? { ...nothing, ...never, ...untried };
  });
}
