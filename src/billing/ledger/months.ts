import { addDays, allocate, dayOf, daysBetween } from '../../platform/index.ts';

/** What of an invoice is for a service. */
export interface DeferredLine {
  serviceId: number;
  amountMinor: number;
}

/** What is left to be earned of a service's part of an invoice. Days are `YYYY-MM-DD`. */
export interface DeferralRow {
  id: number;
  organization_id: number;
  currency: string;
  left_minor: number;
  earned_until: string;
  ends_on: string;
  earns_on: string;
}

/**
 * What of an invoice's net amount is owed as service: the lines of services, each with what it costs after discounts
 * and before tax, set-up included. The rest is earned when it is paid.
 */
export function deferredOf(
  netMinor: number,
  lines: { service_id: number | null; minor: number }[],
): DeferredLine[] {
  // Where the lines add up to it, each is its own share.
  const shares = allocate(
    netMinor,
    lines.map(({ minor }) => Math.max(0, minor)),
  );
  const byService = new Map<number, number>();
  for (const [at, { service_id }] of lines.entries()) {
    if (service_id !== null) byService.set(service_id, (byService.get(service_id) ?? 0) + (shares[at] ?? 0));
  }
  return [...byService]
    .filter(([, amountMinor]) => amountMinor > 0)
    .map(([serviceId, amountMinor]) => ({ serviceId, amountMinor }));
}

/** What of it is earned at one time. */
export interface Part {
  id: number;
  organization_id: number;
  currency: string;
  /** First day of the month that it is of, and the day of that month on which it begins. */
  month: string;
  fromDay: number;
  /** Last day that it is of. */
  countsOn: string;
  amountMinor: number;
  until: string | null;
  next: string | null;
}

/** The part of what is left that falls to the days up to the due one; the last month gets the remainder. */
export function partOf(row: DeferralRow): Part {
  return partUntil(row, row.earns_on);
}

/** The same for the days up to any one that is not earned yet. */
export function partUntil(row: DeferralRow, due: string): Part {
  const { earned_until: from, ends_on: end, left_minor: leftMinor } = row;
  const isLast = due >= end;
  const amountMinor = isLast
    ? leftMinor
    : Number((BigInt(leftMinor) * BigInt(daysBetween(from, due))) / BigInt(daysBetween(from, end)));
  const following = monthAfter(due);
  return {
    ...{ id: row.id, organization_id: row.organization_id, currency: row.currency, amountMinor },
    month: `${from.slice(0, 7)}-01`,
    fromDay: Number(from.slice(8)),
    countsOn: dayBefore(due, from),
    until: due,
    next: isLast ? null : following < end ? following : end,
  };
}

/** The last day of a part, which has at least one. */
function dayBefore(day: string, first: string): string {
  const before = addDays(day, -1);
  return before < first ? first : before;
}

function monthAfter(day: string): string {
  const [year = 0, month = 0] = day.split('-').map(Number);
  return dayOf(new Date(Date.UTC(year, month, 1)));
}
