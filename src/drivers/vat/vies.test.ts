import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeVatRegister } from './conformance.ts';
import { vies } from './index.ts';
import { type Mood, type StandInVies, startVies } from './testbed.ts';

const known = 'DE136695976';

describeVatRegister('VIES', async () => {
  const standIn = await startVies([known]);
  return {
    register: vies({ url: standIn.url }),
    known,
    unknown: 'ATU12345675',
    requester: 'NL004495445B01',
    close: () => standIn.close(),
  };
});

describe('VIES', () => {
  let standIn: StandInVies;
  beforeAll(async () => {
    standIn = await startVies([known, 'EL094259216']);
  });
  afterAll(() => standIn.close());

  const ask = (mood: Mood, requester: string | null = null) => {
    standIn.mood = mood;
    return vies({ url: `${standIn.url}/`, timeoutMs: 300 })
      .check(known, requester)
      .catch((error: unknown) => error);
  };

  it('is told who asks, and tells whose id it is in one line', async () => {
    standIn.asked = [];
    expect(await ask('well', 'EL094259216')).toEqual({
      valid: true,
      consultationNumber: expect.stringMatching(/^WAPI/),
      name: 'BEISPIEL GMBH',
      address: 'WEG 1 10115 BERLIN',
    });
    expect(standIn.asked).toEqual([{ vatId: known, requester: 'EL094259216' }]);
  });

  // Whatever it is, it is not "invalid": that is what would tax somebody who owes no tax.
  it.each<[Mood, string, boolean]>([
    ['down', 'register_unreachable', false],
    ['slow', 'register_unreachable', false],
    ['dripping', 'register_unreachable', false],
    ['garbage', 'register_unreachable', false],
    ['endless', 'register_unreachable', false],
    ['broken', 'register_unreachable', false],
    ['confused', 'register_unreachable', false],
    ['evasive', 'register_unreachable', false],
    ['state_away', 'register_refused', false],
    ['too_many', 'register_refused', false],
    ['requester_unknown', 'register_refused', true],
  ])('that is %s fails as %s (for good: %s), within its deadline', async (mood, code, permanent) => {
    const began = performance.now();
    expect(await ask(mood)).toEqual(expect.objectContaining({ name: 'Error', code, permanent }));
    expect(performance.now() - began).toBeLessThan(3_000);
  });

  it('that nobody runs fails for now', async () => {
    const register = vies({ url: 'http://127.0.0.1:1/rest-api' });
    const unreachable = expect.objectContaining({ code: 'register_unreachable', permanent: false });
    await expect(register.check(known, null)).rejects.toEqual(unreachable);
  });
});
