import type { MachineSpec } from '../contract.ts';
import { type Acceleration, acceleratorArguments } from './acceleration.ts';
import type { MachineFiles, Owner } from './files.ts';

/** Inside emulation there is nothing to guard a CPU against, and self-tests cost seconds of each boot. */
const EMULATED_KERNEL = 'mitigations=off nokaslr tsc=reliable random.trust_cpu=on cryptomgr.notests audit=0';

/** Facts that decide a machine's command line. */
export interface Launch {
  spec: MachineSpec;
  files: MachineFiles;
  /** The program that starts the machine; null: its disk starts by itself. */
  kernel: Kernel | null;
  acceleration: Acceleration;
  /** What QEMU becomes once it has opened its files; null: it stays who started it. */
  runAs: Owner | null;
}

/** What QEMU starts a machine with in place of its disk. */
export interface Kernel {
  file: string;
  initrd: string;
  /** Null for a program that is not Linux and takes none. */
  commandLine: string | null;
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
    launch.runAs === null ? [] : ['-runas', `${launch.runAs.uid}:${launch.runAs.gid}`],
    ['-pidfile', files.pidFile],
    ['-machine', 'q35', ...acceleratorArguments(launch.acceleration)],
    ['-smp', String(spec.cpuCores), '-m', `size=${spec.memoryMib}M`, '-rtc', 'base=utc,driftfix=slew'],
    boot(launch),
    disks(launch),
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
function sandbox(runAs: Owner | null): string {
  const always = 'on,obsolete=deny,spawn=deny,resourcecontrol=deny';
  return runAs === null ? `${always},elevateprivileges=deny` : always;
}

function boot({ kernel, acceleration }: Launch): string[] {
  if (!kernel) return ['-boot', 'strict=on'];
  const { file, initrd, commandLine } = kernel;
  const direct = ['-kernel', file, '-initrd', initrd];
  if (commandLine === null) return direct;
  const append = acceleration === 'hardware' ? commandLine : `${commandLine} ${EMULATED_KERNEL}`;
  return [...direct, '-append', append];
}

/** The guest sees them in this order: `vda` is what it starts from, `vdb` its seed; in rescue its own is `vdc`. */
function disks({ spec, files }: Launch): string[] {
  const own = writableDisk('disk0', files.disk);
  if (spec.boot !== 'rescue') return [...device(own, 'bootindex=1'), ...device(seed(files.seed))];
  const rescue = writableDisk('rescue0', files.rescueDisk);
  return [rescue, seed(files.rescueSeed), own].flatMap((each) => device(each));
}

interface BlockNode {
  'node-name': string;
}

function device(node: BlockNode, ...properties: string[]): string[] {
  const name = node['node-name'];
  const device = ['virtio-blk-pci', `id=${name}-device`, `drive=${name}`, ...properties].join(',');
  return ['-blockdev', JSON.stringify(node), '-device', device];
}

function writableDisk(name: string, filename: string): BlockNode {
  const file = { driver: 'file', filename, discard: 'unmap' };
  const format = { driver: 'qcow2', file, discard: 'unmap', 'detect-zeroes': 'unmap' };
  return { 'node-name': name, ...format };
}

function seed(filename: string): BlockNode {
  const file = { driver: 'file', filename };
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
