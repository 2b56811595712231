import { isInUnion, taxCountry } from './union.ts';

/**
 * - `taxed`: by the rate of `country`.
 * - `reverse_charge`: the buyer owes the tax, in a country of the European Union that is not the provider's.
 * - `exempt`: staff says so, with a reason that invoices show.
 * - `outside`: the provider owes no tax there.
 */
export type Treatment = 'taxed' | 'reverse_charge' | 'exempt' | 'outside';

export type TaxIdState = 'valid' | 'invalid' | 'unknown';

/** The provider, as its settings say. */
export interface Seller {
  /** Where it is established; null: it has not said, so each country's own rate counts. */
  country: string | null;
  /** Taxes consumers elsewhere in the European Union by the rate of where they live. */
  oneStopShop: boolean;
  /** What becomes of a buyer whose VAT id nobody could look up yet. */
  unknownTaxId: 'tax' | 'reverse_charge';
}

/** Who buys, as the billing profile says and the register. */
export interface Buyer {
  country: string | null;
  consumer: boolean;
  /** Null without a tax id, and where nobody is asked about it. */
  taxIdState: TaxIdState | null;
  exemptReason: string | null;
}

export interface Decision {
  treatment: Treatment;
  /** Whose tax it is, or would be. */
  country: string | null;
  rateBasisPoints: number;
  /** Why there is none, where staff said it. */
  reason: string | null;
  /** It would be another one if the register knew the tax id, and it could not say yet. */
  awaits: boolean;
}

/**
 * Whose tax an invoice carries, and at which rate. `rateOf` is the rate of a country on the day of supply in basis
 * points, null where the provider has listed none. See docs/decisions/0063-tax.md.
 */
export function decideTax(
  seller: Seller,
  buyer: Buyer,
  rateOf: (country: string) => number | null,
): Decision {
  const untaxed = (treatment: Treatment, country: string | null, awaits = false): Decision => ({
    ...{ treatment, country, rateBasisPoints: 0, reason: null, awaits },
  });
  const byRateOf = (country: string, awaits = false): Decision => {
    const rateBasisPoints = rateOf(country);
    if (rateBasisPoints === null) return untaxed('outside', country);
    return { treatment: 'taxed', country, rateBasisPoints, reason: null, awaits };
  };

  // Whoever has not said where they are pays the tax of the provider's country.
  const said = buyer.country ?? seller.country;
  const country = said === null ? null : taxCountry(said);
  if (buyer.exemptReason !== null) return { ...untaxed('exempt', country), reason: buyer.exemptReason };
  if (country === null) return untaxed('outside', null);
  const home = seller.country === null ? null : taxCountry(seller.country);
  const isAcrossUnion = home !== null && home !== country && isInUnion(home) && isInUnion(country);
  if (!isAcrossUnion) return byRateOf(country);

  const state = buyer.consumer ? null : buyer.taxIdState;
  const awaits = state === 'unknown';
  if (state === 'valid') return untaxed('reverse_charge', country);
  if (awaits && seller.unknownTaxId === 'reverse_charge') return untaxed('reverse_charge', country, true);
  const isListed = seller.oneStopShop && rateOf(country) !== null;
  return byRateOf(isListed ? country : home, awaits);
}
