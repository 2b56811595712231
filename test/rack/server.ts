import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type RunningProgram, runProgram, startProgram } from '../../src/platform/host/program.ts';
import { pathIn, programIn, surroundings } from '../unpacked.ts';

/** A server of the rack, as it is built. */
export interface ServerParts {
  disks: Disk[];
  memoryMib?: number;
  /** QEMU's arguments for its network: cards and what they hang on. */
  network: string[];
  firmware?: { kind: 'bios' } | { kind: 'uefi'; code: string; variables: string };
  serial?: string;
  uuid?: string;
}

export interface Disk {
  serial: string;
  kind: 'nvme' | 'sata';
  mib: number;
  /** Its writes fail, as those of a worn-out drive do. */
  refusesWrites?: boolean;
}

/** What stands in for a server: its power, its serial line, its disks. */
export interface Server {
  /** Presses the switch. `direct` starts a kernel without any firmware's choice. */
  on(direct?: { kernel: string; initrd: string; commandLine: string }): void;
  /** What starts it where something else has its power: with its serial line at a socket, and its own side of its BMC at a port of this host. */
  commandLine(serialSocket: string, guestPort: number): string[];
  /** Takes the power, at once. */
  off(): Promise<void>;
  /** Everything that its serial line has said. */
  said(): string;
  onSaid(listener: (chunk: string) => void): void;
  type(text: string): void;
  /** Pulls a disk, or puts it back; while the power is off. */
  pull(serial: string, pulled: boolean): void;
  /** The bytes of a disk, as a file to look into; while the power is on, what its system has made sure of. */
  rawDisk(serial: string): Promise<string>;
  /** Writes a pattern onto a disk, as what somebody left there. `at` and `bytes` are as qemu-io takes them. */
  leaveBehind(serial: string, pattern: number, at: string, bytes: string): Promise<void>;
}

/** By UEFI the firmware's own driver is used, which it has for this card. */
export const cardOf = { bios: 'e1000e', uefi: 'virtio-net-pci,romfile=' } as const;

/** Firmware of UEFI, with a memory of its own in `dir`. */
export async function ovmf(dir: string, tree: string) {
  const variables = join(dir, 'vars.fd');
  await copyFile(pathIn(tree, 'usr/share/OVMF/OVMF_VARS_4M.fd'), variables);
  return { kind: 'uefi' as const, code: pathIn(tree, 'usr/share/OVMF/OVMF_CODE_4M.fd'), variables };
}

/** Builds a server with empty disks, whose files are kept in `dir`; `tree` has the programs that this host lacks. */
export async function buildServer(dir: string, tree: string, parts: ServerParts): Promise<Server> {
  await mkdir(dir, { recursive: true });
  const env = surroundings(tree);
  const fileOf = (serial: string) => join(dir, `${serial}.qcow2`);
  const image = (args: string[]) => runProgram([programIn(tree, 'qemu-img'), ...args], { env });
  for (const { serial, mib } of parts.disks)
    await image(['create', '-q', '-f', 'qcow2', fileOf(serial), `${mib}M`]);

  const pulled = new Set<string>();
  const listeners: ((chunk: string) => void)[] = [];
  let heard = '';
  let running: RunningProgram | null = null;
  return {
    commandLine: (serialSocket, guestPort) => [
      programIn(tree, 'qemu-system-x86_64'),
      ...chassis(parts),
      ...['-chardev', `socket,id=s0,path=${serialSocket},reconnect=1`, '-device', 'isa-serial,chardev=s0'],
      ...['-chardev', `socket,id=ipmi0,host=127.0.0.1,port=${guestPort},reconnect=2`],
      ...['-device', 'ipmi-bmc-extern,id=bmc0,chardev=ipmi0', '-device', 'isa-ipmi-kcs,bmc=bmc0'],
      ...diskArguments(parts.disks, fileOf),
      ...parts.network,
    ],
    on(direct) {
      if (running) throw new Error('it is on');
      const disks = parts.disks.filter((disk) => !pulled.has(disk.serial));
      const boot = direct
        ? ['-kernel', direct.kernel, '-initrd', direct.initrd, '-append', direct.commandLine]
        : [];
      const argv = [
        programIn(tree, 'qemu-system-x86_64'),
        ...['-serial', 'stdio'],
        ...chassis(parts),
        ...diskArguments(disks, fileOf),
      ];
      running = startProgram([...argv, ...parts.network, ...boot], { env });
      running.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        heard += chunk;
        for (const listener of listeners) listener(chunk);
      });
      running.ended.catch((error: Error) => {
        // Taking its power ends it so as well.
        if (!error.message.includes('ended with null')) heard += `\n${error.message}\n`;
      });
    },
    async off() {
      running?.kill();
      await running?.ended.catch(() => undefined);
      running = null;
    },
    said: () => heard,
    onSaid: (listener) => void listeners.push(listener),
    type: (text) => void running?.stdin.write(text),
    pull: (serial, isPulled) => void (isPulled ? pulled.add(serial) : pulled.delete(serial)),
    async rawDisk(serial) {
      const raw = join(dir, `${serial}.raw`);
      await image(['convert', '--force-share', '-f', 'qcow2', '-O', 'raw', fileOf(serial), raw]);
      return raw;
    },
    async leaveBehind(serial, pattern, at, bytes) {
      const command = `write -P ${pattern} ${at} ${bytes}`;
      await runProgram([programIn(tree, 'qemu-io'), '-c', command, fileOf(serial)], { env });
    },
  };
}

function chassis({
  memoryMib = 768,
  firmware = { kind: 'bios' },
  serial = 'R1-0001',
  uuid = 'a1234567-89ab-cdef-a123-456789abcdef',
}: ServerParts): string[] {
  const uefi =
    firmware.kind === 'uefi'
      ? [
          ...['-drive', `if=pflash,format=raw,readonly=on,file=${firmware.code}`],
          ...['-drive', `if=pflash,format=raw,file=${firmware.variables}`],
        ]
      : [];
  return [
    ...['-M', 'q35', '-nodefaults', '-display', 'none', '-vga', 'none'],
    ...['-accel', 'tcg,thread=multi,tb-size=256', '-cpu', 'max,la57=off', '-smp', '2', '-m', `${memoryMib}`],
    ...['-uuid', uuid],
    ...['-smbios', `type=1,manufacturer=Example,product=R1,serial=${serial}`, '-boot', 'reboot-timeout=1000'],
    ...uefi,
  ];
}

function diskArguments(disks: Disk[], fileOf: (serial: string) => string): string[] {
  return disks.flatMap(({ serial, kind, refusesWrites }, index) => {
    const id = `d${index}`;
    const file = `driver=qcow2,node-name=${id},discard=unmap,file.driver=file,file.filename=${fileOf(serial)}`;
    const broken = `driver=blkdebug,node-name=${id},image.driver=qcow2,image.file.driver=file`;
    const failing = `inject-error.0.event=none,inject-error.0.iotype=write,inject-error.0.errno=5`;
    const device =
      kind === 'nvme'
        ? `nvme,drive=${id},serial=${serial},bootindex=${index + 2}`
        : `ide-hd,drive=${id},serial=${serial},bus=ide.${index},bootindex=${index + 2}`;
    const block = refusesWrites ? `${broken},image.file.filename=${fileOf(serial)},${failing}` : file;
    return ['-blockdev', block, '-device', device];
  });
}
