import { reservableAddresses } from '../billing/index.ts';
import { fail, statement, type TxContext } from '../platform/index.ts';

const reservedBy = statement<{ reserved: number }, { organizationId: number }>(
  'services.reservedBy',
  `select coalesce(sum(greatest(1, held.addresses)), 0)::int as reserved
   from invoices i join services s on s.invoice_id = i.id
   left join placements p on p.service_id = s.id
   cross join lateral (select count(*) as addresses from addresses a
     where a.service_id = s.id and family(a.address) = 4) held
   where i.organization_id = :organizationId and i.status = 'unpaid' and (p.service_id is not null or s.on_server)`,
);

/**
 * Refuses an order when the unpaid ones of the organization would hold too many addresses with it. `wanted` is what
 * each of its machines takes. `too_many`.
 */
export async function requireFewReserved(
  tx: TxContext,
  organizationId: number,
  wanted: number[],
): Promise<void> {
  const [most, { reserved }] = await Promise.all([
    reservableAddresses(tx, organizationId),
    tx.db.one(reservedBy, { organizationId }),
  ]);
  const more = wanted.reduce((sum, count) => sum + count, 0);
  if (reserved + more <= most) return;
  throw fail('too_many', {
    message: `Your unpaid orders may hold ${most} addresses, hold ${reserved}, and this one needs ${more}; pay or cancel one first`,
  });
}
