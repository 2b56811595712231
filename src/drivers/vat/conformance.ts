import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VatRegister } from './contract.ts';

/** What the suite needs to know of the driver it tests. */
export interface VatUnderTest {
  register: VatRegister;
  /** An id that somebody has, one that nobody has, and one of somebody who may ask. */
  known: string;
  unknown: string;
  requester: string;
  close(): Promise<void>;
}

/** What every driver must do. */
export function describeVatRegister(name: string, make: () => Promise<VatUnderTest>): void {
  describe(`${name} keeps the contract of registers of VAT ids`, () => {
    let test: VatUnderTest;
    beforeAll(async () => {
      test = await make();
    });
    afterAll(() => test?.close());

    const can = (capability: 'answers' | 'consultation') => test.register.capabilities.includes(capability);

    it('tells an id that somebody has from one that nobody has, as often as asked', async ({ skip }) => {
      skip(!can('answers'));
      for (let time = 0; time < 2; time += 1) {
        expect(await test.register.check(test.known, null)).toMatchObject({ valid: true });
        expect(await test.register.check(test.unknown, null)).toMatchObject({ valid: false });
      }
    });

    it('gives each its own answer when many ask at once', async ({ skip }) => {
      skip(!can('answers'));
      const ids = Array.from({ length: 20 }, (_, nth) => (nth % 3 === 0 ? test.known : test.unknown));
      const answers = await Promise.all(ids.map((id) => test.register.check(id, null)));
      expect(answers.map(({ valid }) => valid)).toEqual(ids.map((id) => id === test.known));
    });

    it('numbers its answers for a requester, as a proof, and for nobody else', async ({ skip }) => {
      skip(!can('consultation'));
      const first = await test.register.check(test.known, test.requester);
      const second = await test.register.check(test.known, test.requester);
      expect(first.consultationNumber).toMatch(/^\S+$/);
      expect(second.consultationNumber).not.toBe(first.consultationNumber);
      expect((await test.register.check(test.known, null)).consultationNumber).toBeNull();
    });

    it('refuses for good what it does not claim to do', async ({ skip }) => {
      skip(can('answers'));
      const refused = expect.objectContaining({ code: 'not_supported', permanent: true });
      await expect(test.register.check(test.known, null)).rejects.toEqual(refused);
    });

    it.each(['', 'DE', '136695976', 'de136695976', 'DE 136', 'DE1\n2', '../status', 'DE12345678901234'])(
      'refuses for good what is no VAT id: %j',
      async (vatId) => {
        const malformed = expect.objectContaining({ code: 'vat_id_malformed', permanent: true });
        await expect(test.register.check(vatId, null)).rejects.toEqual(malformed);
      },
    );
  });
}
