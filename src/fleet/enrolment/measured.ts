import { fail, statement, type TxContext } from '../../platform/index.ts';
import { keepHardware, refuseDisksElsewhere } from '../servers/hardware.ts';
import { keepMacs, refuseMacsElsewhere } from '../servers/macs.ts';
import type { ArrivalRow } from './arrivals.ts';

type Measured = Pick<ArrivalRow, 'mac' | 'inventory' | 'plugged'>;

// Where several of its ports are heard at one, nobody knows which of them is plugged in there; and where another server is, it may be the way to a
// switch that we cannot read, at which all are heard that hang there. Staff plugs those in by hand.
const plugIn = statement<never, { serverId: number; plugged: string }>(
  'fleet.plugArrival',
  `update server_ports p set switch_id = g.switch_id, switch_port = g.switch_port
   from (select distinct on (switch_id, switch_port) mac, switch_id, switch_port, count(*) over (partition by switch_id, switch_port) as ports
     from jsonb_to_recordset(:plugged::jsonb) h (mac macaddr, switch_id bigint, switch_port text)) g
   where p.mac = g.mac and p.server_id = :serverId and g.ports = 1
     and exists (select 1 from switch_ports w where w.switch_id = g.switch_id and w.name = g.switch_port)
     and not exists (select 1 from server_ports o where o.switch_id = g.switch_id and o.switch_port = g.switch_port)`,
);
const unplug = statement<never, { serverId: number; plugged: string }>(
  'fleet.unplugArrival',
  `update server_ports p set switch_id = null, switch_port = null
   from jsonb_to_recordset(:plugged::jsonb) g (mac macaddr, switch_id bigint, switch_port text)
   where p.server_id = :serverId and p.switch_id = g.switch_id and p.switch_port = g.switch_port`,
);

// Of ports whose own driver does not know it.
const switchSpeeds = statement<{ mac: string; mbps: number }, { plugged: string }>(
  'fleet.speedsOfArrival',
  `select g.mac::text as mac, w.speed_mbps as mbps from jsonb_to_recordset(:plugged::jsonb) g (mac macaddr, switch_id bigint, switch_port text)
   join switch_ports w on w.switch_id = g.switch_id and w.name = g.switch_port where w.speed_mbps > 0`,
);

/** Whether what a machine says that it has can be this server's; `conflict` where another has it. Nothing is written. */
export async function refuseAnothers(tx: TxContext, serverId: number, machine: Measured): Promise<void> {
  await refuseMacsElsewhere(tx, serverId, macsOf(machine));
  await refuseDisksElsewhere(tx, serverId, machine.inventory);
}

/** Writes down as a server's what a machine has that is proved to be it. `conflict` as above. */
export async function keepMeasured(tx: TxContext, serverId: number, machine: Measured): Promise<void> {
  await refuseAnothers(tx, serverId, machine);
  await keepMacs(tx, serverId, macsOf(machine));
  const plugged = JSON.stringify(machine.plugged);
  await tx.db.run(unplug, { serverId, plugged });
  await tx.db.run(plugIn, { serverId, plugged });
  const speeds = new Map((await tx.db.many(switchSpeeds, { plugged })).map(({ mac, mbps }) => [mac, mbps]));
  const ports = machine.inventory.ports.map((port) => {
    const speedMbps = port.speedMbps ?? speeds.get(port.mac);
    return { ...port, ...(speedMbps !== undefined && { speedMbps }) };
  });
  await keepHardware(tx, serverId, { ...machine.inventory, ports }, machine.mac);
}

function macsOf({ inventory, mac }: Measured): string[] {
  const macs = inventory.ports.map((port) => port.mac);
  if (macs.includes(mac)) return macs;
  throw fail('conflict', { message: `The machine has no port with the MAC ${mac} that it started from` });
}
