import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { record } from '../events/index.ts';
import { enqueue, fail, job, statement, type TxContext, wrongWithDomain } from '../platform/index.ts';
import { addressNamed } from './events.ts';

const setName = statement<
  { organization_id: number; before: string | null },
  { serviceId: number; address: string; dnsName: string | null }
>(
  'fleet.setReverseName',
  `update addresses a set dns_name = :dnsName
   from (select address, dns_name from addresses
         where service_id = :serviceId and host(address) = :address and state = 'taken'
           and not held for update) before
   where a.address = before.address returning a.organization_id, before.dns_name as before`,
);

const nameOf = statement<{ dns_name: string | null }, { address: string }>(
  'fleet.reverseName',
  'select dns_name from addresses where host(address) = :address',
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
  const message = name === null ? null : wrongWithDomain(name, { atLeast: 2 });
  if (message !== null) throw fail('invalid_domain', { details: [{ field: 'dns_name', message }] });
  const dnsName = name?.toLowerCase() ?? null;
  const row = await ctx.db.maybe(setName, { serviceId, address: canonical(address), dnsName });
  if (row === null) throw fail('not_found', { message: 'The machine does not have this address' });
  await publishName(ctx, canonical(address));
  if (row.before === dnsName) return;
  await record(ctx, addressNamed, {
    subject: { type: 'service', id: serviceId },
    organizationId: row.organization_id,
    data: { address: canonical(address), dns_name: dnsName, before: row.before },
  });
}

/** An address as the database writes it; what is none stays as it is and matches nothing. */
function canonical(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.parse(address).toString() : address;
}

/** Has the name server told what name an address has now. */
export async function publishName(ctx: TxContext, address: string): Promise<void> {
  await enqueue(ctx, reverseNaming, { address });
}

// At most half a minute apart: a name server that is away for a night is no reason to lose a name.
const attempts = 1_000;
const roundsAtMost = 10;

interface Payload {
  address: string;
}

/**
 * Carries an address' name to the name server. Of several jobs for one address that overlap, each looks again
 * after it wrote: whichever writes last wrote what the database says.
 */
export const reverseNaming = job<Payload>(
  'dns.reverse',
  async ({ ctx, drivers, payload }) => {
    // Nothing was ever carried there, so there is nothing to take away either.
    if (isIPv6(payload.address) && !drivers.dns.capabilities.includes('ipv6')) return;
    const wanted = async () => (await ctx.db.maybe(nameOf, { address: payload.address }))?.dns_name ?? null;
    let name = await wanted();
    for (let round = 0; round < roundsAtMost; round += 1) {
      await drivers.dns.setName(payload.address, name);
      const now = await wanted();
      if (now === name) return;
      name = now;
    }
    throw new Error(`the name of ${payload.address} changes faster than it can be published`);
  },
  { attempts, queue: 'names' },
);
