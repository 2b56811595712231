import { formatMoney } from '../platform/index.ts';

/** How the traffic of a server is billed beyond what its price includes. */
export interface TrafficTerms {
  /** By all that is sent and received in a month, in TB; or by its 95th percentile, in Mbit/s. */
  billing: 'total' | 'percentile95';
  /** Whole TB or Mbit/s that a month includes. */
  included: number;
  /** Of a month of each one more. */
  priceMinor: number;
  /** Whose 95th percentile counts, as the server receives (`in`) and sends (`out`). */
  direction: TrafficDirection;
}

export type TrafficDirection = 'greater' | 'in' | 'out';

/** The same as it stands in the database. */
export type TrafficRow = Omit<TrafficTerms, 'priceMinor'> & { price_minor: number };

/** What staff says of it. */
export interface TrafficChange {
  billing: TrafficTerms['billing'];
  included: number;
  price: string;
  direction?: TrafficDirection;
}

export function trafficFromRow(row: TrafficRow | null): TrafficTerms | null {
  if (row === null) return null;
  const { price_minor: priceMinor, ...terms } = row;
  return { ...terms, priceMinor };
}

export function trafficRow(terms: TrafficTerms | null): TrafficRow | null {
  if (terms === null) return null;
  const { priceMinor: price_minor, ...row } = terms;
  return { ...row, price_minor };
}

/** As customers see it; of all traffic both directions count. */
export function viewTrafficTerms(terms: TrafficTerms | null, currency: string) {
  if (terms === null) return null;
  const { billing, included, priceMinor } = terms;
  const direction = billing === 'total' ? null : terms.direction;
  return { billing, included, price: formatMoney(priceMinor, currency), currency, direction };
}
