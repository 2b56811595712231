import type { Inventory } from '../../drivers/installer/index.ts';
import { fail, statement, type TxContext } from '../../platform/index.ts';
import { fitOne } from '../profiles/keep.ts';

const write = statement<
  never,
  { id: number; hardware: string; startMac: string; portMbps: number | null; now: Date }
>(
  'fleet.writeHardware',
  `update servers set hardware = :hardware::jsonb, start_mac = :startMac::macaddr, port_mbps = :portMbps::int, measured_at = :now,
     seen_hardware = null, seen_at = null, seen_start_id = null where id = :id`,
);
const takeOut = statement<never, { serverId: number; serials: string[]; now: Date }>(
  'fleet.takeOutMissingDisks',
  'update server_disks set removed_at = :now where server_id = :serverId and removed_at is null and serial <> all(:serials::text[])',
);
const elsewhere = statement<{ serial: string; name: string }, { serverId: number; serials: string[] }>(
  'fleet.disksElsewhere',
  `select d.serial, s.name from server_disks d join servers s on s.id = d.server_id
   where d.serial = any(:serials::text[]) and d.removed_at is null and d.server_id <> :serverId order by d.serial limit 1`,
);
const putIn = statement<never, { serverId: number; disks: string; now: Date }>(
  'fleet.putInMeasuredDisks',
  `insert into server_disks (server_id, serial, model, installed_at)
   select :serverId, d.serial, nullif(d.model, ''), :now from jsonb_to_recordset(:disks::jsonb) d (serial text, model text)
   on conflict (serial) where removed_at is null do nothing`,
);

/**
 * Writes down what the installer measured of a server: that is what it has, whatever was written down by hand. `startMac`: of the port that it started from.
 * `conflict` where one of its disks is on the record of another.
 */
export async function keepHardware(
  tx: TxContext,
  serverId: number,
  inventory: Inventory,
  startMac: string,
): Promise<void> {
  const now = tx.clock.now();
  const serials = inventory.disks.map((disk) => disk.serial);
  await refuseDisksElsewhere(tx, serverId, inventory);
  const portMbps = speedOf(inventory.ports, startMac);
  await tx.db.run(write, { id: serverId, hardware: JSON.stringify(inventory), startMac, portMbps, now });
  await fitOne(tx, serverId);
  await tx.db.run(takeOut, { serverId, serials, now });
  await tx.db.run(putIn, { serverId, disks: JSON.stringify(inventory.disks), now });
}

/** What the port with this MAC and the switch have agreed on, in Mbit/s; null: nobody knows, or there is no such port. */
export function speedOf(ports: Inventory['ports'], mac: string): number | null {
  return ports.find((port) => port.mac === mac)?.speedMbps ?? null;
}

/** `conflict` where one of these disks is on the record of another server. */
export async function refuseDisksElsewhere(tx: TxContext, serverId: number, { disks }: Inventory) {
  const other = await tx.db.maybe(elsewhere, { serverId, serials: disks.map((disk) => disk.serial) });
  if (other === null) return;
  const message = `The disk ${other.serial} is on the record of ${other.name}: record there that it was taken out`;
  throw fail('conflict', { message });
}

/** As staff sees it. */
export function viewHardware(inventory: Inventory) {
  const { memoryMib, memoryModules, bootOrder = null, ports, ...rest } = inventory;
  return {
    ...rest,
    ports: viewPorts(ports),
    boot_order: bootOrder,
    memory_mib: memoryMib,
    memory_modules: memoryModules,
  };
}

export function viewPorts(ports: Inventory['ports']) {
  return ports.map(({ speedMbps = null, ...port }) => ({ ...port, speed_mbps: speedMbps }));
}
