import { type Context, statement } from '../../platform/index.ts';

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
