import { setImmediate as breathe } from 'node:timers/promises';
import { type OrganizationContext, statement } from '../../platform/index.ts';
import { partsBetween } from '../analytics/parts.ts';
import { single } from '../prefix.ts';
import type { Flow } from './flow.ts';
import { unpack } from './pack.ts';

type Asked = { parts: number[]; addresses: string[]; organizationId: number; since: Date; until: Date };

const where = `part = any(:parts::smallint[]) and address = any(:addresses::inet[]) and organization_id = :organizationId
  and time >= :since::timestamptz and time < :until::timestamptz`;
const sumOf = statement<{ flows: number; minutes: number }, Asked>(
  'shield.sumOfFlows',
  `select coalesce(sum(count), 0)::int as flows, count(distinct time)::int as minutes
   from shield_flows where ${where}`,
);
const rowsOf = statement<
  { address: string; time: Date; flows: Buffer },
  Asked & { oneIn: number; nth: number }
>(
  'shield.flowsOf',
  `select host(f.address) as address, f.time, f.flows from (
     select address, time, flows, row_number() over (order by address, time) as nth from shield_flows where ${where}) f
   where mod(f.nth, :oneIn::int) = :nth::int order by f.address, f.time`,
);
const countedOf = statement<{ packets: number; bytes: number }, Omit<Asked, 'parts'>>(
  'shield.countedWithFlows',
  `select coalesce(sum(packets), 0)::bigint as packets, coalesce(sum(bytes), 0)::bigint as bytes
   from shield_traffic_minutes where address = any(:addresses::inet[]) and organization_id = :organizationId
     and time >= :since::timestamptz and time < :until::timestamptz`,
);

/** So many are looked at, of however many addresses: of more, those of one minute of an address in so many. */
const mostFlows = 100_000;
/** So many are handed over together; after so long others have their turn. */
const flowsAtATime = 100;
const turnMs = 5;

export interface Found {
  since: Date;
  until: Date;
  /** Minutes of which there are flows. */
  minutes: number;
  /** Of the minutes of all addresses one in so many was looked at. */
  oneIn: number;
  /** What was counted in that time, all of it. */
  counted: { packets: number; bytes: number };
}

/**
 * Hands over the flows of these addresses since then, as far as they were sent while the caller's organization had the address, and says
 * what there is of them. `look` gets some of an address and a minute at a time, and for how many such minutes they stand.
 */
export async function eachFlows(
  ctx: OrganizationContext,
  addresses: readonly string[],
  { since, until }: { since: Date; until: Date },
  look: (address: string, flows: readonly Flow[], times: number) => void,
): Promise<Found> {
  const { organizationId } = ctx;
  const asked = { addresses: [...addresses], organizationId, since, until };
  const inParts = { ...asked, parts: partsBetween('flows', since, until) };
  const { flows, minutes } = await ctx.db.one(sumOf, inParts);
  const counted = await ctx.db.one(countedOf, asked);
  const oneIn = Math.max(1, Math.ceil(flows / mostFlows));
  const nth = Math.floor(Math.random() * oneIn);
  const rows = flows === 0 ? [] : await ctx.db.many(rowsOf, { ...inParts, oneIn, nth });
  let begunMs = performance.now();
  for (const { address, flows: packed } of rows) {
    const { family, first } = single(address);
    const all = unpack(packed, family, family === 4 ? Number(first) : first);
    for (let at = 0; at < all.length; at += flowsAtATime) {
      look(address, all.slice(at, at + flowsAtATime), oneIn);
      if (performance.now() - begunMs < turnMs) continue;
      await breathe();
      begunMs = performance.now();
    }
  }
  return { since, until, minutes, oneIn, counted };
}
