import { type Context, type Drivers, statement } from '../../platform/index.ts';
import { connectionOf, switchById } from './rows.ts';

/** A port of a switch at which a server hangs, and the VLAN that it is in, untagged; null: in none. */
export interface PortInVlan {
  switchId: number;
  port: string;
  vlan: number | null;
}

/** Two ports of switches that take each other's VLAN. */
export interface VlanExchange {
  left: PortInVlan & { vlan: number };
  taken: PortInVlan & { vlan: number };
}

interface AtHand {
  ctx: Context;
  drivers: Drivers;
}

const portsOf = statement<
  { server: string; switch_id: number | null; switch_port: string | null },
  { serverId: number }
>(
  'fleet.pluggedPorts',
  `select s.name as server, p.switch_id, p.switch_port from servers s left join server_ports p on p.server_id = s.id
   where s.id = :serverId order by p.position`,
);

/**
 * What has to change for the ports of one server to be in the VLANs in which those of another one are, port by port. Nothing where no switch says in which VLAN a port
 * is: there the product relies on isolated ports. A VLAN that cannot go with its customer is an error for staff, `permanent`, before anything is changed.
 */
export async function planVlanExchange(at: AtHand, leftId: number, takenId: number): Promise<VlanExchange[]> {
  const [left, taken] = [await readPorts(at, leftId), await readPorts(at, takenId)];
  return left.ports.flatMap((port, nth) => {
    if (port === null || port.vlan === null) return [];
    const other = taken.ports[nth] ?? null;
    const where = `the port ${nth + 1} of ${left.server} is in the VLAN ${port.vlan}`;
    if (other === null)
      throw cannot(
        `${where}, and nobody knows at which port of a switch that can that of ${taken.server} hangs`,
      );
    if (other.vlan === port.vlan) return [];
    if (other.vlan === null)
      throw cannot(`${where}, and that of ${taken.server} in none that the other could have instead`);
    return [{ left: { ...port, vlan: port.vlan }, taken: { ...other, vlan: other.vlan } }];
  });
}

/**
 * Has both ports of each pair take the other's VLAN, or take it back. The one that a customer has left leaves their VLAN first. Repeatable. A port into which staff has plugged
 * another server since, or none, is not touched: on the way there that is an error for staff, `permanent`.
 */
export async function exchangeVlans(
  at: AtHand,
  { leftId, takenId, pairs, way }: ServersOfPorts & { pairs: readonly VlanExchange[]; way: 'there' | 'back' },
): Promise<void> {
  if (pairs.length === 0) return;
  const are = [
    await at.ctx.db.many(portsOf, { serverId: leftId }),
    await at.ctx.db.many(portsOf, { serverId: takenId }),
  ];
  const isAt = (nth: 0 | 1, { switchId, port }: PortInVlan) =>
    are[nth]?.some((row) => row.switch_id === switchId && row.switch_port === port) === true;
  for (const { left, taken } of pairs) {
    const both = [
      { ...left, isTheirs: isAt(0, left), other: taken.vlan },
      { ...taken, isTheirs: isAt(1, taken), other: left.vlan },
    ];
    const gone = both.find(({ isTheirs }) => !isTheirs);
    if (way === 'there' && gone !== undefined)
      throw cannot(
        `the port ${gone.port} is not that of either server any more: somebody has plugged them otherwise since`,
      );
    for (const each of way === 'there' ? both : both.toReversed())
      if (each.isTheirs) await setVlan(at, each, way === 'there' ? each.other : each.vlan);
  }
}

interface ServersOfPorts {
  leftId: number;
  takenId: number;
}

/** Whether a server is alone in VLANs of its own once these are taken back: each of its ports is among them. */
export async function isApart(
  ctx: Context,
  serverId: number,
  pairs: readonly VlanExchange[],
): Promise<boolean> {
  const ports = await ctx.db.many(portsOf, { serverId });
  return (
    ports.length > 0 &&
    ports.every(({ switch_id: switchId, switch_port: port }) =>
      pairs.some(({ taken }) => taken.switchId === switchId && taken.port === port),
    )
  );
}

async function readPorts(at: AtHand, serverId: number) {
  const rows = await at.ctx.db.many(portsOf, { serverId });
  const ports: (PortInVlan | null)[] = [];
  for (const { switch_id: switchId, switch_port: port } of rows)
    ports.push(switchId === null || port === null ? null : await readPort(at, switchId, port));
  return { server: rows[0]?.server ?? `server ${serverId}`, ports };
}

/** Null where the switch cannot say. */
function readPort(at: AtHand, switchId: number, port: string): Promise<PortInVlan | null> {
  return withSwitch(at, switchId, async (opened) =>
    opened.capabilities.includes('vlans') ? { switchId, port, vlan: await opened.readVlan(port) } : null,
  );
}

function setVlan(at: AtHand, { switchId, port }: PortInVlan, vlan: number): Promise<void> {
  return withSwitch(at, switchId, (opened) => opened.setVlan(port, vlan));
}

async function withSwitch<T>(
  { ctx, drivers }: AtHand,
  switchId: number,
  work: (opened: ReturnType<Drivers['switch']>) => Promise<T>,
): Promise<T> {
  const opened = drivers.switch(await connectionOf(ctx, await ctx.db.one(switchById, { id: switchId })));
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

function cannot(message: string): Error {
  return Object.assign(new Error(message), { code: 'vlan_stays', permanent: true });
}
