import { enqueue, type OrganizationContext, statement, type TxContext } from '../../platform/index.ts';
import { byNode, type OwnedAddress } from '../owned.ts';
import { type AddressRow, addressColumns } from './addressRows.ts';
import { applyPolicies } from './apply.ts';
import { endTrials } from './trials.ts';

const addMissing = statement<
  never,
  { organizationId: number; addresses: string[]; services: number[]; now: Date }
>(
  'shield.addAddresses',
  `insert into shield_addresses (address, organization_id, service_id, updated_at)
   select w.address, :organizationId, w.service_id, :now
   from unnest(:addresses::inet[], :services::bigint[]) as w(address, service_id) order by w.address
   on conflict (address) do nothing`,
);
const lockThem = statement<AddressRow, { addresses: string[] }>(
  'shield.lockAddresses',
  `select ${addressColumns} from shield_addresses t where t.address = any(:addresses::inet[]) order by t.address
   for update`,
);
const wantAnew = statement<{ generation: number }, { addresses: string[]; now: Date; millis: number }>(
  'shield.wantAnew',
  `update shield_addresses t set updated_at = :now, generation = (
     select greatest(max(greatest(o.generation, coalesce(o.trial_generation, 0))) + 1, :millis::bigint)
     from shield_addresses o where o.address = any(:addresses::inet[]))
   where t.address = any(:addresses::inet[]) returning t.generation`,
);

/** Nobody changes the policies of these addresses until the transaction ends. */
export async function lockPolicies(
  tx: OrganizationContext & TxContext,
  owned: readonly OwnedAddress[],
): Promise<AddressRow[]> {
  const addresses = owned.map(({ address }) => address);
  const services = owned.map(({ service_id }) => service_id);
  const { organizationId } = tx;
  await tx.db.run(addMissing, { organizationId, addresses, services, now: tx.clock.now() });
  return tx.db.many(lockThem, { addresses });
}

/** The same of addresses whoever has them, as far as Shield knows them. */
export function lockKnownPolicies(tx: TxContext, addresses: readonly string[]): Promise<AddressRow[]> {
  return tx.db.many(lockThem, { addresses: [...addresses] });
}

/**
 * The next generation of these addresses' policies, one number for all of them: later than all before, also than those that
 * only an edge remembers after the database came back from a backup, since it is the time. What was tried out is over.
 */
export async function nextGeneration(tx: TxContext, rows: readonly AddressRow[]): Promise<number> {
  if (rows.length === 0) return tx.clock.now().getTime();
  const now = tx.clock.now();
  const addresses = rows.map(({ address }) => address);
  const [row] = await tx.db.many(wantAnew, { addresses, now, millis: now.getTime() });
  if (row === undefined) throw new Error('addresses that were locked are gone');
  await endTrials(
    tx,
    rows.flatMap(({ trial_id }) => trial_id ?? []),
    'superseded',
  );
  return row.generation;
}

/** Has the edges of these addresses told, each by the worker of its node. */
export async function wantApplied(tx: TxContext, addresses: readonly string[]): Promise<void> {
  for (const [nodeId, there] of await byNode(tx, addresses)) {
    await enqueue(tx, applyPolicies, { nodeId, addresses: there }, { nodeId });
  }
}
