import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RackBmc, startBmc } from '../../../../test/rack/bmc.ts';
import { rackTree, withoutRack } from '../../../../test/rack/here.ts';
import { openBmcs } from '../open.ts';

/** Every argument list there is, read again and again while something is done. `seen` fills meanwhile. */
async function argumentsDuring(work: (seen: ReadonlySet<string>) => Promise<unknown>): Promise<Set<string>> {
  const seen = new Set<string>();
  let isOver = false;
  const working = work(seen).finally(() => {
    isOver = true;
  });
  working.catch(() => undefined); // it is waited for below
  while (!isOver) {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
      try {
        seen.add(readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '));
      } catch {
        // It has ended meanwhile.
      }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await working;
  return seen;
}

describe.skipIf(withoutRack !== null)('passwords of BMCs', () => {
  let rack: RackBmc;
  beforeAll(async () => {
    rack = await startBmc(rackTree);
  });
  afterAll(() => rack?.close());

  it('stand in no argument of a program, whatever is done', async () => {
    const bmc = openBmcs({ ipmi: rack.ipmi, offForMs: 0 })(rack.connection);
    const commands = ['user set password 3', 'sol activate', 'sensor list'];
    const seen = await argumentsDuring(async (sofar) => {
      await bmc.setPassword('3', 'canary-guest-1');
      await bmc.setPassword('2', 'canary-root-1');
      expect(await bmc.signsIn('guest', 'canary-tried-1')).toBe(false);
      await bmc.readPower();
      const line = await bmc.openSerial();
      await bmc.readSensors();
      line.destroy();
      await bmc.readSecurity();
      // Beside others a program may come and go between two looks.
      const isSeen = () =>
        [...sofar].some((each) => each.includes('lanplus') && each.includes('sensor list'));
      for (let times = 0; times < 20 && !isSeen(); times += 1) await bmc.readSensors();
    });
    await bmc.close();
    const ours = [...seen].filter((line) => line.includes('lanplus'));
    for (const command of commands)
      expect(
        ours.some((line) => line.includes(command)),
        command,
      ).toBe(true);
    expect([...seen].filter((line) => /canary-(?:guest|root|tried)-1/.test(line))).toEqual([]);
    // Others try BMCs beside this, with what those come with from the factory.
    expect(ours.filter((line) => line.includes('factory-1'))).toEqual([]);
  });

  it('a program that is not there is named, with what to install', async () => {
    const absent = openBmcs({ ipmi: { program: 'no-such-ipmitool' } })(rack.connection);
    await expect(absent.readPower()).rejects.toEqual(
      expect.objectContaining({
        code: 'program_absent',
        permanent: true,
        message: expect.stringContaining('ipmitool'),
      }),
    );
  });
});
