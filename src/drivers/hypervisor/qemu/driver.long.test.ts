import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hypervisor, MachineSpec } from '../contract.ts';
import { controlFiles, filesOfAll } from './controlGroups.ts';
import { machineFiles } from './files.ts';
import { limitsOf } from './limits.ts';
import { findProcess } from './process.ts';
import { systemdScopes } from './systemdScopes.ts';
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

  it('takes less beside its memory than half of what its limit leaves', async () => {
    await bed.inGuest(spec, 'dd if=/dev/zero of=/dev/shm/fill bs=1M count=200 && rm /dev/shm/fill');
    const pid = await findProcess(machineFiles(bed.options, spec.id));
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
    const beside = Number(peak) * 1024 - spec.memoryMib * 2 ** 20;
    console.info(`QEMU beside its guest: ${Math.round(beside / 2 ** 20)} MiB`);
    expect(beside).toBeLessThan((limitsOf(spec).memoryBytes - spec.memoryMib * 2 ** 20) / 2);
  });

  describe('as a host of machines', { timeout: 120_000 }, () => {
    const soon = { timeout: 30_000, interval: 1_000 }; // it is emulated, and slow
    const limits = limitsOf({ cpuCores: 2, memoryMib: 1024 });
    const values = ['200', 'default 200', '250000 100000', String((1024 + 512 + 64) * 2 ** 20), '258'];
    const files = ['cpu.weight', 'io.weight', 'cpu.max', 'memory.max', 'pids.max'];
    const show = (dir: string) => bed.inGuest(spec, `cd ${dir} && cat ${files.join(' ')}`);
    const process = async () =>
      (await bed.inGuest(spec, 'sleep 900 >/dev/null 2>&1 </dev/null & echo $!')).trim();

    it('its kernel takes every value in a folder of control groups', async () => {
      const root = '/sys/fs/cgroup';
      const into = (dir: string) => (file: { file: string; value: string }) =>
        `echo '${file.value}' > ${dir}/${file.file}`;
      const passOn = (dir: string) => `echo '+cpu +memory +pids +io' > ${dir}/cgroup.subtree_control`;
      const all = `${root}/innkeeper-by-hand`;
      const own = `${all}/vps-1`;
      await bed.inGuest(
        spec,
        [
          ...['set -e', passOn(root), `mkdir -p ${own}`, ...filesOfAll.map(into(all)), passOn(all)],
          ...controlFiles(limits).map(into(own)),
          `echo ${await process()} > ${own}/cgroup.procs`,
        ].join('\n'),
      );
      expect((await show(own)).trim().split('\n')).toEqual(values);
    });

    it('its systemd makes a scope with these limits, and sets them anew', async () => {
      const quoted = (argument: string) => `'${argument.replaceAll("'", `'\\''`)}'`;
      const groups = systemdScopes('innkeeper-test', async (argv) => ({
        stdout: await bed.inGuest(spec, argv.map(quoted).join(' ')),
        stderr: '',
      }));
      const pid = Number(await process());
      const scope = `/sys/fs/cgroup/innkeeper.slice/innkeeper-test-vps-1-${pid}.scope`;
      await groups.prepare();
      await groups.take('vps-1', pid, { ...limits, weight: 1, tasks: 300 });
      await expect
        .poll(() => bed.inGuest(spec, `cat ${scope}/cgroup.procs; true`), soon)
        .toContain(String(pid));
      expect(await bed.inGuest(spec, `cat ${scope}/pids.max`)).toBe('300\n');
      await groups.take('vps-1', pid, limits);
      await expect.poll(async () => (await show(scope)).trim().split('\n'), soon).toEqual(values);
      expect(await bed.inGuest(spec, 'cat /sys/fs/cgroup/innkeeper.slice/cpu.weight')).toBe('50\n');
      await bed.inGuest(spec, `kill ${pid}`);
      await expect.poll(() => bed.inGuest(spec, `ls -d ${scope} 2>&1; true`), soon).toContain('No such file');
    });
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
