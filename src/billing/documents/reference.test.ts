import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inGroups, invoiceOfReference, referenceOf } from './reference.ts';

const ids = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

describe('the reference of an invoice', () => {
  it('is a creditor reference (ISO 11649): the example of the standard has its check digits', () => {
    expect(referenceOf(539007547034)).toBe('RF18539007547034');
  });

  it('leads back to its invoice, however it is written', () => {
    fc.assert(
      fc.property(ids, (id) => {
        const reference = referenceOf(id);
        expect(reference).toMatch(/^RF\d{2}\d{1,16}$/);
        expect(invoiceOfReference(reference)).toBe(id);
        expect(invoiceOfReference(` ${inGroups(reference).toLowerCase()} `)).toBe(id);
      }),
    );
  });

  it('leads nowhere with one digit wrong, or two beside each other exchanged', () => {
    fc.assert(
      fc.property(ids, fc.nat(), fc.integer({ min: 1, max: 9 }), (id, at, by) => {
        const reference = referenceOf(id);
        const place = 2 + (at % (reference.length - 2));
        const digit = (Number(reference[place]) + by) % 10;
        expect(invoiceOfReference(reference.slice(0, place) + digit + reference.slice(place + 1))).toBeNull();
        const [one = '', other = ''] = reference.slice(place, place + 2);
        if (other === '' || one === other) return;
        const exchanged = reference.slice(0, place) + other + one + reference.slice(place + 2);
        expect(invoiceOfReference(exchanged)).toBeNull();
      }),
    );
  });

  it.each([
    '',
    'RF',
    'RF18',
    'RF1853900754703X',
    'DE18539007547034',
    'RF185390075470341234567890',
    'RF18 5390-0754-7034',
  ])('is not seen in %j', (text) => {
    expect(invoiceOfReference(text)).toBeNull();
  });
});
