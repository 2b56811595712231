import { Type } from 'typebox';
import { CountryCode, Nullable, Strict } from '../../platform/http/index.ts';
import { parseMoney, wrongWithCountry } from '../../platform/index.ts';
import { settings } from '../../settings/index.ts';

/** Which paid orders wait until staff has looked at them. */
export const review = settings({
  name: 'review',
  about: 'Which paid orders are held until staff has looked at them',
  shape: Strict({
    first_orders: Type.Boolean({
      description:
        'Hold orders of organizations that have paid for nothing before that was delivered or released',
    }),
    above: Nullable(
      Type.String({
        pattern: '^\\d{1,12}(\\.\\d{1,4})?$',
        'x-message': 'must be an amount such as "500.00"',
        description:
          'Hold orders whose total is more, in whatever currency; null: none is held for its total',
        examples: ['500.00'],
      }),
    ),
    services: Nullable(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description: 'Hold orders of more services than this; null: no order is held for their number',
      }),
    ),
    countries: Type.Array(CountryCode(), {
      maxItems: 300,
      description: 'Hold orders of organizations in these countries',
    }),
  }),
  defaults: { first_orders: false, above: null, services: null, countries: [] },
  example: { first_orders: true, above: '500.00', services: 10, countries: [] },
  check: ({ countries }) => {
    for (const [at, country] of countries.entries()) {
      const message = wrongWithCountry(country);
      if (message !== null) return { field: `countries[${at}]`, message };
    }
    return null;
  },
});

export type ReviewRules = typeof review.defaults;

/** What the rules look at. */
export interface OrderFacts {
  totalMinor: number;
  currency: string;
  country: string | null;
  services: number;
  /** Whether the organization has paid for something before, and had it. */
  known: boolean;
  /** Whether staff has blocked the organization since it ordered. */
  blocked: boolean;
}

/** Why an order is held, a sentence for staff each; none when it is delivered at once. */
export function reasonsToHold(rules: ReviewRules, order: OrderFacts): string[] {
  const { totalMinor, currency, country, services, known, blocked } = order;
  const reasons: string[] = [];
  // No rule of the settings: who may order nothing must not get what was ordered before either.
  if (blocked) reasons.push('Its organization is blocked');
  if (rules.first_orders && !known) reasons.push('It is the first order of its organization');
  if (rules.above !== null && totalMinor > minorOf(rules.above, currency))
    reasons.push(`Its total is more than ${rules.above} ${currency}`);
  if (rules.services !== null && services > rules.services)
    reasons.push(`It is of ${services} services, more than ${rules.services}`);
  if (country !== null && rules.countries.includes(country)) reasons.push(`It comes from ${country}`);
  return reasons;
}

/** The limit has no currency of its own: cents that a currency does not have are left out. */
function minorOf(text: string, currency: string): number {
  return (
    parseMoney(text, currency) ?? parseMoney(text.replace(/\..*$/, ''), currency) ?? Number.MAX_SAFE_INTEGER
  );
}
