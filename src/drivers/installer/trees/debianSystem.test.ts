import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runProgram } from '../../../platform/host/program.ts';
import { files, namedArrays } from './debianSystem.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'innkeeper-debian-'));
  // Programs of the system that this host need not have; they write down what they are called with.
  await program(
    'linux-version',
    'case $1 in list) ls "$BOOT" | sed -n s/^vmlinuz-//p ;; sort) sort -rV ;; esac',
  );
  for (const name of ['ssh-keygen', 'chpasswd'])
    await program(name, `echo "$0 $*" | sed 's|.*/||' >> "$CALLS"; [ "$1" = -e ] && cat >> "$CALLS"; exit 0`);
});
afterEach(() => rm(dir, { recursive: true }));

async function program(name: string, script: string): Promise<void> {
  await put(`bin/${name}`, `#!/bin/sh\n${script}\n`);
  await chmod(join(dir, 'bin', name), 0o755);
}

async function put(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(dir, path)), { recursive: true });
  await writeFile(join(dir, path), content);
}

const read = (path: string) => readFile(join(dir, path), 'utf8');

/** Runs a script of the system, with `dir` for the places that it writes to. */
async function run(path: string): Promise<void> {
  const script = String(files.find((file) => file.path === path)?.content)
    .replace(/PATH=\S+/, `PATH=${join(dir, 'bin')}:/usr/bin:/bin`)
    .replace(/(?<=[ ="])\/(boot|etc|root|var)\b(?!\/(vmlinuz|initrd\.img)-\$kernel( |$))/gm, `${dir}/$1`);
  const env = {
    PATH: `${join(dir, 'bin')}:/usr/bin:/bin`,
    BOOT: join(dir, 'boot'),
    CALLS: join(dir, 'calls'),
  };
  await runProgram(['sh', '-c', script], { env });
}

describe('the menu of kernels', () => {
  const menu = 'boot/grub/grub.cfg';
  const kernel = async (version: string, initrd: string | null = 'something') => {
    await put(`boot/vmlinuz-${version}`, 'a kernel');
    if (initrd !== null) await put(`boot/initrd.img-${version}`, initrd);
  };
  const offered = async () =>
    [...(await read(menu)).matchAll(/^menuentry .*'(\S+)' \{$/gm)].map(([, id]) => id);
  beforeEach(() => put('etc/kernel/cmdline', 'quiet\nconsole=ttyS0\n'));

  it('begins with the newest that is whole', async () => {
    for (const version of ['6.1.0-9-amd64', '6.1.0-10-amd64']) await kernel(version);
    await kernel('6.1.0-11-amd64', null);
    await kernel('6.1.0-12-amd64', '');
    await run('usr/sbin/update-boot-menu');
    expect(await offered()).toEqual(['6.1.0-10-amd64', '6.1.0-9-amd64']);
    expect(await read(menu)).toContain(
      '\n  linux /boot/vmlinuz-6.1.0-10-amd64 root=UUID=$uuid ro quiet console=ttyS0',
    );
    await rm(join(dir, 'boot/vmlinuz-6.1.0-10-amd64'));
    await run('usr/sbin/update-boot-menu');
    expect(await offered()).toEqual(['6.1.0-9-amd64']);
  });

  it('stays as it was when there is nothing to start, or when GRUB’s own programs have written it', async () => {
    await kernel('6.1.0-9-amd64');
    await run('usr/sbin/update-boot-menu');
    const before = await read(menu);
    await rm(join(dir, 'boot/initrd.img-6.1.0-9-amd64'));
    await expect(run('usr/sbin/update-boot-menu')).rejects.toThrow('there is no kernel');
    expect(await read(menu)).toBe(before);
    await kernel('6.1.0-9-amd64');
    await put(menu, '# of somebody else\n');
    await run('usr/sbin/update-boot-menu');
    expect(await read(menu)).toBe('# of somebody else\n');
  });
});

describe('a system that gets its identity', () => {
  const identity = {
    hostname: 'metal1.example.com\n',
    mac: '52:54:00:be:ef:01\n',
    authorized_keys: 'ssh-ed25519 AAAA $(reboot) `reboot`\n',
    password: '$6$salt$ha/sh.\n',
    'resolv.conf': 'nameserver 192.0.2.53\n',
    network: ['4 192.0.2.5 24 192.0.2.1', '4 192.0.2.6 24 192.0.2.1', '6 2001:db8::5 64 fe80::1', ''].join(
      '\n',
    ),
  };
  beforeEach(async () => {
    await put('etc/mdadm/mdadm.conf', namedArrays);
    for (const [name, content] of Object.entries(identity))
      await put(`etc/innkeeper/identity/${name}`, content);
    for (const place of [
      'etc/ssh/sshd_config.d/x',
      'etc/systemd/network/x',
      'etc/mdadm/x',
      ...['root/x', 'etc/cloud/x'],
      'boot/vmlinuz-6.1',
    ])
      await put(place, '');
    await program('update-boot-menu', 'echo menu >> "$CALLS"');
  });

  it('has its addresses by the port’s own, keys of its own, and its customer as root', async () => {
    await run('usr/lib/innkeeper/settle');
    expect(await read('etc/systemd/network/10-server.network')).toBe(`[Match]
MACAddress=52:54:00:be:ef:01
Type=ether

[Network]
DHCP=no
IPv6AcceptRA=no
Address=192.0.2.5/24
Address=192.0.2.6/24
Address=2001:db8::5/64

[Route]
Gateway=192.0.2.1
GatewayOnLink=yes

[Route]
Gateway=fe80::1
GatewayOnLink=yes
`);
    expect(await read('etc/hostname')).toBe(identity.hostname);
    expect(await read('etc/hosts')).toContain('\n127.0.1.1 metal1.example.com metal1\n');
    expect(await read('etc/resolv.conf')).toBe(identity['resolv.conf']);
    expect(await read('root/.ssh/authorized_keys')).toBe(identity.authorized_keys);
    expect((await stat(join(dir, 'root/.ssh'))).mode & 0o777).toBe(0o700);
    expect(await read('etc/machine-id')).toMatch(/^[0-9a-f]{32}\n$/);
    expect(await read('etc/ssh/sshd_config.d/10-root.conf')).toBe('PermitRootLogin yes\n');
    // The menu last: what it names has to be there.
    expect(await read('calls')).toBe(`ssh-keygen -q -A\nchpasswd -e\nroot:${identity.password}menu\n`);
    const first = await read('etc/machine-id');
    await run('usr/lib/innkeeper/settle');
    expect(await read('etc/machine-id')).not.toBe(first);
  });

  it('lets nobody in by password where none was ordered', async () => {
    await put('etc/innkeeper/identity/password', '');
    await run('usr/lib/innkeeper/settle');
    await expect(read('etc/ssh/sshd_config.d/10-root.conf')).rejects.toThrow('ENOENT');
    expect(await read('calls')).not.toContain('chpasswd');
  });

  it('watches the mirror that it lies on', async () => {
    await put('etc/mdadm/mdadm.conf', 'ARRAY /dev/md0 metadata=1.2 name=any:root UUID=1:2:3:4\n');
    await run('usr/lib/innkeeper/settle');
    await run('usr/lib/innkeeper/settle');
    expect(await read('etc/mdadm/mdadm.conf')).toBe(
      'HOMEHOST <system>\nMAILADDR root\nARRAY /dev/md0 metadata=1.2 name=any:root UUID=1:2:3:4\n',
    );
    await put('etc/mdadm/mdadm.conf', namedArrays);
    await run('usr/lib/innkeeper/settle');
    expect(await read('etc/mdadm/mdadm.conf')).not.toContain('ARRAY');
  });

  it('has user data for cloud-init word for word, and without any cloud-init does nothing', async () => {
    const seed = 'var/lib/cloud/seed/nocloud';
    const said = '#cloud-config\nruncmd: [\'echo "$(reboot)" `reboot`\']';
    await put('etc/innkeeper/identity/user-data', said);
    await put('etc/cloud/cloud-init.disabled', '');
    await run('usr/lib/innkeeper/settle');
    expect(await read(`${seed}/user-data`)).toBe(said);
    const id = (await read('etc/machine-id')).trim();
    expect(await read(`${seed}/meta-data`)).toBe(
      `instance-id: "${id}"\nlocal-hostname: "metal1.example.com"\n`,
    );
    expect((await stat(join(dir, seed))).mode & 0o777).toBe(0o700);
    expect((await stat(join(dir, seed, 'user-data'))).mode & 0o777).toBe(0o600);
    await expect(read('etc/cloud/cloud-init.disabled')).rejects.toThrow('ENOENT');
    // As of an order, which brings none.
    await put('etc/innkeeper/identity/user-data', '');
    await run('usr/lib/innkeeper/settle');
    await expect(read(`${seed}/user-data`)).rejects.toThrow('ENOENT');
    expect(await read('etc/cloud/cloud-init.disabled')).toBe('');
  });

  it('is not settled when something fails', async () => {
    await program('ssh-keygen', 'exit 1');
    await expect(run('usr/lib/innkeeper/settle')).rejects.toThrow();
    await expect(read('calls')).rejects.toThrow('ENOENT');
  });
});
