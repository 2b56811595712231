import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Buyer, decideTax, type Seller } from './decide.ts';

const rates: Record<string, number> = { DE: 1900, FR: 2000, NL: 2100, CH: 810, GB: 2000, ES: 0 };
const rateOf = (country: string) => rates[country] ?? null;

const german: Seller = { country: 'DE', oneStopShop: true, unknownTaxId: 'tax' };
const sellers: Record<string, Seller> = {
  german,
  small: { ...german, oneStopShop: false },
  trusting: { ...german, unknownTaxId: 'reverse_charge' },
  swiss: { ...german, country: 'CH' },
  austrian: { ...german, country: 'AT' },
  monegasque: { ...german, country: 'MC' },
  nowhere: { ...german, country: null },
};

const consumer: Buyer = { country: null, consumer: true, taxIdState: null, exemptReason: null };
const business: Buyer = { ...consumer, consumer: false };
const buyers: Record<string, Buyer> = {
  consumer,
  business,
  valid: { ...business, taxIdState: 'valid' },
  invalid: { ...business, taxIdState: 'invalid' },
  unknown: { ...business, taxIdState: 'unknown' },
  exempt: { ...business, taxIdState: 'valid', exemptReason: 'Embassy' },
};

/** Every branch of the decision is a row: who sells, who buys, from where, and what comes of it. */
const rows: [
  seller: string,
  buyer: string,
  country: string | null,
  treatment: string,
  of: string | null,
  rate: number,
][] = [
  // At home everybody pays, whatever their tax id is worth.
  ['german', 'consumer', 'DE', 'taxed', 'DE', 1900],
  ['german', 'valid', 'DE', 'taxed', 'DE', 1900],
  ['german', 'unknown', 'DE', 'taxed', 'DE', 1900],
  // Whoever has not said where they are is at home.
  ['german', 'consumer', null, 'taxed', 'DE', 1900],
  ['german', 'valid', null, 'taxed', 'DE', 1900],
  // Across the union: consumers by where they live, businesses by what the register says.
  ['german', 'consumer', 'FR', 'taxed', 'FR', 2000],
  ['german', 'business', 'FR', 'taxed', 'FR', 2000],
  ['german', 'valid', 'FR', 'reverse_charge', 'FR', 0],
  ['german', 'invalid', 'FR', 'taxed', 'FR', 2000],
  ['german', 'unknown', 'FR', 'taxed and awaits', 'FR', 2000],
  ['trusting', 'unknown', 'FR', 'reverse_charge and awaits', 'FR', 0],
  ['trusting', 'invalid', 'FR', 'taxed', 'FR', 2000],
  ['trusting', 'business', 'FR', 'taxed', 'FR', 2000],
  ['trusting', 'consumer', 'FR', 'taxed', 'FR', 2000],
  // A rate of zero is a rate.
  ['german', 'consumer', 'ES', 'taxed', 'ES', 0],
  // Below the threshold, or where no rate is listed, the provider's own counts.
  ['small', 'consumer', 'FR', 'taxed', 'DE', 1900],
  ['small', 'unknown', 'FR', 'taxed and awaits', 'DE', 1900],
  ['small', 'valid', 'FR', 'reverse_charge', 'FR', 0],
  ['german', 'consumer', 'PL', 'taxed', 'DE', 1900],
  // A provider that lists no rate of its own takes no tax at home, and none in its name elsewhere.
  ['austrian', 'consumer', 'AT', 'outside', 'AT', 0],
  ['austrian', 'consumer', 'PL', 'outside', 'AT', 0],
  ['austrian', 'unknown', 'PL', 'outside', 'AT', 0],
  ['austrian', 'valid', 'PL', 'reverse_charge', 'PL', 0],
  // Beyond the union a listed rate says that the provider is registered there.
  ['german', 'consumer', 'US', 'outside', 'US', 0],
  ['german', 'valid', 'US', 'outside', 'US', 0],
  ['german', 'consumer', 'GB', 'taxed', 'GB', 2000],
  ['german', 'consumer', 'CH', 'taxed', 'CH', 810],
  ['swiss', 'consumer', 'DE', 'taxed', 'DE', 1900],
  ['swiss', 'valid', 'DE', 'taxed', 'DE', 1900],
  ['swiss', 'consumer', 'PL', 'outside', 'PL', 0],
  // Monaco is France, from either side.
  ['german', 'consumer', 'MC', 'taxed', 'FR', 2000],
  ['german', 'valid', 'MC', 'reverse_charge', 'FR', 0],
  ['monegasque', 'valid', 'FR', 'taxed', 'FR', 2000],
  ['monegasque', 'valid', 'DE', 'reverse_charge', 'DE', 0],
  // A provider that has not said where it is taxes by each country's listed rate.
  ['nowhere', 'consumer', 'FR', 'taxed', 'FR', 2000],
  ['nowhere', 'valid', 'FR', 'taxed', 'FR', 2000],
  ['nowhere', 'consumer', 'PL', 'outside', 'PL', 0],
  ['nowhere', 'consumer', null, 'outside', null, 0],
  // Staff's word counts before anything else.
  ['german', 'exempt', 'DE', 'exempt', 'DE', 0],
  ['german', 'exempt', 'FR', 'exempt', 'FR', 0],
  ['german', 'exempt', 'US', 'exempt', 'US', 0],
  ['nowhere', 'exempt', null, 'exempt', null, 0],
];

const decide = (seller: string, buyer: string, country: string | null) =>
  decideTax(sellers[seller] ?? german, { ...(buyers[buyer] ?? consumer), country }, rateOf);

describe('the tax of an invoice', () => {
  it.each(rows)(
    'of a %s provider for a %s of %s is %s, of %s, %i',
    (seller, buyer, country, treatment, of, rate) => {
      const [what, awaits] = treatment.split(' and ');
      expect(decide(seller, buyer, country)).toEqual({
        treatment: what,
        country: of,
        rateBasisPoints: rate,
        reason: what === 'exempt' ? 'Embassy' : null,
        awaits: awaits !== undefined,
      });
    },
  );

  it('has a row for everything that can come of it', () => {
    const outcomes = [
      'taxed',
      'taxed and awaits',
      'reverse_charge',
      'reverse_charge and awaits',
      'exempt',
      'outside',
    ];
    expect([...new Set(rows.map((row) => row[3]))].toSorted()).toEqual(outcomes.toSorted());
  });

  it('is never untaxed across the union without a valid id, unless the provider says so or owes none', () => {
    const countries = fc.constantFrom('DE', 'FR', 'NL', 'ES', 'PL', 'MC', 'US', 'CH', null);
    fc.assert(
      fc.property(
        countries,
        fc.boolean(),
        fc.constantFrom('invalid', 'unknown', null),
        (country, isConsumer, state) => {
          const buyer = { country, consumer: isConsumer, taxIdState: state, exemptReason: null } as const;
          const { treatment } = decideTax(german, buyer, rateOf);
          expect(treatment).toBe(country === 'US' ? 'outside' : 'taxed');
        },
      ),
    );
  });
});
