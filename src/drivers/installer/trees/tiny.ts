import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  cpioArchive,
  type FileEntry,
  fetchKernel,
  kernelPackages,
  readModules,
  tarArchive,
} from '../../debian/index.ts';
import { type Unpacked, unpack } from '../image/unpacked.ts';
import {
  bootScript,
  grubConfiguration,
  initScript,
  inittab,
  powerButtonScript,
  settleScript,
} from './tinySystem.ts';

const loader = 'lib64/ld-linux-x86-64.so.2';
const drivers = [
  ...['ahci', 'nvme', 'sd_mod', 'megaraid_sas', 'mpt3sas', 'virtio_pci', 'virtio_blk', 'virtio_scsi'],
  ...['raid1', 'ext4', 'crc32c_generic', 'e1000e', 'igb', 'ixgbe', 'i40e', 'tg3', 'virtio_net'],
  // The power button arrives as a key press.
  ...['button', 'evdev'],
];

/**
 * A complete system of about 15 MB for a server: Debian's kernel, BusyBox and the SSH server dropbear. It starts in seconds even under
 * emulation, so that tests have a real system to install. Writes its file tree as a tar archive, and returns what packs it.
 */
export async function tinyTree(
  work: string,
  archive: string,
  progress: (line: string) => void,
): Promise<Unpacked> {
  progress('Building the tree tiny (1 of 2): downloading packages');
  const kernel = await fetchKernel(work, kernelPackages.servers);
  const unpacked = await unpack(['busybox-static', 'dropbear-bin', 'mdadm', 'zstd'], work);
  progress('Building the tree tiny (2 of 2): packing');
  const tree = tarArchive([
    { path: 'boot/vmlinuz', content: await readFile(kernel.image) },
    { path: 'boot/initrd', content: await initramfs(kernel.modulesDir, unpacked) },
    { path: 'boot/grub/grub.cfg', content: grubConfiguration },
    { path: 'bin/busybox', content: await readFile(join(unpacked.dir, 'bin/busybox')), mode: 0o755 },
    ...(await program(unpacked, 'usr/sbin/dropbear')),
    { path: 'usr/lib/innkeeper/settle', content: settleScript, mode: 0o755 },
    { path: 'etc/innkeeper/boot', content: bootScript, mode: 0o755 },
    { path: 'etc/inittab', content: inittab },
    { path: 'etc/acpi/PWRF/00000080', content: powerButtonScript, mode: 0o755 },
    { path: 'etc/passwd', content: 'root:x:0:0:root:/root:/bin/sh\n' },
    { path: 'etc/group', content: 'root:x:0:\ntty:x:5:\n' },
    { path: 'etc/shells', content: '/bin/sh\n' },
    { path: 'etc/profile', content: 'export PATH=/bin:/sbin:/usr/bin:/usr/sbin\n' },
  ]);
  await writeFile(archive, tree);
  return unpacked;
}

async function initramfs(modulesDir: string, unpacked: Unpacked): Promise<Buffer> {
  const modules = await readModules(modulesDir, drivers);
  const applets = 'sh mount insmod tr sed findfs usleep switch_root'.split(' ');
  return cpioArchive(
    ['bin', 'dev', 'disk', 'lib', 'lib/x86_64-linux-gnu', 'lib64', 'modules', 'proc', 'run', 'sbin', 'sys'],
    [
      { path: 'bin/busybox', content: await readFile(join(unpacked.dir, 'bin/busybox')), mode: 0o755 },
      ...(await program(unpacked, 'sbin/mdadm')),
      { path: 'init', content: initScript, mode: 0o755 },
      {
        path: 'modules.order',
        content: modules.map(({ path }) => `${path.slice('modules/'.length)}\n`).join(''),
      },
      ...modules,
    ],
    [
      ...applets.map((name) => ({ path: `bin/${name}`, target: 'busybox' })),
      { path: 'bin/mdadm', target: '../sbin/mdadm' },
    ],
  );
}

/** A program with its libraries. */
async function program(unpacked: Unpacked, path: string): Promise<FileEntry[]> {
  const needed = await unpacked.librariesOf(path);
  const sources = [
    [path, join(unpacked.dir, path)],
    [loader, join(unpacked.dir, loader)],
    ...[...needed].map(([name, file]) => [`lib/x86_64-linux-gnu/${name}`, file]),
  ];
  return Promise.all(
    sources.map(async ([to = '', file = '']) => ({ path: to, content: await readFile(file), mode: 0o755 })),
  );
}
