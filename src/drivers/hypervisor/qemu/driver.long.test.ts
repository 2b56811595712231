import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hypervisor, MachineSpec } from '../contract.ts';
import { reasonToSkip, type Testbed, testbed } from './testbed.ts';

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

  it('has addresses that it was told of also when its network is started anew', {
    timeout: 120_000,
  }, async () => {
    const { addresses } = bed.spec(2).nic;
    spec = { ...spec, nic: { ...spec.nic, addresses: [...spec.nic.addresses, ...addresses] } };
    await hypervisor.start(spec);
    await hypervisor.setAddresses(spec);
    const own = spec.nic.addresses.map((each) => each.address).sort();
    const present = async () => (await bed.guestAddresses(spec).catch(() => [])).sort();
    expect(await present()).toEqual(own);
    const anew = 'ip addr flush dev eth0; systemctl restart systemd-networkd; touch /run/anew';
    await bed.inGuest(spec, `(sleep 1; ${anew}) > /dev/null 2>&1 < /dev/null & exit`);
    const done = () => bed.inGuest(spec, 'ls /run/anew').catch(() => '');
    await expect.poll(done, { timeout: 30_000, interval: 1_000 }).toContain('anew');
    await expect.poll(present, { timeout: 30_000 }).toEqual(own);
    const routes = await bed.inGuest(spec, 'ip route; ip -6 route');
    expect(routes.match(/^default via /gm)).toHaveLength(2);
  });
});

describe.skipIf(skip !== null)('a Debian 12 guest with keys only', () => {
  let bed: Testbed;
  let hypervisor: Hypervisor;
  let spec: MachineSpec;

  const setting = () => bed.inGuest(spec, "sshd -T | grep '^passwordauthentication '");
  const reset = () => hypervisor.setPassword(spec.id, bed.other.passwordHash);

  beforeAll(async () => {
    bed = await testbed(8, 'debian-12', { memoryMib: 512, cpuCores: 2, diskGib: 3 });
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
    spec = bed.spec(1);
    await hypervisor.createDisk(spec);
    await hypervisor.writeIdentity(spec, { ...bed.identity, passwordHash: null });
    await hypervisor.start(spec);
    await hypervisor.waitUntilReady(spec, { timeoutMs: 300_000 });
  }, 400_000);

  afterAll(async () => {
    await hypervisor?.destroy(spec.id);
    await hypervisor?.close();
    bed?.remove();
  });

  it('takes no password until one is set', { timeout: 180_000 }, async () => {
    // cloud-init closes it a moment after SSH answers.
    await expect.poll(setting, { timeout: 120_000, interval: 2_000 }).toBe('passwordauthentication no\n');
    expect(await bed.signsIn(spec, 'password')).toBe(false);
    for (const _ of [1, 2]) await reset();
    // sshd that reads its files again refuses connections for a moment.
    await expect.poll(setting, { timeout: 20_000 }).toBe('passwordauthentication yes\n');
    expect(await bed.signsIn(spec, 'other password')).toBe(true);
    expect(await bed.signsIn(spec, 'key')).toBe(true);
  });

  it('takes none where its owner has closed that too', { timeout: 120_000 }, async () => {
    const ours = '/etc/ssh/sshd_config.d/50-cloud-init.conf';
    const close = `sed -i 's/yes$/no/' ${ours}; echo 'PasswordAuthentication no' > /etc/ssh/sshd_config.d/99-own.conf`;
    await bed.inGuest(spec, `${close}; systemctl reload ssh`);
    await reset();
    await expect.poll(setting, { timeout: 20_000 }).toBe('passwordauthentication no\n');
    expect(await bed.signsIn(spec, 'other password')).toBe(false);
    expect(await bed.inGuest(spec, `cat ${ours}`)).not.toContain('PasswordAuthentication');
  });
});
