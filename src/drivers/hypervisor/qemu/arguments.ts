import { join } from 'node:path';
import type { MachineSpec } from '../contract.ts';
import type { ImageDescription } from '../images/recipe.ts';
import type { Acceleration } from './acceleration.ts';
import type { MachineFiles } from './files.ts';

export const QEMU = 'qemu-system-x86_64';

/** Inside emulation there is nothing to guard a CPU against, and self-tests cost seconds of each boot. */
const EMULATED_KERNEL = 'mitigations=off nokaslr tsc=reliable random.trust_cpu=on cryptomgr.notests audit=0';

export function acceleratorArguments(acceleration: Acceleration): string[] {
  return acceleration === 'hardware'
    ? ['-accel', 'kvm', '-cpu', 'host']
    : ['-accel', 'tcg,thread=multi,tb-size=128', '-cpu', 'max,la57=off'];
}

/** Facts that decide a machine's command line. */
export interface Launch {
  spec: MachineSpec;
  files: MachineFiles;
  image: ImageDescription & { dir: string };
  acceleration: Acceleration;
  /** User that QEMU becomes once it has opened its files; null: it stays who started it. */
  runAs: string | null;
}

/**
 * The command line of one machine. Without defaults, so that a guest has these devices and no other; without
 * secrets, since command lines are public. The guest's own power-off ends the process.
 */
export function qemuArguments(launch: Launch): string[] {
  const { spec, files } = launch;
  return [
    ['-name', `guest=${spec.id},debug-threads=on`],
    ['-nodefaults', '-no-user-config', '-display', 'none'],
    ['-sandbox', sandbox(launch.runAs)],
    launch.runAs === null ? [] : ['-runas', launch.runAs],
    ['-pidfile', files.pidFile],
    ['-machine', 'q35', ...acceleratorArguments(launch.acceleration)],
    ['-smp', String(spec.cpuCores), '-m', `size=${spec.memoryMib}M`, '-rtc', 'base=utc,driftfix=slew'],
    boot(launch),
    disks(files),
    network(spec, files),
    consoles(files),
    agent(files),
    ['-device', 'virtio-balloon-pci,id=balloon0,free-page-reporting=on'],
    ['-object', 'rng-random,id=entropy0,filename=/dev/urandom', '-device', 'virtio-rng-pci,rng=entropy0'],
    ['-chardev', `socket,id=qmp0,path=${escaped(files.qmpSocket)},server=on,wait=off`],
    ['-mon', 'chardev=qmp0,mode=control'],
  ].flat();
}

/** QEMU may start no program. It may change its user only where `-runas` needs that. */
function sandbox(runAs: string | null): string {
  const always = 'on,obsolete=deny,spawn=deny,resourcecontrol=deny';
  return runAs === null ? `${always},elevateprivileges=deny` : always;
}

function boot({ image, acceleration }: Launch): string[] {
  if (!image.boot) return ['-boot', 'strict=on'];
  const { kernel, initrd, commandLine } = image.boot;
  const append = acceleration === 'hardware' ? commandLine : `${commandLine} ${EMULATED_KERNEL}`;
  return ['-kernel', join(image.dir, kernel), '-initrd', join(image.dir, initrd), '-append', append];
}

function disks(files: MachineFiles): string[] {
  const disk = { driver: 'file', filename: files.disk, discard: 'unmap' };
  const format = {
    driver: 'qcow2',
    'node-name': 'disk0',
    file: disk,
    discard: 'unmap',
    'detect-zeroes': 'unmap',
  };
  const seed = {
    driver: 'raw',
    'node-name': 'seed0',
    file: { driver: 'file', filename: files.seed },
    'read-only': true,
  };
  return [
    ['-blockdev', JSON.stringify(format), '-device', 'virtio-blk-pci,id=vda,drive=disk0,bootindex=1'],
    ['-blockdev', JSON.stringify(seed), '-device', 'virtio-blk-pci,id=vdb,drive=seed0'],
  ].flat();
}

function network(spec: MachineSpec, files: MachineFiles): string[] {
  return [
    ['-netdev', `tap,id=net0,ifname=${files.tap},script=no,downscript=no`],
    ['-device', `virtio-net-pci,id=nic0,netdev=net0,mac=${spec.nic.mac},romfile=`],
  ].flat();
}

function consoles(files: MachineFiles): string[] {
  return [
    ['-vnc', `unix:${escaped(files.vncSocket)}`, '-device', 'VGA,id=vga0,vgamem_mb=8'],
    ['-chardev', `socket,id=serial0,path=${escaped(files.serialSocket)},server=on,wait=off`],
    ['-serial', 'chardev:serial0'],
  ].flat();
}

function agent(files: MachineFiles): string[] {
  return [
    ['-device', 'virtio-serial-pci,id=channels0'],
    ['-chardev', `socket,id=agent0,path=${escaped(files.agentSocket)},server=on,wait=off`],
    ['-device', 'virtserialport,chardev=agent0,name=org.qemu.guest_agent.0'],
  ].flat();
}

/** In QEMU's option lists a comma inside a value is written twice. */
function escaped(path: string): string {
  return path.replaceAll(',', ',,');
}
