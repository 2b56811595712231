import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { single } from '../prefix.ts';
import { loadSourceNames, namesOf } from './names.ts';
import { lookUp, makeTable, readRow } from './table.ts';

const numberOf = (address: string) => {
  const { family, first } = single(address);
  return family === 4 ? Number(first) : first;
};

async function* rowsOf(lines: string[]) {
  for (const line of lines) {
    const row = readRow(line, (number, name) => (name ? `AS${number} ${name}` : `AS${number}`));
    if (row !== null) yield row;
  }
}

describe('names of networks', () => {
  it('are found from the first address of each to its last, and nowhere else', async () => {
    const six = (address: string) => single(address).first;
    const table = await makeTable(
      rowsOf([
        '16777216,16777471,13335,"Cloudflare, Inc."',
        'no row',
        '16777472,16777727,7,"Of ""quotes"""',
        '4278190080,4294967295,9,',
      ]),
      rowsOf([`${six('2001:db8::')},${six('2001:db8:0:ff:ffff:ffff:ffff:ffff')},64500,Documentation é`]),
    );
    const name = (address: string) => lookUp(table, numberOf(address));
    expect([name('0.255.255.255'), name('1.0.0.0'), name('1.0.0.255'), name('1.0.1.0')]).toEqual([
      ...[null, 'AS13335 Cloudflare, Inc.', 'AS13335 Cloudflare, Inc.', 'AS7 Of "quotes"'],
    ]);
    expect([name('1.0.2.0'), name('255.255.255.255'), name('254.255.255.255')]).toEqual([null, 'AS9', null]);
    expect([name('2001:db8::'), name('2001:db8:0:ff::1'), name('2001:db8:0:100::')]).toEqual([
      ...['AS64500 Documentation é', 'AS64500 Documentation é', null],
    ]);
    expect(name('2001:db7:ffff::')).toBeNull();
  });

  it('are none without the packages', () => {
    const names = namesOf({ asn: null, country: null });
    expect([names.asnOf(1), names.countryOf(1n), names.bytes]).toEqual([null, null, 0]);
  });

  // An optional dependency: whoever left it out has no names.
  const isInstalled = existsSync(path.join(import.meta.dirname, '../../../node_modules/@ip-location-db/asn'));
  it('of the packages are read aside, and take little memory', { timeout: 120_000 }, async () => {
    const began = performance.now();
    let longestMs = 0;
    let lastTick = performance.now();
    const ticking = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - lastTick);
      lastTick = performance.now();
    }, 5);
    const names = await loadSourceNames();
    clearInterval(ticking);
    const told = `${Math.round(performance.now() - began)} ms, ${(names.bytes / 1e6).toFixed(1)} MB, at most ${Math.round(longestMs)} ms at a time`;
    const found = ['1.1.1.1', '8.8.8.8', '2606:4700:4700::1111'].map(numberOf).map(names.asnOf);
    if (!isInstalled) return expect(found).toEqual([null, null, null]);
    expect(found).toEqual([
      expect.stringMatching(/^AS13335 Cloudflare/),
      expect.stringMatching(/^AS15169 Google/),
      expect.stringMatching(/^AS13335 Cloudflare/),
    ]);
    expect(['193.0.6.139', '2001:67c:2e8::'].map(numberOf).map(names.countryOf)).toEqual(['NL', 'NL']);
    expect(['10.0.0.1', '127.0.0.1', 'fe80::1'].map(numberOf).map(names.countryOf)).toEqual([
      null,
      null,
      null,
    ]);
    expect(names.bytes, told).toBeLessThan(16e6);
    console.log(`names of networks: ${told}`);
  });
});
