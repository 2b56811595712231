import type { Inventory } from '../../drivers/installer/index.ts';
import { type Context, statement, type TxContext } from '../../platform/index.ts';
import { fitOne, holdAllProfiles } from '../profiles/keep.ts';
import { speedOf } from './hardware.ts';
import { lockServer } from './staff.ts';

type Ports = Inventory['ports'];

/** From which port a server started that is proved, and what it said of its ports then. The addresses of a service go to the port that it starts from. */
export interface Started {
  mac: string;
  ports: Ports;
}

interface Known {
  state: string;
  ports: Ports | null;
  mbps: number | null;
  mac: string | null;
  sold: number | null;
  profile: string | null;
  wanted: number | null;
}

const ofServer = statement<Known, { id: number }>(
  'fleet.startPortOfServer',
  `select s.state, s.hardware -> 'ports' as ports, s.port_mbps as mbps, s.start_mac::text as mac, s.sold_port_mbps as sold, f.name as profile, f.port_mbps as wanted
   from servers s left join server_profiles f on f.id = s.profile_id where s.id = :id`,
);
const write = statement<never, { id: number; mac: string; mbps: number | null; ports: string }>(
  'fleet.writeStartPort',
  `update servers set start_mac = :mac::macaddr, port_mbps = :mbps::int, hardware = jsonb_set(hardware, '{ports}', :ports::jsonb)
   where id = :id and hardware is not null`,
);

/** What is known of the speed of a server's port with the addresses, in Mbit/s; null: nothing, or it was never measured. */
export async function portMbpsOf(ctx: Context, serverId: number): Promise<number | null> {
  return (await ctx.db.maybe(ofServer, { id: serverId }))?.mbps ?? null;
}

/**
 * Why a server that an order or a move holds is not taken: the port that its addresses go to is slower than it was sold with. Null: it is not, or nobody knows how
 * fast it is.
 */
export async function slowerThanSold(
  ctx: Context,
  serverId: number,
  started: Started,
): Promise<string | null> {
  const known = await ctx.db.maybe(ofServer, { id: serverId });
  if (known === null || known.state !== 'held' || known.sold === null) return null;
  const mbps = speedNow(known, started);
  if (mbps === null || mbps >= known.sold) return null;
  return `its port ${started.mac}, which its addresses go to, has ${mbps} Mbit/s, and it was sold with ${known.sold}`;
}

/** What profile a server fits; null: none. */
export async function profileOf(ctx: Context, serverId: number): Promise<string | null> {
  return (await ctx.db.maybe(ofServer, { id: serverId }))?.profile ?? null;
}

/**
 * The same of one that came back and is to be in stock, and the profile that it has: why the port that its addresses would go to is slower than that says; null: it
 * is not, or the profile says nothing of it. Null as a whole: it fits none.
 */
export async function portOfProfile(
  ctx: Context,
  serverId: number,
  started: Started,
): Promise<{ profile: string; slower: string | null } | null> {
  const known = await ctx.db.maybe(ofServer, { id: serverId });
  if (known === null || known.profile === null) return null;
  const { profile, wanted } = known;
  if (wanted === null) return { profile, slower: null };
  const mbps = speedNow(known, started);
  const says = `and ${profile} says ${wanted}`;
  if (mbps === null)
    return {
      profile,
      slower: `nobody knows how fast the port ${started.mac} is that it started from, ${says}`,
    };
  if (mbps >= wanted) return { profile, slower: null };
  return {
    profile,
    slower: `its port ${started.mac}, which its addresses go to, has ${mbps} Mbit/s, ${says}`,
  };
}

/** Keeps from which port a server started, and how fast its ports are; it may fit another profile then. One that was never measured stays as it is. */
export async function keepStarted(tx: TxContext, serverId: number, started: Started): Promise<void> {
  const before = await tx.db.maybe(ofServer, { id: serverId });
  if (before === null || before.ports === null || isAsKnown(before, started)) return;
  await holdAllProfiles(tx);
  await lockServer(tx, serverId);
  const known = await tx.db.one(ofServer, { id: serverId });
  if (known.ports === null) return;
  const ports = known.ports.map((port) => {
    const speedMbps = speedOf(started.ports, port.mac) ?? port.speedMbps;
    return { ...port, ...(speedMbps !== undefined && { speedMbps }) };
  });
  const mbps = speedNow(known, started);
  await tx.db.run(write, { id: serverId, mac: started.mac, mbps, ports: JSON.stringify(ports) });
  await fitOne(tx, serverId);
}

/** Of a port whose own driver does not say it, what was known of it counts. */
function speedNow({ ports }: Pick<Known, 'ports'>, started: Started): number | null {
  return speedOf(started.ports, started.mac) ?? speedOf(ports ?? [], started.mac);
}

/** One that fits no profile is held against them anew. */
function isAsKnown(known: Known, started: Started): boolean {
  return (
    known.profile !== null &&
    known.mac === started.mac &&
    (known.ports ?? []).every(
      ({ mac, speedMbps = null }) => (speedOf(started.ports, mac) ?? speedMbps) === speedMbps,
    )
  );
}
