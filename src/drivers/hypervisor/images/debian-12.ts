import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runAsRoot } from '../../../platform/host/program.ts';
import {
  cloudInitModules,
  downloadPackages,
  type FileEntry,
  kernelPackages,
  unpackPackage,
  writeUnpackedKernel,
} from '../../debian/index.ts';
import { initramfs, initramfsPackages } from './initramfs.ts';
import { packDisk } from './pack.ts';
import type { Recipe } from './recipe.ts';

const diskMib = 2048;
const packages = [
  ...['systemd-sysv', 'systemd-resolved', 'dbus', 'udev', kernelPackages.machines, 'e2fsprogs'],
  ...['openssh-server', 'cloud-init', 'qemu-guest-agent', 'ca-certificates'],
  ...['iproute2', 'iputils-ping', 'procps', 'less', 'nano', 'sudo', 'curl'],
];
/** Documentation and translations make half of a minimal system; licences stay. */
const dpkgOptions = [
  'path-exclude=/usr/share/man/*',
  'path-exclude=/usr/share/locale/*',
  'path-exclude=/usr/share/doc/*',
  'path-include=/usr/share/doc/*/copyright',
];
/** Work that a freshly booted guest does for nobody. */
const maskedUnits = [
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
  'e2scrub_all.timer',
  'e2scrub_reap.service',
];

/**
 * A whole Debian 12 with systemd, cloud-init, OpenSSH and QEMU's guest agent, made by `mmdebstrap` from Debian's
 * packages. It starts with the kernel that was current when the image was built, directly: guests cannot
 * break their boot loader, and updates of the kernel come with a new image.
 */
export const debian12Recipe: Recipe = {
  async build(dir, progress) {
    const root = join(dir, 'root');
    const say = (line: string) => progress(`Building the image debian-12 (1 of 3): ${line}`);
    say('installing Debian');
    await bootstrap(root, say);
    progress('Building the image debian-12 (2 of 3): packing the kernel');
    await extractKernel(root, dir);
    await configure(root, join(dir, 'configuration'));
    progress('Building the image debian-12 (3 of 3): packing the disk');
    await packDisk(root, join(dir, 'disk.qcow2'), diskMib);
    const commandLine = 'root=/dev/vda rw console=tty0 console=ttyS0 quiet net.ifnames=0';
    return {
      guest: 'cloud-init',
      boot: { kernel: 'kernel', initrd: 'initrd', commandLine },
      diskBytes: diskMib * 2 ** 20,
    };
  },
};

async function bootstrap(root: string, say: (line: string) => void): Promise<void> {
  const options = [
    ...['--variant=minbase', '--mode=root', '--format=directory', '--aptopt=APT::Sandbox::User "root"'],
    ...dpkgOptions.map((option) => `--dpkgopt=${option}`),
  ];
  // What it mounts inside is seen by nobody else, and gone with it however it ends.
  const alone = ['unshare', '--mount', '--propagation', 'private', '--'];
  const argv = [...alone, 'mmdebstrap', ...options, `--include=${packages.join(',')}`, 'bookworm', root];
  const onLine = (line: string) => {
    if (line.startsWith('I: ')) say(line.slice(3, 120));
  };
  await runAsRoot(argv, { timeoutMs: 1_800_000, onLine });
}

async function extractKernel(root: string, dir: string): Promise<void> {
  const [version] = await readdir(join(root, 'lib/modules'));
  if (version === undefined) throw new Error('the system has no kernel');
  await writeUnpackedKernel(join(root, 'boot', `vmlinuz-${version}`), join(dir, 'kernel'));
  const work = join(dir, 'work');
  for (const file of await downloadPackages(initramfsPackages, work)) await unpackPackage(file, work);
  const ramdisk = await initramfs(join(root, 'lib/modules', version, 'kernel'), work);
  await writeFile(join(dir, 'initrd'), ramdisk);
  await rm(work, { recursive: true });
}

/** Files are written beside and copied in, since the system belongs to root and we may be someone else. */
async function configure(root: string, work: string): Promise<void> {
  for (const { path, content } of files) {
    await mkdir(dirname(join(work, path)), { recursive: true });
    await writeFile(join(work, path), content);
  }
  await runAsRoot(['cp', '-r', '--no-preserve=ownership', `${work}/.`, root]);
  await rm(work, { recursive: true });
  const units = `${root}/etc/systemd/system`;
  for (const unit of maskedUnits) await runAsRoot(['ln', '-sf', '/dev/null', `${units}/${unit}`]);
  const networkd = '/lib/systemd/system/systemd-networkd.service';
  await runAsRoot(['ln', '-sf', networkd, `${units}/multi-user.target.wants/systemd-networkd.service`]);
  // Every machine gets keys of its own, and its own id, when it boots first.
  const keys = (await readdir(join(root, 'etc/ssh'))).filter((name) => name.startsWith('ssh_host_'));
  await runAsRoot([
    'rm',
    '-f',
    ...keys.map((name) => `${root}/etc/ssh/${name}`),
    `${root}/var/lib/systemd/random-seed`,
  ]);
}

const cloudInit = `datasource_list: [NoCloud]
ssh_genkeytypes: [ed25519, ecdsa]
apt_preserve_sources_list: true
${cloudInitModules}`;

const files: FileEntry[] = [
  { path: 'etc/fstab', content: '/dev/vda / ext4 defaults,noatime,discard 0 1\n' },
  { path: 'etc/machine-id', content: '' },
  { path: 'etc/hostname', content: 'debian\n' },
  { path: 'etc/ssh/sshd_config.d/10-root.conf', content: 'PermitRootLogin yes\nUseDNS no\n' },
  { path: 'etc/cloud/cloud.cfg.d/90_innkeeper.cfg', content: cloudInit },
  { path: 'etc/systemd/journald.conf.d/size.conf', content: '[Journal]\nSystemMaxUse=64M\n' },
];
