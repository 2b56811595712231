import { fail, refuse, statement, type TxContext } from '../../platform/index.ts';
import { storageOf } from '../servers/rent.ts';
import type { ServerState } from '../servers/states.ts';
import { findAsked, type Said, unorderable } from './orderable.ts';

interface SoldProfile extends Said {
  id: number;
  productId: number;
}

interface SoldServer {
  id: number;
  name: string;
  state: ServerState;
  profileId: number;
  /** It stands in a rack: what does not is in nobody's stock. */
  isInRack: boolean;
  /** Nobody knows how fast its port is. */
  lacksSpeed: boolean;
}

interface SoldAs extends SoldServer {
  productId: number;
  product: string;
}

const soldProfiles = statement<SoldProfile>(
  'fleet.soldProfiles',
  `select f.id, f.product_id as "productId", f.memory_gib as "memoryGb", ${storageOf} as "storageGb", f.port_mbps as "portMbps",
     exists (select from server_profiles o where o.product_id = f.product_id and o.port_mbps is not null) as "choosesPort"
   from server_profiles f where f.product_id is not null order by f.id`,
);
const soldServers = statement<SoldServer>(
  'fleet.soldServers',
  `select s.id, s.name, s.state, s.profile_id as "profileId", s.rack_id is not null as "isInRack", s.port_mbps is null as "lacksSpeed"
   from servers s join server_profiles f on f.id = s.profile_id where f.product_id is not null and s.state <> 'retired' order by s.name, s.id`,
);

const mostNamed = 20;

/**
 * Changes profiles, of which the caller holds the lock, unless servers would be sold by that no longer as what they are sold as: `conflict` then, which says which ones
 * and what products have left of them, and nothing is changed. `name`: of the profile, with which whoever wants that confirms it; `invalid_request` for another word. `saysSpeed`: the profile says one
 * afterwards.
 */
export async function unlessSoldNoMore<T>(
  tx: TxContext,
  { name, confirm, saysSpeed = false }: { name: string; confirm: string | undefined; saysSpeed?: boolean },
  change: () => Promise<T>,
): Promise<T> {
  const before = await whatIsSold(tx);
  const changed = await change();
  const after = await whatIsSold(tx);
  const soldAs = new Map(after.map(({ id, productId }) => [id, productId]));
  const lost = before.filter(({ id, productId }) => soldAs.get(id) !== productId);
  if (lost.length === 0 || confirm?.trim() === name) return changed;
  if (confirm !== undefined) throw refuse('confirm', `must be the name of the profile, ${name}`);
  const products = [...new Set(lost.map(({ productId }) => productId))];
  const each = products.map((id) => {
    const [stock, left] = [stockOf(before, id), stockOf(after, id)];
    const theirs = lost.filter(({ productId }) => productId === id);
    return `${inWords(theirs)} any more, which has ${stock} in stock now, and ${left} then`;
  });
  const unknown = saysSpeed ? lost.filter(({ lacksSpeed }) => lacksSpeed).map(({ name: one }) => one) : [];
  if (unknown.length > 0)
    each.push(`Nobody knows how fast the port of ${some(unknown)} is before it is enrolled anew`);
  throw fail('conflict', {
    message: `${each.join('. ')}. What orders and services have stays theirs. Where you want that, confirm with ${name}`,
  });
}

/** Servers that somebody can order, or could if they were in stock. */
async function whatIsSold(tx: TxContext): Promise<SoldAs[]> {
  const profiles = new Map<number, { productId: number; product: string }>();
  for (const { id, productId, ...said } of await tx.db.many(soldProfiles)) {
    const product = await findAsked(tx, productId);
    if (product === null) continue;
    const isOrderable = product.status !== 'active' || unorderable(product.options, said).length === 0;
    if (isOrderable) profiles.set(id, { productId, product: product.name });
  }
  return (await tx.db.many(soldServers)).flatMap((server) => {
    const as = profiles.get(server.profileId);
    return as === undefined ? [] : [{ ...server, ...as }];
  });
}

function inWords(servers: readonly SoldAs[]): string {
  const named = servers.map(({ name, state }) => (state === 'ready' ? name : `${name} (${state})`));
  return `${some(named)} would not be sold as ${servers[0]?.product}`;
}

function some(names: readonly string[]): string {
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  return `${names.slice(0, mostNamed).join(', ')}${more}`;
}

function stockOf(servers: readonly SoldAs[], id: number): number {
  return servers.filter(({ productId, state, isInRack }) => productId === id && state === 'ready' && isInRack)
    .length;
}
