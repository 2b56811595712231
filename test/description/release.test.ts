/** What the last release promised still holds: see "Release" in CONTRIBUTING. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ourDescription } from '../../client/description.ts';
import { dereference } from '../dereference.ts';
import { breakingChanges, type Description } from './breaking.ts';
import { promisesOf } from './promises.ts';

const released = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'released.json'), 'utf8'),
) as Description;

describe('a client of the last release', () => {
  it('is not broken by what the description says now', () => {
    const now = dereference(ourDescription()) as unknown as Description;
    expect(breakingChanges(dereference(released), now)).toEqual([]);
  });
});

describe('a change', () => {
  const text = JSON.stringify(promisesOf(ourDescription()));
  const changing = (from: string, to: string) => {
    expect(text).toContain(from);
    const changed = JSON.parse(text.replaceAll(from, to)) as Description;
    return breakingChanges(dereference(JSON.parse(text) as Description), dereference(changed));
  };

  it.each([
    ['an operation goes', '"/dashboard/invoices/{id}/pay"', '"/dashboard/invoices/{id}/settle"', 'is gone'],
    [
      'a field of something that may be null goes',
      '"initiator"',
      '"asked_by"',
      'current_action.initiator is gone',
    ],
    ['an operation is renamed', '"payInvoice"', '"settleInvoice"', 'is now called'],
    ['a field of an answer goes', '"tax_country"', '"taxes_country"', 'tax_country is gone'],
    ['a field of a request goes', '"couponcode"', '"coupon"', 'couponcode is gone'],
    [
      'a field becomes required',
      '"required":["name","public_key"]',
      '"required":["name","public_key","x"]',
      'required',
    ],
    ['a value goes', '["monthly","quarterly"', '["quarterly"', 'monthly is no longer'],
    ['a bound is tightened', '"maxLength":8192', '"maxLength":4096', 'a lower maxLength'],
  ])('is refused: %s', (_, from, to, words) => {
    expect(changing(from, to).join('\n')).toContain(words);
  });

  it('that only adds is none', () => {
    expect(changing('"tax_country":', '"tax_region":{"type":"string"},"tax_country":')).toEqual([]);
    expect(changing('["draft","unpaid"', '["draft","disputed","unpaid"')).toEqual([]);
  });
});
