import { chmod, chown, stat } from 'node:fs/promises';
import { runProgram } from '../../../platform/host/program.ts';

const tunDevice = '/dev/net/tun';
const kvmDevice = '/dev/kvm';

/**
 * Machines' accounts open two devices. Where only root may, as on hosts without udev, they are opened as udev's own
 * rules do it: /dev/net/tun to everybody, who can attach to a tap of his own and to nothing else, /dev/kvm to a group.
 */
export async function openDevices(): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const tun = await stat(tunDevice).catch(() => null);
  if (tun && (tun.mode & 0o006) !== 0o006) await chmod(tunDevice, 0o666);
  const kvm = await stat(kvmDevice).catch(() => null);
  if (!kvm || (kvm.mode & 0o060) === 0o060 || (kvm.mode & 0o006) === 0o006) return;
  const group = (await runProgram(['getent', 'group', 'kvm']).catch(() => null))?.stdout.split(':')[2];
  if (group === undefined) return;
  await chown(kvmDevice, 0, Number(group));
  await chmod(kvmDevice, 0o660);
}

/** The group that lets a machine's account open /dev/kvm; null when none is needed. */
export async function kvmGroup(): Promise<number | null> {
  const kvm = await stat(kvmDevice).catch(() => null);
  return kvm && (kvm.mode & 0o006) !== 0o006 ? kvm.gid : null;
}
