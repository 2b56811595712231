import { expect, it } from 'vitest';
import { euVatPrefix, isInUnion, taxCountry } from './union.ts';

/** Directive 2006/112/EC, articles 5 to 7 and 215: the member states and how the numbers of their tax payers begin. */
const states = 'AT BE BG CY CZ DE DK EE EL ES FI FR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' ');

it('the union has its member states, each with its letters; those of Greece are its own', () => {
  expect(states).toHaveLength(27);
  for (const letters of states) {
    const country = letters === 'EL' ? 'GR' : letters;
    expect([country, isInUnion(country), euVatPrefix(country)]).toEqual([country, true, letters]);
    expect(taxCountry(country)).toBe(country);
  }
});

it('Monaco is taxed as a part of France', () => {
  expect([isInUnion('MC'), euVatPrefix('MC'), taxCountry('MC')]).toEqual([true, 'FR', 'FR']);
});

it.each(['GB', 'CH', 'NO', 'US', 'EL', 'XI', ''])('%j is none of them', (country) => {
  expect([isInUnion(country), euVatPrefix(country), taxCountry(country)]).toEqual([false, null, country]);
});
