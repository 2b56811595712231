import { type Context, fail, statement } from '../platform/index.ts';
import { chooseNode, imagesAtNode, type Resources, takesMachines } from './placement.ts';

/** What one machine needs of the fleet. */
export interface Needs {
  location: string;
  ipv4Count: number;
  ipv6Count: number;
  /** Slug of the operating system that it is made with. */
  image: string;
  resources: Resources;
}

interface FreeRow {
  id: number;
  location: string;
  cpu_cores: number;
  memory_mib: number;
  disk_gib: number;
  images: string[] | null;
}

const freeRoom = statement<FreeRow, { locations: string[]; images: string[] }>(
  'fleet.freeRoom',
  `select id, location, cpu_cores_promised - cpu_cores_taken as cpu_cores,
     memory_mib_left as memory_mib, disk_gib_left as disk_gib,
     ${imagesAtNode} as images
   from nodes n where location = any(:locations::text[]) and ${takesMachines(':images')}`,
);
// Counted no further than wanted, pool by pool, in the order of the free ones' index: there may be millions of addresses.
const freeAddresses = statement<{ free4: number; pools6: number }, { location: string; most: number }>(
  'fleet.freeAddresses',
  `select
     (select count(*)::int from (select 1 from address_pools p cross join lateral (
        select 1 from addresses where pool_id = p.id and state = 'free' order by address + 0 limit :most) f
      where p.location = :location and p.family = 4 limit :most) counted) as free4,
     (select count(*)::int from address_pools where location = :location and family = 6) as pools6`,
);

/**
 * Whether all these machines could have their room and addresses now: `insufficient_stock` where holding them,
 * one after the other, would say so. Nothing is written or locked.
 */
export async function requireAvailable(ctx: Context, machines: Needs[]): Promise<void> {
  const locations = [...new Set(machines.map((machine) => machine.location))];
  if (locations.length === 0) return;
  await requireAddresses(ctx, machines);
  const nodes = await ctx.db.many(freeRoom, { locations, images: machines.map(({ image }) => image) });
  for (const { location, image, resources } of machines) {
    const there = nodes.filter((node) => node.location === location);
    if (chooseNode(there, image, resources) === null) throw fail('insufficient_stock');
  }
}

/** The same of their addresses alone. */
export async function requireAddresses(
  ctx: Context,
  machines: readonly Pick<Needs, 'location' | 'ipv4Count' | 'ipv6Count'>[],
): Promise<void> {
  for (const location of new Set(machines.map((machine) => machine.location)))
    await requireAt(
      ctx,
      location,
      machines.filter((machine) => machine.location === location),
    );
}

async function requireAt(
  ctx: Context,
  location: string,
  machines: readonly Pick<Needs, 'ipv4Count' | 'ipv6Count'>[],
): Promise<void> {
  const wanted4 = machines.reduce((sum, machine) => sum + machine.ipv4Count, 0);
  const wanted6 = machines.reduce((sum, machine) => sum + machine.ipv6Count, 0);
  const { free4, pools6 } = await ctx.db.one(freeAddresses, { location, most: wanted4 });
  if (free4 < wanted4 || (wanted6 > 0 && pools6 === 0)) throw fail('insufficient_stock');
}
