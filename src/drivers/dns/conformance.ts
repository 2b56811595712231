import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReverseDns } from './contract.ts';

/** What the suite needs to know of the driver it tests. */
export interface DnsUnderTest {
  dns: ReverseDns;
  /** Two addresses that a zone holds. */
  address4: string;
  address6: string;
  /** The names that the world sees at an address, by a real query; null where there is no server to ask. */
  ask: ((address: string) => Promise<string[]>) | null;
  close(): Promise<void>;
}

/** What every driver must do; `skip` is the reason why this host cannot run the suite, or null. */
export function describeReverseDns(
  name: string,
  make: () => Promise<DnsUnderTest>,
  skip: string | null = null,
): void {
  describe.skipIf(skip !== null)(`${name} keeps the reverse DNS contract`, () => {
    let test: DnsUnderTest;
    beforeAll(async () => {
      test = await make();
    });
    afterAll(() => test?.close());

    const seen = async (address: string, names: string[]) => {
      if (test.ask !== null) expect(await test.ask(address)).toEqual(names);
    };

    const can = (family: 'address4' | 'address6') =>
      family === 'address4' || test.dns.capabilities.includes('ipv6');

    for (const family of ['address4', 'address6'] as const) {
      it(`gives an address a name, as often as asked, and the last one wins (${family})`, async ({
        skip,
      }) => {
        skip(!can(family));
        const address = test[family];
        await test.dns.setName(address, 'one.example.com');
        await test.dns.setName(address, 'one.example.com');
        await seen(address, ['one.example.com']);
        await test.dns.setName(address, 'two.example.com');
        await seen(address, ['two.example.com']);
      });

      it(`takes a name away, also one that is not there (${family})`, async ({ skip }) => {
        skip(!can(family));
        const address = test[family];
        await test.dns.setName(address, 'one.example.com');
        await test.dns.setName(address, null);
        await test.dns.setName(address, null);
        await seen(address, []);
      });
    }

    it('refuses for good what it does not claim to do', async () => {
      if (can('address6')) return;
      const refused = expect.objectContaining({ code: 'not_supported', permanent: true });
      await expect(test.dns.setName(test.address6, 'a.example.com')).rejects.toEqual(refused);
      await expect(test.dns.setName(test.address6, null)).rejects.toEqual(refused);
    });

    it.each([
      'a.b',
      'xn--mnchen-3ya.example',
      '1.2.3.example',
      `${'a'.repeat(63)}.example.com`,
      `${'abcdefghi.'.repeat(24)}example.com`,
    ])('takes every name that there may be: %s', async (name) => {
      await test.dns.setName(test.address4, name);
      await seen(test.address4, [name]);
    });

    it('keeps one name for an address that is given many at once', async () => {
      const names = Array.from({ length: 10 }, (_, nth) => `n${nth}.example.com`);
      await Promise.all(names.map((name) => test.dns.setName(test.address4, name)));
      const found = await test.ask?.(test.address4);
      if (found) expect([found.length, names.includes(found[0] ?? '')]).toEqual([1, true]);
      await test.dns.setName(test.address4, 'last.example.com');
      await seen(test.address4, ['last.example.com']);
    });

    it('refuses for good what is no address or no name, and nothing changes', async () => {
      await test.dns.setName(test.address4, 'stays.example.com');
      const invalid = expect.objectContaining({ code: 'name_invalid', permanent: true });
      for (const name of [
        '',
        'a b',
        'a..b',
        '-a.example.com',
        'a.example.com.',
        'a\nb',
        `${'a'.repeat(64)}.com`,
        'x" ; drop',
      ]) {
        await expect(test.dns.setName(test.address4, name), JSON.stringify(name)).rejects.toEqual(invalid);
      }
      for (const address of ['', 'localhost', '1.2.3', '1.2.3.4/24', 'fe80::1%eth0', '../zones']) {
        await expect(test.dns.setName(address, 'a.example.com'), address).rejects.toEqual(invalid);
      }
      await seen(test.address4, ['stays.example.com']);
    });
  });
}
