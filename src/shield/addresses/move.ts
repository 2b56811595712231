import { lockAddresses } from '../../fleet/index.ts';
import { statement, type TxContext } from '../../platform/index.ts';
import type { Mover } from '../../services/index.ts';
import { withdrawAll } from '../edges/withdraw.ts';
import { lockKnownPolicies, nextGeneration, wantApplied } from '../enforce/wanted.ts';

// What names a limiter or other addresses of the organization that gives the service away cannot come along.
const bound = statement<{ count: number }, { serviceId: number }>(
  'shield.rulesThatStay',
  `select count(*)::int as count from shield_addresses t
   join shield_rules r on r.organization_id = t.organization_id and r.destination >>= t.address
     and not t.address = any(r.given_back)
   where t.service_id = :serviceId
     and (r.limiter_id is not null or r.destination <> t.address::cidr)`,
);
const trying = statement<{ count: number }, { serviceId: number; now: Date }>(
  'shield.trialsOfService',
  `select count(*)::int as count from shield_addresses t join shield_applies a on a.id = t.trial_id and a.state = 'trying'
   where t.service_id = :serviceId and a.confirm_until > :now`,
);
type Moved = { serviceId: number; organizationId: number };
// A rule may have been given another destination than its group has. Whoever has a group changes and removes all of its rules, so no
// group has those of two organizations.
const moves = [
  statement<never, Moved>(
    'shield.moveRules',
    `update shield_rules r set organization_id = :organizationId, group_id = (
       select g.id from shield_groups g where g.id = r.group_id and g.destination in (
         select o.address::cidr from shield_addresses o where o.service_id = :serviceId))
     from shield_addresses t
     where t.service_id = :serviceId and r.organization_id = t.organization_id and r.destination = t.address::cidr`,
  ),
  statement<never, Moved>(
    'shield.leaveGroups',
    `update shield_rules r set group_id = null from shield_addresses t, shield_groups g
     where t.service_id = :serviceId and g.organization_id = t.organization_id and g.destination = t.address::cidr
       and r.group_id = g.id and r.organization_id <> :organizationId`,
  ),
  statement<never, Moved>(
    'shield.moveGroups',
    `update shield_groups g set organization_id = :organizationId from shield_addresses t
     where t.service_id = :serviceId and g.organization_id = t.organization_id and g.destination = t.address::cidr`,
  ),
];
const moveAddresses = statement<{ address: string }, Moved>(
  'shield.moveAddresses',
  `update shield_addresses set organization_id = :organizationId where service_id = :serviceId
   returning host(address) as address`,
);

const ofService = statement<{ address: string }, { serviceId: number }>(
  'shield.addressesOfService',
  'select host(address) as address from addresses where service_id = :serviceId order by address',
);

async function addressesOfService(tx: TxContext, serviceId: number): Promise<string[]> {
  return (await tx.db.many(ofService, { serviceId })).map(({ address }) => address);
}

/** Rules for a service's addresses go with it, and filter all the time. */
export const shieldMover: Mover = {
  obstacle: async (tx, serviceId) => {
    // Whoever changes a rule holds its addresses, so nothing comes in between what is asked here and the move.
    await lockAddresses(tx, serviceId);
    if ((await tx.db.one(trying, { serviceId, now: tx.clock.now() })).count > 0)
      return 'Rules of Shield are tried out at its addresses; confirm or cancel them first';
    const { count } = await tx.db.one(bound, { serviceId });
    if (count === 0) return null;
    return 'Rules of Shield use a rate limiter of this organization, or are for other addresses too; change them first';
  },
  move: async (tx, serviceId, organizationId) => {
    for (const move of moves) await tx.db.run(move, { serviceId, organizationId });
    const moved = await tx.db.many(moveAddresses, { serviceId, organizationId });
    const addresses = moved.map(({ address }) => address);
    await withdrawAll(tx, await addressesOfService(tx, serviceId));
    // A job that has read whose the addresses are, and not yet their rules, finds none: what it writes then has to be overtaken.
    await nextGeneration(tx, await lockKnownPolicies(tx, addresses));
    await wantApplied(tx, addresses);
  },
};
