import { readFile } from 'node:fs/promises';
import { cpioArchive } from '../formats/cpio.ts';
import { readModules } from './kernel.ts';

const DRIVERS = ['virtio_pci', 'virtio_blk', 'virtio_net', 'virtio_console', 'virtio_rng', 'virtio_balloon'];
/** The power button arrives as a key press. */
const POWER_BUTTON_DRIVERS = ['button', 'evdev'];

/** First program of the initramfs: loads the drivers, mounts the disk, hands over to the disk's init. */
const INITRAMFS_INIT = `#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs dev /dev
$b mount -t proc proc /proc
while read -r module; do $b insmod "/modules/$module"; done < /modules.order
tries=0
until [ -b /dev/vda ] || [ $tries = 200 ]; do $b usleep 20000; tries=$((tries + 1)); done
$b mount -t ext4 -o noatime /dev/vda /disk || exec $b sh
$b mount --move /dev /disk/dev
$b mount --move /proc /disk/proc
exec $b switch_root /disk /sbin/init
`;

/**
 * The few megabytes that a kernel of ours starts from: BusyBox and the drivers of QEMU's devices. `modulesDir`
 * holds the kernel's modules, `busybox` is a statically linked one.
 */
export async function initramfs(modulesDir: string, busybox: string): Promise<Buffer> {
  const modules = await readModules(modulesDir, [...DRIVERS, ...POWER_BUTTON_DRIVERS]);
  const order = modules.map((module) => `${module.path.slice('modules/'.length)}\n`).join('');
  return cpioArchive(
    ['bin', 'dev', 'disk', 'modules', 'proc'],
    [
      { path: 'bin/busybox', content: await readFile(busybox), mode: 0o755 },
      { path: 'init', content: INITRAMFS_INIT, mode: 0o755 },
      { path: 'modules.order', content: order },
      ...modules,
    ],
  );
}
