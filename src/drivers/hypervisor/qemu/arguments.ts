import { basename } from 'node:path';
import type { MachineSpec } from '../contract.ts';
import { type Acceleration, acceleratorArguments } from './acceleration.ts';
import type { MachineFiles } from './files.ts';

/** Inside emulation there is nothing to guard a CPU against, and self-tests cost seconds of each boot. */
const emulatedKernel = 'mitigations=off nokaslr tsc=reliable random.trust_cpu=on cryptomgr.notests audit=0';

/** Facts that decide a machine's command line. */
export interface Launch {
  spec: MachineSpec;
  files: MachineFiles;
  /** The program that starts the machine; null: its disk starts by itself. */
  kernel: Kernel | null;
  acceleration: Acceleration;
  /** QEMU's name of the hardware. */
  machineType: string;
  /** The disk of the image that its own disk is a layer of. */
  base: string;
  /** In rescue: the disk of the image of that system. */
  rescueBase: string | null;
}

/** How QEMU is started: in the machine's folder, with these files open as its descriptors 3, 4, and so on. */
export interface CommandLine {
  argv: string[];
  inherited: string[];
}

const firstDescriptor = 3;

/** What QEMU starts a machine with in place of its disk. */
export interface Kernel {
  file: string;
  initrd: string;
  /** Null for a program that is not Linux and takes none. */
  commandLine: string | null;
}

/**
 * The command line of one machine. Without defaults, so that a guest has these devices and no other; without
 * secrets, since command lines are public. The guest's own power-off ends the process. It waits for `cont`, so that
 * its surroundings are settled before anything of the guest runs.
 *
 * QEMU is never root, and may not be able to walk to the images: it inherits them. Its own files lie in the folder
 * where it starts.
 */
export function qemuArguments(launch: Launch): CommandLine {
  const { spec, files } = launch;
  const inherited: string[] = [];
  const inherit = (file: string) => firstDescriptor - 1 + inherited.push(file);
  const argv = [
    ['-name', `guest=${spec.id},debug-threads=on`],
    ['-nodefaults', '-no-user-config', '-display', 'none'],
    ['-S', '-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
    ['-pidfile', files.pidFile],
    ['-machine', launch.machineType, ...acceleratorArguments(launch.acceleration)],
    ['-smp', String(spec.cpuCores), '-m', `size=${spec.memoryMib}M`, '-rtc', 'base=utc,driftfix=slew'],
    boot(launch, inherit),
    disks(launch, inherit),
    network(spec, files),
    consoles(files),
    agent(files),
    ['-device', 'virtio-balloon-pci,id=balloon0,free-page-reporting=on'],
    ['-object', 'rng-random,id=entropy0,filename=/dev/urandom', '-device', 'virtio-rng-pci,rng=entropy0'],
    ['-chardev', `socket,id=qmp0,path=${escaped(files.qmpSocket)},server=on,wait=off`],
    ['-mon', 'chardev=qmp0,mode=control'],
  ].flat();
  return { argv, inherited };
}

type Inherit = (file: string) => number;

function boot({ kernel, acceleration }: Launch, inherit: Inherit): string[] {
  if (!kernel) return ['-boot', 'strict=on'];
  const { file, initrd, commandLine } = kernel;
  const inherited = (each: string) => `/proc/self/fd/${inherit(each)}`;
  const direct = ['-kernel', inherited(file), '-initrd', inherited(initrd)];
  if (commandLine === null) return direct;
  const append = acceleration === 'hardware' ? commandLine : `${commandLine} ${emulatedKernel}`;
  return [...direct, '-append', append];
}

/** The guest sees them in this order: `vda` is what it starts from, `vdb` its seed; in rescue its own is `vdc`. */
function disks({ files, base, rescueBase }: Launch, inherit: Inherit): string[] {
  const own = layer('disk0', files.disk);
  const below = image('disk0-image', inherit(base));
  const seedOf = (file: string) => device(seed(file));
  if (rescueBase === null) return [...below, ...device(own, 'bootindex=1'), ...seedOf(files.seed)];
  const rescue = layer('rescue0', files.rescueDisk);
  const belowRescue = image('rescue0-image', inherit(rescueBase));
  return [belowRescue, device(rescue), seedOf(files.rescueSeed), below, device(own)].flat();
}

interface BlockNode {
  'node-name': string;
}

function device(node: BlockNode, ...properties: string[]): string[] {
  const name = node['node-name'];
  const device = ['virtio-blk-pci', `id=${name}-device`, `drive=${name}`, ...properties].join(',');
  return ['-blockdev', JSON.stringify(node), '-device', device];
}

/** Written by the guest. What lies below is said here: its own header, which the guest may come to write, is not asked. */
function layer(name: string, path: string): BlockNode & { backing: string } {
  const file = { driver: 'file', filename: basename(path), discard: 'unmap' };
  const format = { driver: 'qcow2', file, discard: 'unmap', 'detect-zeroes': 'unmap' };
  return { 'node-name': name, ...format, backing: `${name}-image` };
}

function image(name: string, descriptor: number): string[] {
  const file = { driver: 'file', filename: `/dev/fdset/${descriptor}` };
  const node = { 'node-name': name, driver: 'qcow2', file, 'read-only': true, backing: null };
  return ['-add-fd', `fd=${descriptor},set=${descriptor}`, '-blockdev', JSON.stringify(node)];
}

function seed(path: string): BlockNode {
  const file = { driver: 'file', filename: basename(path) };
  return { 'node-name': 'seed0', ...{ driver: 'raw', file, 'read-only': true } };
}

function network(spec: MachineSpec, files: MachineFiles): string[] {
  return [
    ['-netdev', `tap,id=net0,ifname=${files.tap},script=no,downscript=no`],
    ['-device', `virtio-net-pci,id=nic0,netdev=net0,mac=${spec.nic.mac},romfile=`],
  ].flat();
}

function consoles(files: MachineFiles): string[] {
  return [
    // Shared even with a viewer who asks for the screen alone.
    ['-vnc', `unix:${escaped(files.vncSocket)},share=force-shared`, '-device', 'VGA,id=vga0,vgamem_mb=8'],
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
