import { chmod, copyFile, cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run, runAsRoot } from '../../../platform/host/run.ts';
import { cpioArchive } from '../formats/cpio.ts';
import type { FileEntry } from '../formats/tar.ts';
import { fetchKernel, readModules, writeUnpackedKernel } from './kernel.ts';
import { downloadPackages, librariesOf, unpackPackage } from './packages.ts';
import type { Recipe } from './recipe.ts';
import { BOOT_SCRIPT, CHPASSWD, INITRAMFS_INIT, INITTAB, POWER_BUTTON } from './tiny-guest.ts';

const DISK_MIB = 64;
const PROGRAMS = ['dropbear-bin', 'qemu-guest-agent'];
const DRIVERS = ['virtio_pci', 'virtio_blk', 'virtio_net', 'virtio_console', 'virtio_rng', 'virtio_balloon'];
/** The power button arrives as a key press. */
const POWER_BUTTON_DRIVERS = ['button', 'evdev'];

/**
 * A complete guest of about 20 MB: Debian's cloud kernel, BusyBox, the SSH server dropbear and QEMU's guest
 * agent, all from Debian's packages. It boots in seconds even under emulation, so that a first try of the
 * product, and every test, has a real machine to sign in to.
 */
export const tinyRecipe: Recipe = {
  hostPackages: ['apt', 'dpkg', 'e2fsprogs', 'qemu-utils'],
  async build(dir, progress) {
    const work = join(dir, 'work');
    progress('Building the image tiny (1 of 3): downloading packages');
    const kernel = await fetchKernel(work);
    const unpacked = await fetchPrograms(work);
    progress('Building the image tiny (2 of 3): packing the kernel');
    await writeUnpackedKernel(kernel.image, join(dir, 'kernel'));
    const modules = await readModules(kernel.modulesDir, [...DRIVERS, ...POWER_BUTTON_DRIVERS]);
    const busybox = await readFile(join(unpacked, 'bin/busybox'));
    await writeFile(join(dir, 'initrd'), initramfs(modules, busybox));
    progress('Building the image tiny (3 of 3): packing the disk');
    const root = join(work, 'root');
    await assembleRoot(unpacked, root);
    await packDisk(root, work, join(dir, 'disk.qcow2'));
    await rm(work, { recursive: true });
    return {
      guest: 'tiny',
      boot: {
        kernel: 'kernel',
        initrd: 'initrd',
        commandLine: 'console=tty0 console=ttyS0 quiet net.ifnames=0',
      },
      diskBytes: DISK_MIB * 2 ** 20,
    };
  },
};

async function fetchPrograms(work: string): Promise<string> {
  const libraries = await librariesOf([...PROGRAMS, 'e2fsprogs']);
  const names = [...PROGRAMS, 'busybox-static', 'e2fsprogs', ...libraries];
  const unpacked = join(work, 'unpacked');
  for (const file of await downloadPackages(names, join(work, 'packages')))
    await unpackPackage(file, unpacked);
  return unpacked;
}

function initramfs(modules: readonly FileEntry[], busybox: Buffer): Buffer {
  const order = modules.map((module) => `${module.path.slice('modules/'.length)}\n`).join('');
  return cpioArchive(
    ['bin', 'dev', 'disk', 'modules', 'proc'],
    [
      { path: 'bin/busybox', content: busybox, mode: 0o755 },
      { path: 'init', content: INITRAMFS_INIT, mode: 0o755 },
      { path: 'modules.order', content: order },
      ...modules,
    ],
  );
}

async function assembleRoot(unpacked: string, root: string): Promise<void> {
  const folders =
    'bin sbin dev proc sys run tmp mnt root/.ssh usr/bin usr/sbin var/log etc/dropbear etc/acpi/PWRF';
  for (const folder of folders.split(' ')) await mkdir(join(root, folder), { recursive: true });
  // Libraries without what only development, other languages and other character sets need.
  const unwanted = /\/(gconv|audit|pkgconfig|locale)(\/|$)/;
  for (const lib of ['lib', 'lib64', 'usr/lib/x86_64-linux-gnu']) {
    await cp(join(unpacked, lib), join(root, lib), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !unwanted.test(path.slice(unpacked.length)) && !path.includes('/lib/systemd'),
    });
  }
  await copyFile(join(unpacked, 'bin/busybox'), join(root, 'bin/busybox'));
  const { stdout } = await run([join(root, 'bin/busybox'), '--list']);
  const applets = stdout.split('\n').filter((name) => /^[a-z0-9_[-]+$/i.test(name) && name !== 'busybox');
  for (const applet of applets) await symlink('busybox', join(root, 'bin', applet));
  await symlink('../bin/busybox', join(root, 'sbin/init'));
  await copyFile(join(unpacked, 'sbin/resize2fs'), join(root, 'sbin/resize2fs'));
  for (const program of ['usr/sbin/dropbear', 'usr/bin/dropbearkey', 'usr/sbin/qemu-ga']) {
    await copyFile(join(unpacked, program), join(root, program));
  }
  for (const file of ROOT_FILES) {
    await mkdir(dirname(join(root, file.path)), { recursive: true });
    await writeFile(join(root, file.path), file.content);
    await chmod(join(root, file.path), file.mode ?? 0o644);
  }
  await chmod(join(root, 'root'), 0o700);
  await chmod(join(root, 'root/.ssh'), 0o700);
  await chmod(join(root, 'tmp'), 0o1777);
}

const ROOT_FILES: FileEntry[] = [
  { path: 'etc/inittab', content: INITTAB },
  { path: 'etc/innkeeper/boot', content: BOOT_SCRIPT, mode: 0o755 },
  { path: 'etc/acpi/PWRF/00000080', content: POWER_BUTTON, mode: 0o755 },
  { path: 'usr/sbin/chpasswd', content: CHPASSWD, mode: 0o755 },
  { path: 'etc/passwd', content: 'root:x:0:0:root:/root:/bin/sh\n' },
  { path: 'etc/group', content: 'root:x:0:\ntty:x:5:\n' },
  { path: 'etc/shadow', content: 'root:*:19000:0:99999:7:::\n', mode: 0o600 },
  { path: 'etc/shells', content: '/bin/sh\n' },
  { path: 'etc/nsswitch.conf', content: 'passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n' },
  { path: 'etc/profile', content: 'export PATH=/bin:/sbin:/usr/bin:/usr/sbin\n' },
];

/** Packs the folder into an ext4 disk without mounting anything. */
async function packDisk(root: string, work: string, target: string): Promise<void> {
  const raw = join(work, 'disk.raw');
  await writeFile(raw, '');
  // The guest takes owners over from the folder, so its files have to belong to root here.
  await runAsRoot(['chown', '-R', '0:0', root]);
  const options = 'lazy_itable_init=1,lazy_journal_init=1';
  await runAsRoot([
    'mke2fs',
    '-q',
    '-t',
    'ext4',
    '-L',
    'root',
    '-E',
    options,
    '-d',
    root,
    raw,
    `${DISK_MIB}M`,
  ]);
  await runAsRoot(['rm', '-r', root]);
  await run(['qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', raw, target]);
}
