import { record } from '../../events/index.ts';
import { enqueue, statement, type TxContext } from '../../platform/index.ts';
import { nodeBefore } from '../edges/places.ts';
import { withdrawAll } from '../edges/withdraw.ts';
import { applyPolicies } from '../enforce/apply.ts';
import { shieldGivenBack } from '../events.ts';
import { single, wider } from '../prefix.ts';

const nodeOf = statement<{ node_id: number }, { serviceId: number }>(
  'shield.nodeOfService',
  `select ${nodeBefore('p')} as node_id from placements p where p.service_id = :serviceId`,
);
const dropAddresses = statement<
  { organization_id: number; trial_id: number | null },
  { addresses: string[] }
>(
  'shield.dropAddresses',
  `delete from shield_addresses where address = any(:addresses::inet[]) returning organization_id, trial_id`,
);
const dropRules = statement<never, { organizationId: number; destinations: string[] }>(
  'shield.dropRulesOfAddresses',
  `delete from shield_rules where organization_id = :organizationId and destination = any(:destinations::cidr[])`,
);
// Those of wider networks stay with the addresses that are left. When none is, nobody has a use for them.
const narrowRules = statement<never, { organizationId: number; networks: string[]; addresses: string[] }>(
  'shield.narrowRules',
  `update shield_rules r set given_back = array(
     select distinct g from unnest(r.given_back || array(
       select a from unnest(:addresses::inet[]) a where a <<= r.destination)) g order by g)
   where r.organization_id = :organizationId and r.destination = any(:networks::cidr[])`,
);
const dropEmpty = statement<never, { organizationId: number; networks: string[] }>(
  'shield.dropEmptyRules',
  `delete from shield_rules r where r.organization_id = :organizationId and r.destination = any(:networks::cidr[])
     and cardinality(r.given_back) >= power(2, case family(r.destination) when 4 then 32 else 128 end
       - masklen(r.destination))`,
);
const dropGroups = statement<never, { organizationId: number }>(
  'shield.dropEmptyGroups',
  `delete from shield_groups g where g.organization_id = :organizationId
     and not exists (select 1 from shield_rules r where r.group_id = g.id)`,
);
const endTrials = statement<never, { ids: number[]; now: Date }>(
  'shield.endTrialsOfAddresses',
  `update shield_applies set state = 'superseded', ended_at = :now
   where id = any(:ids::int[]) and state = 'trying' and confirm_until > :now`,
);

/**
 * For the transaction in which addresses of a service are given back: what Shield was to do there is gone, so that whoever has
 * them next inherits nothing, and the edge is told.
 */
export async function forgetShield(
  tx: TxContext,
  serviceId: number,
  addresses: readonly string[],
): Promise<void> {
  if (addresses.length === 0) return;
  await withdrawAll(tx, addresses);
  const given = [...addresses];
  const dropped = await tx.db.many(dropAddresses, { addresses: given });
  if (dropped.length === 0) return;
  let rules = 0;
  const networks = [...new Set(given.flatMap((address) => wider(single(address)).slice(0, -1)))];
  const destinations = given.map((address) => single(address).text);
  for (const organizationId of new Set(dropped.map((row) => row.organization_id))) {
    rules += await tx.db.run(dropRules, { organizationId, destinations });
    await tx.db.run(narrowRules, { organizationId, networks, addresses: given });
    rules += await tx.db.run(dropEmpty, { organizationId, networks });
    await tx.db.run(dropGroups, { organizationId });
    await record(tx, shieldGivenBack, {
      subject: { type: 'service', id: serviceId },
      organizationId,
      data: { addresses: given, rules },
    });
  }
  const ids = dropped.flatMap(({ trial_id }) => trial_id ?? []);
  if (ids.length > 0) await tx.db.run(endTrials, { ids, now: tx.clock.now() });
  const placed = await tx.db.maybe(nodeOf, { serviceId });
  if (placed !== null)
    await enqueue(
      tx,
      applyPolicies,
      { nodeId: placed.node_id, addresses: given },
      { nodeId: placed.node_id },
    );
}
