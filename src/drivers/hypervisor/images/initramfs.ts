import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cpioArchive, readModules } from '../../debian/index.ts';

const drivers = ['virtio_pci', 'virtio_blk', 'virtio_net', 'virtio_console', 'virtio_rng', 'virtio_balloon'];
/** Other engines than ours plug a seed in as a disc, which alone can be exchanged in a running machine. */
const discDrivers = ['virtio_scsi', 'sr_mod'];
/** The power button arrives as a key press. */
const powerButtonDrivers = ['button', 'evdev'];

/** Debian packages whose programs the initramfs holds. */
export const initramfsPackages = ['busybox-static', 'e2fsck-static'];

/**
 * First program of the initramfs: loads the drivers, mounts the disk, hands over to the disk's init. A power loss
 * while a file system grows can leave one that the kernel refuses, since it looks at the group descriptors before
 * it replays the journal. `e2fsck` puts that right in two goes: the journal, by the backups of the superblock, and
 * then the rest.
 */
const initScript = `#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs dev /dev
$b mount -t proc proc /proc
while read -r module; do $b insmod "/modules/$module"; done < /modules.order
tries=0
until [ -b /dev/vda ] || [ $tries = 200 ]; do $b usleep 20000; tries=$((tries + 1)); done
disk() { $b mount -t ext4 -o noatime /dev/vda /disk; }
repair() { echo 'Repairing the disk'; /bin/e2fsck -y /dev/vda; /bin/e2fsck -y /dev/vda; }
disk || { repair; disk; } || exec $b sh
$b mount --move /dev /disk/dev
$b mount --move /proc /disk/proc
exec $b switch_root /disk /sbin/init
`;

/**
 * The few megabytes that a kernel of ours starts from: BusyBox, the drivers of QEMU's devices and what repairs a disk. `modulesDir`
 * holds the kernel's modules, `programs` what is in {@link initramfsPackages}, unpacked.
 */
export async function initramfs(modulesDir: string, programs: string): Promise<Buffer> {
  const modules = await readModules(modulesDir, [...drivers, ...discDrivers, ...powerButtonDrivers]);
  const order = modules.map((module) => `${module.path.slice('modules/'.length)}\n`).join('');
  return cpioArchive(
    ['bin', 'dev', 'disk', 'modules', 'proc'],
    [
      { path: 'bin/busybox', content: await readFile(join(programs, 'bin/busybox')), mode: 0o755 },
      { path: 'bin/e2fsck', content: await readFile(join(programs, 'sbin/e2fsck.static')), mode: 0o755 },
      { path: 'init', content: initScript, mode: 0o755 },
      { path: 'modules.order', content: order },
      ...modules,
    ],
  );
}
