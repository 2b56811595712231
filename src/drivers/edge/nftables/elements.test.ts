import { expect, it } from 'vitest';
import { addressNumber, addressText } from '../prefix.ts';
import { sixAt } from './elements.ts';

it.each([
  '::',
  '::1',
  '1::',
  '2001:db8::',
  '2001:db8:7::1',
  '2001:db8:0:1:1:1:1:1',
  '2001:0:0:1::1',
  '2001:db8::1:0:0:1',
  '1:2:3:4:5:6:7:8',
  '::ffff:c000:201',
  'fe80::a:0:0:b:0',
])('an address of the kernel is written as everybody writes it: %s', (address) => {
  expect(sixAt(bytesOf(address), 2)).toBe(address);
});

it('and so is whichever other', () => {
  for (let nth = 0; nth < 5_000; nth += 1) {
    const address = Array.from({ length: 8 }, () =>
      Math.random() < 0.5 ? 0 : Math.floor(Math.random() * 65_536),
    )
      .map((part) => part.toString(16))
      .join(':');
    expect(sixAt(bytesOf(address), 2)).toBe(addressText(6, addressNumber(address)));
  }
});

/** Behind two others. */
function bytesOf(address: string): Buffer {
  return Buffer.from(`ffff${addressNumber(address).toString(16).padStart(32, '0')}`, 'hex');
}
