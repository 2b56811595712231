import type { TrafficTerms } from '../../catalog/index.ts';

/** What a service had of a calendar month: so many of its days, of which the first and the last count whole. */
export interface Share {
  days: number;
  ofDays: number;
}

/** What a month came to, in bytes: of both directions together, and in five minutes the 95th percentile of each. */
export interface Used {
  totalBytes: number;
  receivedPercentileBytes: number;
  sentPercentileBytes: number;
}

const bytesPerTb = 1_000_000_000_000n;
/** In the five minutes of a sample. */
const bytesPerMbps = 37_500_000n;
const thousandths = 1_000n;

/** The bytes that the terms go by. */
export function countedBytes({ billing, direction }: TrafficTerms, used: Used): number {
  const { totalBytes, receivedPercentileBytes: received, sentPercentileBytes: sent } = used;
  if (billing === 'total') return totalBytes;
  return { in: received, out: sent, greater: Math.max(received, sent) }[direction];
}

/**
 * Thousandths of a TB or Mbit/s beyond what is included, cut off once; never negative. What is included is a month's: a service that
 * had a part of the days has that part of the TB, and of Mbit/s, which are no amount but a rate, pays that part of what is beyond.
 */
export function overThousandths(terms: TrafficTerms, bytes: number, { days, ofDays }: Share): number {
  const unit = terms.billing === 'total' ? bytesPerTb : bytesPerMbps;
  const [counted, included] = [BigInt(Math.round(bytes)), BigInt(terms.included) * unit];
  const beyond =
    terms.billing === 'total'
      ? counted * BigInt(ofDays) - included * BigInt(days)
      : (counted - included) * BigInt(days);
  return beyond <= 0n ? 0 : Number((beyond * thousandths) / (unit * BigInt(ofDays)));
}

/** TB that a service may have of a month, or Mbit/s. */
export function includedOf({ billing, included }: TrafficTerms, { days, ofDays }: Share): number {
  return billing === 'total' ? (included * days) / ofDays : included;
}

/** TB, or Mbit/s. */
export function unitsOf({ billing }: Pick<TrafficTerms, 'billing'>, bytes: number): number {
  return bytes / Number(billing === 'total' ? bytesPerTb : bytesPerMbps);
}

/** Of a month, `YYYY-MM`, for a service that began on one day and, if it has, ended on another. */
export function shareOfMonth(month: string, beganOn: string, endedOn: string | null): Share {
  const [year = 0, of = 0] = month.split('-').map(Number);
  const ofDays = new Date(Date.UTC(year, of, 0)).getUTCDate();
  const dayIn = (day: string | null, else_: number) =>
    day === null || !day.startsWith(month) ? else_ : Number(day.slice(8));
  const first = beganOn > `${month}-31` ? ofDays + 1 : dayIn(beganOn, 1);
  const last = endedOn !== null && endedOn < `${month}-01` ? 0 : dayIn(endedOn, ofDays);
  return { days: Math.max(0, last - first + 1), ofDays };
}
