import type { Inventory } from '../../drivers/installer/index.ts';
import { type Context, statement } from '../../platform/index.ts';
import { isProving, provingSince } from '../consoles/proving.ts';
import { viewPorts } from './hardware.ts';
import { readingsNow } from './readings.ts';
import { hardwareDifferences, viewDifference } from './seen.ts';
import type { CustomerWork, PowerAction, ServerState } from './states.ts';

/** A server as whoever has it may know it: nothing of its BMC but what that said of the power, and when. */
export interface RentedServer {
  id: number;
  state: ServerState;
  location: string | null;
  /** As its BMC said it last; null: it was never heard. */
  power: 'on' | 'off' | null;
  heardAt: Date | null;
  /** Its BMC did not answer when it was asked last, or nobody says how it is asked. */
  isSilent: boolean;
  /** Somebody has said how its BMC is reached. */
  canSwitch: boolean;
  /** What is done with its power right now, by whomever. */
  switching: PowerAction | null;
  /** What its customer has done with it beside its power right now. */
  customerWork: CustomerWork | null;
  /** Staff found that it cannot be used. */
  isOutOfOrder: boolean;
  /** Whenever it starts, it starts our rescue system. */
  inRescue: boolean;
  /** Whether its BMC shows its serial line; null: it was not asked yet. */
  showsLine: boolean | null;
  /** Its serial line is the proof's: nobody else may read there. */
  isProving: boolean;
  /** Of its first port. */
  mac: string | null;
  /** What its maker calls it, as its installer measured it; null: it never was. */
  system: { vendor: string; product: string } | null;
}

const ofService = statement<RentedServer, { serviceId: number; provingSince: Date }>(
  'fleet.rentedServer',
  `select s.id, s.state, r.location, b.power, b.heard_at as "heardAt", b.problem is not null or b.server_id is null as "isSilent",
     b.server_id is not null as "canSwitch",
     b.power_action as switching, b.shows_line as "showsLine", ${isProving} as "isProving", s.customer_work as "customerWork",
     s.out_of_order is not null as "isOutOfOrder",
     exists (select 1 from server_assignments g where g.server_id = s.id and g.kind = 'rescue' and g.state in ('open', 'working')) as "inRescue",
     (select p.mac::text from server_ports p where p.server_id = s.id order by p.position limit 1) as mac,
     case when s.hardware is not null then jsonb_build_object('vendor', s.hardware #> '{system,vendor}', 'product', s.hardware #> '{system,product}') end as system
   from servers s left join racks r on r.id = s.rack_id left join server_bmcs b on b.server_id = s.id
   where s.service_id = :serviceId`,
);
const hardwareOf = statement<
  {
    hardware: Inventory | null;
    measured_at: Date | null;
    seen: Inventory | null;
    seen_at: Date | null;
    disks: { serial: string; model: string | null; installedAt: string; removedAt: string | null }[];
  },
  { id: number }
>(
  'fleet.hardwareOfServer',
  `select s.hardware, s.measured_at, s.seen_hardware as seen, s.seen_at,
     (select coalesce(jsonb_agg(jsonb_build_object('serial', d.serial, 'model', d.model, 'installedAt', d.installed_at, 'removedAt', d.removed_at)
       order by d.id), '[]') from server_disks d where d.server_id = s.id) as disks
   from servers s where s.id = :id`,
);

/** The server of a service; null: it has none. */
export function findRentedServer(ctx: Context, serviceId: number): Promise<RentedServer | null> {
  return ctx.db.maybe(ofService, { serviceId, provingSince: provingSince(ctx) });
}

/** What a server has, as its installer measured it, and what differs since; `hardware` is null where it never was. Nothing of its BMC. */
export async function readRentedHardware(ctx: Context, id: number) {
  const row = await ctx.db.one(hardwareOf, { id });
  const { hardware, measured_at: measuredAt, seen, seen_at: seenAt } = row;
  if (hardware === null) return notMeasured;
  const disksOnRecord = row.disks.map(({ installedAt, removedAt, ...disk }) => ({
    ...{ ...disk, installedAt: new Date(installedAt) },
    removedAt: removedAt === null ? null : new Date(removedAt),
  }));
  const known = { hardware, measuredAt, seen, seenAt, disks: disksOnRecord };
  const { system, firmware, processor, memoryMib, memoryModules, disks, ports } = hardware;
  return {
    hardware: {
      system: { vendor: system.vendor, product: system.product, serial: system.serial },
      ...{ firmware, processor, memory_mib: memoryMib, memory_modules: memoryModules, disks },
      ports: viewPorts(ports),
    },
    measured_at: measuredAt,
    differences: hardwareDifferences(known).map(viewDifference),
    seen_at: seenAt,
  };
}

/** The same of a server of which nothing was measured, or nothing is its customer's yet. */
export const notMeasured = { hardware: null, measured_at: null, differences: [], seen_at: null };

/** What was measured of a server when it was read last; no event log, and no words of its BMC's. */
export async function readRentedSensors(ctx: Context, id: number) {
  const { sensors, read_at: readAt, problem } = await readingsNow(ctx, id);
  return { sensors, read_at: readAt, silent: problem !== null };
}
