import { record } from '../../events/index.ts';
import { doEach, formatMoney, notSetAside, statement, type TxContext } from '../../platform/index.ts';
import { priceChangeRevoked } from '../events.ts';
import { closeRenewal } from '../renew/issue.ts';
import { findWaitingRenewal } from '../renew/queries.ts';
import { lockTerms } from '../terms.ts';

const takenAtOnce = 50;
const job = 'services.takeBackPriceMoves';

interface Open {
  moveId: number;
  /** Of the service. */
  id: number;
  organizationId: number;
  beforeMinor: number;
}

const openOfRevoked = statement<Open, { now: Date; limit: number }>(
  'services.revokedPriceMoves',
  `select r.move_id as "moveId", r.service_id as id, r.organization_id as "organizationId",
     r.before_minor as "beforeMinor"
   from price_moves m join service_price_moves r on r.move_id = m.id and r.state in ('waiting', 'telling', 'told')
   where m.revoked_at is not null and not m.taken_back and ${notSetAside(job, 'r.service_id')}
   order by r.service_id limit :limit`,
);
const markTakenBack = statement<never>(
  'services.markTakenBack',
  `update price_moves set taken_back = true where revoked_at is not null and not taken_back
     and not exists (select 1 from service_price_moves r
       where r.move_id = price_moves.id and r.state in ('waiting', 'telling', 'told'))`,
);
// In the order of every invoice: organizations first, then what it is for.
const lockOrganizations = statement<never, { ids: number[] }>(
  'services.lockOrganizationsOfPriceMove',
  'select id from organizations where id = any(:ids::bigint[]) order by id for no key update',
);
const lockServices = statement<never, { ids: number[] }>(
  'services.lockServicesOfPriceMove',
  'select id from services where id = any(:ids::bigint[]) order by id for update',
);
const markRevoked = statement<{ wasTold: boolean }, { moveId: number; serviceId: number }>(
  'services.markPriceMoveRevoked',
  `update service_price_moves set state = 'revoked'
   where move_id = :moveId and service_id = :serviceId and state in ('waiting', 'telling', 'told')
   returning notice_id is not null as "wasTold"`,
);

/** Takes moves back that were revoked, for a batch of services. Null when there is nothing to take back. */
export async function takeBack(tx: TxContext): Promise<'more' | null> {
  const found = await tx.db.many(openOfRevoked, { now: tx.clock.now(), limit: takenAtOnce });
  if (found.length === 0) {
    await tx.db.run(markTakenBack);
    return null;
  }
  const ids = [...new Set(found.map(({ organizationId }) => organizationId))];
  await tx.db.many(lockOrganizations, { ids });
  await tx.db.many(lockServices, { ids: found.map(({ id }) => id) });
  await doEach(tx, job, found, takeBackOne);
  return 'more';
}

/** An invoice at the new price that nobody paid is cancelled; one that was paid counts, and the service pays it from then on. */
async function takeBackOne(tx: TxContext, { moveId, id: serviceId, beforeMinor }: Open): Promise<void> {
  const service = await lockTerms(tx, serviceId);
  const renewal = await findWaitingRenewal(tx, { serviceId });
  if (renewal?.priceMoveId === moveId)
    await closeRenewal(tx, service, 'the price of this service stays as it was');
  const revoked = await tx.db.maybe(markRevoked, { moveId, serviceId });
  if (!revoked?.wasTold) return;
  await record(tx, priceChangeRevoked, {
    subject: { type: 'service', id: serviceId },
    organizationId: service.organizationId,
    data: {
      user_id: service.userId,
      product: service.productName,
      hostname: service.domain,
      price: formatMoney(beforeMinor, service.currency),
      currency: service.currency,
    },
  });
}
