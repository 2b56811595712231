import { type OrganizationContext, statement } from '../../platform/index.ts';

/** So many minutes make the line beside an address. */
const shownMinutes = 30;
const minuteMs = 60_000;

interface Minute {
  address: string;
  nth: number;
  packets: number;
  dropped_packets: number;
}

const recentOf = statement<Minute, { organizationId: number; addresses: string[]; since: Date; until: Date }>(
  'shield.recentTraffic',
  `select host(address) as address, floor(extract(epoch from time - :since::timestamptz) / 60)::int as nth,
     sum(packets)::bigint as packets, sum(dropped_packets)::bigint as dropped_packets
   from shield_traffic_minutes where address = any(:addresses::inet[]) and organization_id = :organizationId
     and time >= :since and time < :until group by 1, 2`,
);

/** By address, the packets of each of the last minutes that are over, and those of them that were dropped. */
export async function readRecent(
  ctx: OrganizationContext,
  addresses: readonly string[],
): Promise<(address: string) => { packets: number[]; dropped: number[] }> {
  const until = new Date(Math.floor(ctx.clock.now().getTime() / minuteMs) * minuteMs);
  const since = new Date(until.getTime() - shownMinutes * minuteMs);
  const { organizationId } = ctx;
  const rows =
    addresses.length === 0
      ? []
      : await ctx.db.many(recentOf, { organizationId, addresses: [...addresses], since, until });
  const byAddress = Map.groupBy(rows, ({ address }) => address);
  return (address) => {
    const [packets, dropped] = [nothing(), nothing()];
    for (const row of byAddress.get(address) ?? []) {
      packets[row.nth] = row.packets;
      dropped[row.nth] = row.dropped_packets;
    }
    return { packets, dropped };
  };
}

function nothing(): number[] {
  return Array.from({ length: shownMinutes }, () => 0);
}
