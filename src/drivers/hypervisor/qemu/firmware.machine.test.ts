import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hypervisor, MachineSpec } from '../contract.ts';
import { reasonToSkip, type Testbed, testbed } from './testbed.ts';

const skip = await reasonToSkip('tiny');
if (skip) console.warn(`Disks that start by themselves are not tested: ${skip}`);

/** A boot sector for a BIOS, in octal: `mov dx, 0x3f8; mov al, 'F'; out dx, al; jmp` back to the `out`. */
const code = '\\272\\370\\003\\260\\106\\356\\353\\375';

describe.skipIf(skip !== null)('a disk with a boot sector', () => {
  let bed: Testbed;
  let spec: MachineSpec;
  let hypervisor: Hypervisor;

  beforeAll(async () => {
    bed = await testbed(8, 'tiny', {});
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
    spec = await bed.boot(hypervisor, 1);
  });

  afterAll(async () => {
    await hypervisor?.destroy(spec.id);
    await hypervisor?.close();
    bed?.remove();
  });

  it('starts by itself, as what an installer has left there expects', async () => {
    const write = (bytes: string, at: number) =>
      bed.inGuest(spec, `printf '${bytes}' | dd of=/dev/vda bs=1 seek=${at} conv=notrunc 2>/dev/null; sync`);
    await write(code, 0);
    await write('\\125\\252', 510);
    await hypervisor.powerOff(spec.id);
    await hypervisor.start(spec);
    const line = await hypervisor.openConsole(spec.id, 'serial');
    let said = '';
    line.on('data', (bytes: Buffer) => {
      said += bytes.toString('latin1');
    });
    await expect.poll(() => said, { timeout: 30_000 }).toMatch(/F{8}/);
    line.destroy();
  });
});
