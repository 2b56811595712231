import { viewTrafficTerms } from '../../catalog/index.ts';
import { listTraffic, readOwnTrafficOf, readPercentilesOf } from '../../fleet/index.ts';
import type { Context, OrganizationContext } from '../../platform/index.ts';
import { readTrafficTerms } from '../../services/index.ts';
import { requireDedicated } from '../queries.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Some 360 points each, as the charts of a machine have them. */
const periods = {
  day: { resolution: 'minutes', stepS: 5 * minute, lastS: day },
  week: { resolution: 'minutes', stepS: 30 * minute, lastS: 7 * day },
  month: { resolution: 'hours', stepS: 2 * hour, lastS: 31 * day },
  year: { resolution: 'days', stepS: day, lastS: 366 * day },
} as const;

export type BandwidthPeriod = keyof typeof periods;

export const bandwidthPeriods = Object.keys(periods) as BandwidthPeriod[];

const bytesPerGb = 1_000_000_000;
const gbPerTb = 1_000;

/** What went through the ports of a server while this organization had it, as the server received and sent it, and its month so far. */
export async function readBandwidth(ctx: OrganizationContext, serviceId: number, period: BandwidthPeriod) {
  await requireDedicated(ctx, serviceId);
  const { organizationId } = ctx;
  const points = await listTraffic(ctx, { serviceId, organizationId }, periods[period]);
  return {
    points: points.map(({ time, seconds, receivedBytes, sentBytes }) => ({
      ...{ time: time.getTime() / 1_000, netin: receivedBytes / seconds, netout: sentBytes / seconds },
    })),
    ...(await usageOf(ctx, serviceId)),
  };
}

/** The month of a server so far, in sum and by its 95th percentiles. */
export async function readBandwidthSummary(ctx: OrganizationContext, serviceId: number) {
  await requireDedicated(ctx, serviceId);
  const { receivedMbps, sentMbps } = await readPercentilesOf(
    ctx,
    serviceId,
    monthOf(ctx),
    ctx.organizationId,
  );
  const { terms, currency } = await readTrafficTerms(ctx, serviceId);
  return {
    ...(await usageOf(ctx, serviceId)),
    terms: terms === null ? null : viewTrafficTerms(terms, currency),
    ...{ percentile95_in_mbps: receivedMbps, percentile95_out_mbps: sentMbps },
  };
}

/** The same for the overview, as that of a VPS has it. */
export async function viewTraffic(ctx: OrganizationContext, serviceId: number) {
  const { monthlyUsageGB, monthlyLimitTB } = await usageOf(ctx, serviceId);
  const now = ctx.clock.now();
  return {
    used_gb: monthlyUsageGB,
    limit_gb: monthlyLimitTB === null ? null : wholeBytes(monthlyLimitTB * gbPerTb),
    resets_at: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)),
  };
}

async function usageOf(ctx: OrganizationContext, serviceId: number) {
  const { organizationId } = ctx;
  const { receivedBytes, sentBytes } = await readOwnTrafficOf(
    ctx,
    { serviceId, organizationId },
    monthOf(ctx),
  );
  const usedGb = (receivedBytes + sentBytes) / bytesPerGb;
  const { limitTb } = await readTrafficTerms(ctx, serviceId);
  // Of a month that it has begun in it is a part.
  const monthlyLimitTB = limitTb === null ? null : wholeBytes(limitTb * gbPerTb) / gbPerTb;
  return { monthlyUsageGB: usedGb, monthlyUsageTB: usedGb / gbPerTb, monthlyLimitTB };
}

function wholeBytes(gb: number): number {
  return Math.round(gb * bytesPerGb) / bytesPerGb;
}

function monthOf(ctx: Context): string {
  return ctx.clock.now().toISOString().slice(0, 7);
}
