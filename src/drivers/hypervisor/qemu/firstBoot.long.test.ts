import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hypervisor } from '../contract.ts';
import { reasonToSkip, type Testbed, testbed } from './testbed.ts';

const skip = await reasonToSkip('tiny');
const moments = 24;

/** A first boot does most that happens to a disk at once: it takes on its identity, and grows to its size. */
describe.skipIf(skip !== null)('a first boot whose power goes', { timeout: 900_000 }, () => {
  let bed: Testbed;
  let hypervisor: Hypervisor;

  beforeAll(async () => {
    bed = await testbed(14, 'tiny', { diskGib: 12, memoryMib: 256, cpuCores: 2 });
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
  });

  afterAll(async () => {
    await hypervisor?.destroy(bed.spec(1).id);
    await hypervisor?.close();
    bed?.remove();
  });

  it('is done again by the next one, whenever it was', async () => {
    const began = performance.now();
    await hypervisor.destroy((await bed.boot(hypervisor, 1)).id);
    const bootMs = performance.now() - began;
    for (let moment = 1; moment <= moments; moment++) {
      const spec = bed.spec(1);
      await hypervisor.createDisk(spec);
      await hypervisor.writeIdentity(spec, bed.identity);
      await hypervisor.start(spec);
      await delay((bootMs * (0.4 + moment / moments)) / 1.2);
      await hypervisor.powerOff(spec.id);
      await hypervisor.start(spec);
      await hypervisor.waitUntilReady(spec, { timeoutMs: 60_000 });
      const [hostname, gib] = (
        await bed.inGuest(spec, 'hostname; df -k / | awk \'END { printf "%.0f", $2 / 1048576 }\'')
      ).split('\n');
      expect([hostname, gib], `moment ${moment}`).toEqual(['guest', '12']);
      expect(await bed.signsIn(spec, 'password'), `moment ${moment}`).toBe(true);
      await hypervisor.destroy(spec.id);
    }
  });
});
