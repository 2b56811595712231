import ipaddr from 'ipaddr.js';
import { enqueue, fail, isDomain, statement, type TxContext } from '../platform/index.ts';

const setName = statement(
  'fleet.setReverseName',
  `update addresses set dns_name = $3 where service_id = $1 and host(address) = $2 and state = 'taken'`,
);

/**
 * Sets the name that reverse DNS gives for an address of a service, or takes it away. The job `dns.reverse` tells
 * the name server. `invalid_domain`, `not_found` when the service does not have the address.
 */
export async function setReverseName(
  ctx: TxContext,
  serviceId: number,
  address: string,
  name: string | null,
): Promise<void> {
  if (name !== null && !isDomain(name, { atLeast: 2 })) {
    throw fail('invalid_domain', { details: [{ field: 'dns_name', message: 'must be a full hostname' }] });
  }
  if ((await ctx.db.run(setName, serviceId, canonical(address), name?.toLowerCase() ?? null)) === 0) {
    throw fail('not_found', { message: 'The machine does not have this address' });
  }
  await enqueue(ctx, 'dns.reverse', { address: canonical(address) });
}

/** An address as the database writes it; what is none stays as it is and matches nothing. */
function canonical(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.parse(address).toString() : address;
}
