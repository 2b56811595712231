import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hypervisor, MachineSpec } from './contract.ts';
import { reasonToSkip, type Testbed, testbed } from './qemu/testbed.ts';

const skip = await reasonToSkip('debian-12');
if (skip) console.warn(`Debian 12 in QEMU is not tested: ${skip}`);

describe.skipIf(skip !== null)('a Debian 12 guest', () => {
  let bed: Testbed;
  let hypervisor: Hypervisor;
  let spec: MachineSpec;

  const ready = () => hypervisor.waitUntilReady(spec, { timeoutMs: 300_000 });

  beforeAll(async () => {
    bed = await testbed(3, 'debian-12', { memoryMib: 512, cpuCores: 2, diskGib: 4 });
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
    spec = bed.spec(1);
    await hypervisor.createDisk(spec);
    const userData = '#!/bin/sh\necho ran > /root/user-data\n';
    await hypervisor.writeIdentity(spec, { ...bed.identity, hostname: 'web-1', userData });
    await hypervisor.start(spec);
    await ready();
  }, 400_000);

  afterAll(async () => {
    await hypervisor?.destroy(spec.id);
    await hypervisor?.close();
    bed?.remove();
  });

  it('takes on its name, addresses, routes, disk size, key and password', async () => {
    const facts = await bed.inGuest(spec, 'hostname; ip -o addr; ip route; ip -6 route; df -m / | tail -1');
    expect(facts).toMatch(/^web-1$/m);
    for (const { address, prefix, gateway } of spec.nic.addresses) {
      expect(facts).toContain(`${address}/${prefix}`);
      expect(facts).toContain(`default via ${gateway} dev eth0`);
    }
    expect(facts).toMatch(/ 3\d\d\d +\d+ +\d+ /);
    expect(await bed.inGuest(spec, 'echo signed in', 'password')).toContain('signed in');
  });

  it('runs the customer’s user data', { timeout: 180_000 }, async () => {
    const ran = () => bed.inGuest(spec, 'cat /root/user-data; true');
    await expect.poll(ran, { timeout: 120_000, interval: 2_000 }).toContain('ran');
  });

  it('stays itself when it boots again without the secrets', { timeout: 400_000 }, async () => {
    await hypervisor.forgetSecrets(spec.id);
    await hypervisor.shutdown(spec.id, { timeoutMs: 120_000 });
    await hypervisor.start(spec);
    await ready();
    expect(await bed.inGuest(spec, 'hostname', 'key')).toContain('web-1');
    expect(await bed.inGuest(spec, 'echo signed in', 'password')).toContain('signed in');
  });
});
