import type { Edge, Policy } from '../../drivers/edge/index.ts';
import { type Context, statement } from '../../platform/index.ts';
import { type Effective, effectiveColumns, effectiveFrom } from '../addresses/effective.ts';
import { nodesBehind } from '../edges/places.ts';
import { inTurnOf } from '../enforce/turn.ts';
import { isOwned } from '../owned.ts';
import { addressOf, prefixFrom, single } from '../prefix.ts';

/** An address of a node whose traffic is read, and what is to be done about attacks there. */
export interface Watched extends Effective {
  address: string;
  organization_id: number;
  service_id: number;
  /** Which policy its customer wants; 0: never any. */
  generation: number;
}

const watchedOnNode = statement<Watched, { nodeId: number }>(
  'shield.watchedOnNode',
  `select host(a.address) as address, a.organization_id, a.service_id, coalesce(t.generation, 0) as generation,
     ${effectiveColumns}
   from placements p join addresses a on a.service_id = p.service_id join services s on s.id = a.service_id
   ${effectiveFrom}
   where p.node_id in ${nodesBehind} and ${isOwned} order by a.address`,
);

/** Every address that a machine of the node has. */
export async function findWatched(ctx: Context, nodeId: number): Promise<Map<string, Watched>> {
  const rows = await ctx.db.many(watchedOnNode, { nodeId });
  return new Map(rows.map((row) => [row.address, row]));
}

/** Whose an address is that another node looks after now. */
export interface Elsewhere {
  address: string;
  organization_id: number;
  service_id: number;
  /** What is to stand before it against attacks stands there. */
  is_met: boolean;
}

const atOtherNodes = statement<Elsewhere, { nodeId: number; addresses: string[] }>(
  'shield.atOtherNodes',
  `select host(a.address) as address, a.organization_id, a.service_id,
     not exists (select 1 from shield_filters f where f.address = a.address and f.service_id = a.service_id
       and f.filter is not null and (f.node_id = :nodeId or f.held is null)) as is_met
   from placements p join addresses a on a.service_id = p.service_id join services s on s.id = a.service_id
   where a.address = any(:addresses::inet[]) and not p.node_id in ${nodesBehind} and ${isOwned}`,
);

/** Which of these are not the node's any more because their machine moved, or another stands before it. */
export async function findElsewhere(
  ctx: Context,
  nodeId: number,
  addresses: readonly string[],
): Promise<Elsewhere[]> {
  if (addresses.length === 0) return [];
  return ctx.db.many(atOtherNodes, { nodeId, addresses: [...addresses] });
}

const atOnce = 500;
const never = 0;

/**
 * Has an edge count what is sent to these addresses, also where nobody wants a rule: it counts for those that it holds, so they get
 * a policy of no rules, older than all that anybody can want. Lets go of such where the address is no more. Returns what
 * the edge holds.
 */
export async function holdWatched(
  nodeId: number,
  edge: Edge,
  watched: ReadonlyMap<string, Watched>,
): Promise<Set<string>> {
  return inTurnOf(nodeId, async () => {
    const held = (await edge.list()).filter(({ as }) => as === 'policy');
    const addresses = new Set(held.map(({ destination }) => addressOf(prefixFrom(destination))));
    const gone = held.filter(
      ({ destination, generation }) =>
        generation === never && !watched.has(addressOf(prefixFrom(destination))),
    );
    if (gone.length > 0)
      await edge.remove(gone.map(({ destination, generation }) => ({ destination, generation })));
    // Those with rules of their own are written by whoever compares rules.
    const missing = [...watched.values()].filter(
      ({ address, generation }) => generation === never && !addresses.has(address),
    );
    for (let at = 0; at < missing.length; at += atOnce) {
      const policies = missing.slice(at, at + atOnce).map(({ address }) => watchingPolicy(address));
      await edge.replace(policies);
    }
    return new Set([...addresses, ...missing.map(({ address }) => address)]);
  });
}

function watchingPolicy(address: string): Policy {
  return { destination: single(address).text, generation: never, rules: [], unmatched: 'permit' };
}

/** Whether a policy is there for counting alone. */
export function isForCounting({ generation }: { generation: number }): boolean {
  return generation === never;
}
