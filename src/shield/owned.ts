import {
  type Context,
  fail,
  type OrganizationContext,
  refuse,
  statement,
  type TxContext,
} from '../platform/index.ts';
import { nodeBefore } from './edges/places.ts';
import { addressAt, type Prefix, readPrefix, sizeOf } from './prefix.ts';

/** An address that an organization has in use. */
export interface OwnedAddress {
  address: string;
  service_id: number;
}

/**
 * In SQL, of `addresses a` and `services s`: what is delivered to its owner. What is only held for an order nobody has yet, and
 * what rests is nobody's any more.
 */
export const isOwned = `a.state = 'taken' and not a.held and s.status in ('active', 'suspended')`;

const within = `from addresses a join services s on s.id = a.service_id
  where a.address between :first::inet and :last::inet and a.organization_id = :organizationId
    and ${isOwned} order by a.address`;
type Within = { organizationId: number; first: string; last: string };
const ownedWithin = statement<OwnedAddress, Within>(
  'shield.ownedWithin',
  `select host(a.address) as address, a.service_id ${within}`,
);
const holdOwned = statement<OwnedAddress, Within>(
  'shield.holdOwned',
  `select host(a.address) as address, a.service_id ${within} for share of a`,
);

/** More than anybody has; a network that is wider is not all of one organization's. */
const widest = 65_536n;

/** What a request names as its destination; `invalid_request` when it is no network. */
export function requirePrefix(text: string, field: string): Prefix {
  const prefix = readPrefix(text.trim());
  if (typeof prefix === 'string') throw refuse(field, prefix);
  return prefix;
}

/** The same where it has to be one address. */
export function requireOneAddress(text: string, field: string): Prefix {
  const prefix = requirePrefix(text, field);
  if (sizeOf(prefix) === 1n) return prefix;
  throw refuse(field, 'must be one address, not a network');
}

/**
 * All addresses of a network, each of them the caller's; they stay so until the transaction ends. `forbidden` when one is
 * not, be it another organization's, resting, or nobody's at all.
 */
export async function holdOwnAddresses(
  tx: OrganizationContext & TxContext,
  prefix: Prefix,
  field: string,
): Promise<OwnedAddress[]> {
  return all(await tx.db.many(holdOwned, valuesOf(tx.organizationId, prefix)), prefix, field);
}

/** Those addresses of a network that the caller has, held as well: of a rule whose network was once all of theirs. */
export function holdAddressesOf(
  tx: OrganizationContext & TxContext,
  prefix: Prefix,
): Promise<OwnedAddress[]> {
  return tx.db.many(holdOwned, valuesOf(tx.organizationId, prefix));
}

/** The same as `holdOwnAddresses` without holding them, for who only looks. */
export async function requireOwnAddresses(
  ctx: OrganizationContext,
  prefix: Prefix,
  field: string,
): Promise<OwnedAddress[]> {
  return all(await ctx.db.many(ownedWithin, valuesOf(ctx.organizationId, prefix)), prefix, field);
}

function valuesOf(organizationId: number, { family, first, last }: Prefix): Within {
  return { organizationId, first: addressAt(family, first), last: addressAt(family, last) };
}

function all(found: OwnedAddress[], prefix: Prefix, field: string): OwnedAddress[] {
  if (sizeOf(prefix) <= widest && BigInt(found.length) === sizeOf(prefix)) return found;
  const message = 'names an address that your organization does not have';
  throw fail('forbidden', { details: [{ field, message }] });
}

const nodesOf = statement<{ address: string; node_id: number }, { addresses: string[] }>(
  'shield.nodesOfAddresses',
  `select host(a.address) as address, ${nodeBefore('p')} as node_id from addresses a join placements p on p.service_id = a.service_id
   where a.address = any(:addresses::inet[]) and a.state = 'taken' order by 2, a.address`,
);

/** By node, which of these addresses its machines have. */
export async function byNode(ctx: Context, addresses: readonly string[]): Promise<Map<number, string[]>> {
  const rows = await ctx.db.many(nodesOf, { addresses: [...addresses] });
  const found = new Map<number, string[]>();
  for (const { address, node_id } of rows) found.set(node_id, [...(found.get(node_id) ?? []), address]);
  return found;
}
