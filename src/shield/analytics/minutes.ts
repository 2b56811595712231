import type { Edge } from '../../drivers/edge/index.ts';
import { type Context, statement, transaction } from '../../platform/index.ts';
import { keepFlows, type PackedFlows, packMinute } from '../flows/keep.ts';
import { addSamples, type MinuteFlows } from '../flows/minute.ts';
import { single } from '../prefix.ts';
import type { Looked } from '../watch/samples.ts';
import { type Amount, allOf, nothing, type Seen, sum } from '../watch/seen.ts';
import type { Watched } from '../watch/watched.ts';
import { type Decided, droppedOf, takeDecided } from './drops.ts';
import { partOf, resolutions } from './parts.ts';

/** What came to addresses within one minute. */
export interface Minute {
  /** Its first moment. */
  time: number;
  arrived: ReadonlyMap<string, Amount & { organizationId: number }>;
  /** What samples show of it. */
  flows: MinuteFlows;
}

export function minuteOf(at: Date): Minute {
  const { ms } = resolutions.minutes;
  return { time: Math.floor(at.getTime() / ms) * ms, arrived: new Map(), flows: new Map() };
}

/** Adds what came between two readings. `samples` of it are added in place: they are many. */
export function addSeen(
  minute: Minute,
  seen: ReadonlyMap<string, Seen>,
  watched: ReadonlyMap<string, Watched>,
  samples: readonly Looked[],
): Minute {
  addSamples(minute.flows, samples, watched);
  if (seen.size === 0) return minute;
  const arrived = new Map(minute.arrived);
  for (const [address, each] of seen) {
    const organizationId = watched.get(address)?.organization_id;
    if (organizationId === undefined) continue;
    arrived.set(address, { organizationId, ...sum(arrived.get(address) ?? nothing, allOf(each)) });
  }
  return { ...minute, arrived };
}

const keepMinutes = statement<
  never,
  {
    part: number;
    time: Date;
    addresses: string[];
    organizations: number[];
    packets: number[];
    bytes: number[];
    droppedPackets: number[];
    droppedBytes: number[];
  }
>(
  'shield.keepMinutes',
  // Of a minute in which another edge took over both know a part: added up, what passed both would count twice.
  `insert into shield_traffic_minutes as m (part, address, time, organization_id, packets, bytes, dropped_packets, dropped_bytes)
   select :part, w.address, :time, w.organization_id, w.packets, w.bytes, w.dropped_packets, w.dropped_bytes
   from unnest(:addresses::inet[], :organizations::bigint[], :packets::bigint[], :bytes::bigint[],
     :droppedPackets::bigint[], :droppedBytes::bigint[])
     as w(address, organization_id, packets, bytes, dropped_packets, dropped_bytes) order by w.address
   on conflict (address, time, part) do update set organization_id = excluded.organization_id, packets = excluded.packets,
     bytes = excluded.bytes, dropped_packets = excluded.dropped_packets, dropped_bytes = excluded.dropped_bytes
   where m.packets < excluded.packets`,
);
// Written again it is the same.
const keepHours = statement<never, { part: number; hour: Date; until: Date; addresses: string[] }>(
  'shield.keepHours',
  `insert into shield_traffic_hours (part, address, time, organization_id, packets, bytes, dropped_packets, dropped_bytes)
   select :part, address, :hour::timestamptz, (array_agg(organization_id order by time desc))[1], sum(packets)::bigint, sum(bytes)::bigint,
     sum(dropped_packets)::bigint, sum(dropped_bytes)::bigint
   from shield_traffic_minutes
   where address = any(:addresses::inet[]) and time >= :hour::timestamptz and time < :until group by address order by address
   on conflict (address, time, part) do update set organization_id = excluded.organization_id,
     packets = excluded.packets, bytes = excluded.bytes,
     dropped_packets = excluded.dropped_packets, dropped_bytes = excluded.dropped_bytes`,
);

/** A minute that is over, and what was decided about packets until then. */
export interface MinuteOver extends Omit<Minute, 'flows'> {
  decided: readonly Decided[];
  /** Packed at once, as it may have to wait. */
  flows: Promise<readonly PackedFlows[]>;
}

/** The minute that goes on at this moment, and the one before it once that is over and something came in it. */
export function turnMinute(edge: Edge, minute: Minute, at: Date): { minute: Minute; over: MinuteOver[] } {
  const next = minuteOf(at);
  if (next.time <= minute.time) return { minute, over: [] };
  if (minute.arrived.size === 0 && minute.flows.size === 0) return { minute: next, over: [] };
  const flows = packMinute(minute.flows);
  flows.catch(() => undefined); // whoever writes it is told
  return { minute: next, over: [{ ...minute, decided: takeDecided(edge), flows }] };
}

export async function writeMinute(ctx: Context, { decided, flows, ...minute }: MinuteOver): Promise<void> {
  await write(ctx, minute, await droppedOf(ctx, decided));
  const packed = await flows;
  await transaction(ctx, 'shield.keepFlows', (tx) => keepFlows(tx, new Date(minute.time), packed));
}

async function write(
  ctx: Context,
  { time, arrived }: Omit<Minute, 'flows'>,
  dropped: Map<string, Amount>,
): Promise<void> {
  const rows = [...arrived].map(([address, { organizationId, packets, bytes }]) => {
    // Rules are read in turn: what they dropped a moment ago may have come in the minute before.
    const drops = dropped.get(single(address).text) ?? nothing;
    return {
      ...{ address, organizationId, packets, bytes },
      droppedPackets: Math.min(packets, drops.packets),
      droppedBytes: Math.min(bytes, drops.bytes),
    };
  });
  const addresses = rows.map(({ address }) => address);
  const minute = new Date(time);
  const { ms } = resolutions.hours;
  const hour = new Date(Math.floor(time / ms) * ms);
  await transaction(ctx, 'shield.keepTraffic', async (tx) => {
    await tx.db.run(keepMinutes, {
      ...{ part: partOf('minutes', minute), time: minute, addresses },
      organizations: rows.map(({ organizationId }) => organizationId),
      packets: rows.map(({ packets }) => packets),
      bytes: rows.map(({ bytes }) => bytes),
      droppedPackets: rows.map(({ droppedPackets }) => droppedPackets),
      droppedBytes: rows.map(({ droppedBytes }) => droppedBytes),
    });
    const until = new Date(hour.getTime() + ms);
    await tx.db.run(keepHours, { part: partOf('hours', hour), hour, until, addresses });
  });
}
