import { chmod, copyFile, cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runAsRoot, runProgram } from '../../../platform/host/program.ts';
import {
  downloadPackages,
  type FileEntry,
  fetchKernel,
  kernelPackages,
  librariesOf,
  unpackPackage,
  writeUnpackedKernel,
} from '../../debian/index.ts';
import { initramfs, initramfsPackages } from './initramfs.ts';
import { packDisk } from './pack.ts';
import type { Recipe } from './recipe.ts';
import { bootScript, chpasswdScript, inittab, powerButtonScript } from './tiny-guest.ts';

const diskMib = 64;
const programs = ['dropbear-bin', 'qemu-guest-agent'];
/**
 * A complete guest of about 20 MB: Debian's cloud kernel, BusyBox, the SSH server dropbear and QEMU's guest
 * agent, all from Debian's packages. It boots in seconds even under emulation, so that a first try of the
 * product, and every test, has a real machine to sign in to.
 */
export const tinyRecipe: Recipe = {
  async build(dir, progress) {
    const work = join(dir, 'work');
    progress('Building the image tiny (1 of 3): downloading packages');
    const kernel = await fetchKernel(work, kernelPackages.machines);
    const unpacked = await fetchPrograms(work);
    progress('Building the image tiny (2 of 3): packing the kernel');
    await writeUnpackedKernel(kernel.image, join(dir, 'kernel'));
    await writeFile(join(dir, 'initrd'), await initramfs(kernel.modulesDir, unpacked));
    progress('Building the image tiny (3 of 3): packing the disk');
    const root = join(work, 'root');
    await assembleRoot(unpacked, root);
    await runAsRoot(['chown', '-R', '0:0', root]);
    await packDisk(root, join(dir, 'disk.qcow2'), diskMib);
    await rm(work, { recursive: true });
    return {
      guest: 'tiny',
      boot: {
        kernel: 'kernel',
        initrd: 'initrd',
        commandLine: 'console=tty0 console=ttyS0 quiet net.ifnames=0',
      },
      diskBytes: diskMib * 2 ** 20,
    };
  },
};

async function fetchPrograms(work: string): Promise<string> {
  const libraries = await librariesOf([...programs, 'e2fsprogs']);
  const names = [...programs, ...initramfsPackages, 'e2fsprogs', ...libraries];
  const unpacked = join(work, 'unpacked');
  for (const file of await downloadPackages(names, join(work, 'packages')))
    await unpackPackage(file, unpacked);
  return unpacked;
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
  const { stdout } = await runProgram([join(root, 'bin/busybox'), '--list']);
  const applets = stdout.split('\n').filter((name) => /^[a-z0-9_[-]+$/i.test(name) && name !== 'busybox');
  for (const applet of applets) await symlink('busybox', join(root, 'bin', applet));
  await symlink('../bin/busybox', join(root, 'sbin/init'));
  await copyFile(join(unpacked, 'sbin/resize2fs'), join(root, 'sbin/resize2fs'));
  for (const program of ['usr/sbin/dropbear', 'usr/bin/dropbearkey', 'usr/sbin/qemu-ga']) {
    await copyFile(join(unpacked, program), join(root, program));
  }
  for (const file of rootFiles) {
    await mkdir(dirname(join(root, file.path)), { recursive: true });
    await writeFile(join(root, file.path), file.content);
    await chmod(join(root, file.path), file.mode ?? 0o644);
  }
  await chmod(join(root, 'root'), 0o700);
  await chmod(join(root, 'root/.ssh'), 0o700);
  await chmod(join(root, 'tmp'), 0o1777);
}

const rootFiles: FileEntry[] = [
  { path: 'etc/inittab', content: inittab },
  { path: 'etc/innkeeper/boot', content: bootScript, mode: 0o755 },
  { path: 'etc/acpi/PWRF/00000080', content: powerButtonScript, mode: 0o755 },
  { path: 'usr/sbin/chpasswd', content: chpasswdScript, mode: 0o755 },
  { path: 'etc/passwd', content: 'root:x:0:0:root:/root:/bin/sh\n' },
  { path: 'etc/group', content: 'root:x:0:\ntty:x:5:\n' },
  { path: 'etc/shadow', content: 'root:*:19000:0:99999:7:::\n', mode: 0o600 },
  { path: 'etc/shells', content: '/bin/sh\n' },
  { path: 'etc/nsswitch.conf', content: 'passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n' },
  { path: 'etc/profile', content: 'export PATH=/bin:/sbin:/usr/bin:/usr/sbin\n' },
];
