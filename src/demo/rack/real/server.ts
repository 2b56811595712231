import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acceleratorArguments } from '../../../drivers/hypervisor/index.ts';
import { runProgram } from '../../../platform/host/program.ts';
import { diskMib, memoryMib, model, type RackServer } from './plan.ts';
import { inShell } from './programs.ts';

/** In the rack's folder where servers run by the CPU itself. */
export const hardwareMark = 'hardware';

/** Builds a server in its folder where it is not there: its disks, and the program that `chassis.sh` calls. Returns that. */
export async function buildServer(folder: string, server: RackServer): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const disk of server.disks) {
    const file = join(folder, `${disk}.qcow2`);
    if (!existsSync(file)) await runProgram(['qemu-img', 'create', '-q', '-f', 'qcow2', file, `${diskMib}M`]);
  }
  const program = join(folder, 'server');
  const words = (argv: string[]) => argv.map(inShell).join(' ');
  const lines = [
    '#!/bin/bash',
    'case $1 in',
    'start)',
    `  accelerator=(${words(acceleratorArguments('emulation'))})`,
    `  [ -e ${inShell(join(folder, '..', hardwareMark))} ] && accelerator=(${words(acceleratorArguments('hardware'))})`,
    `  exec qemu-system-x86_64 "\${accelerator[@]}" ${words(argumentsOf(folder, server))} ;;`,
    'button)',
    `  exec 3<>/dev/tcp/127.0.0.1/${server.ports.monitor} && echo system_powerdown >&3 && timeout 1 cat <&3 >/dev/null || : ;;`,
    'esac',
  ];
  await writeFile(program, `${lines.join('\n')}\n`, { mode: 0o755 });
  return program;
}

function argumentsOf(folder: string, { serial, uuid, mac, disks, port, ports }: RackServer): string[] {
  const socket = (id: string, at: number) => `socket,id=${id},host=127.0.0.1,port=${at},reconnect=1`;
  return [
    ...['-name', serial, '-M', 'q35', '-nodefaults', '-no-user-config', '-display', 'none', '-vga', 'none'],
    ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
    ...['-smp', '2', '-m', `${memoryMib}`, '-uuid', uuid, '-boot', 'reboot-timeout=1000'],
    ...['-smbios', `type=1,manufacturer=Innkeeper,product=${model},serial=${serial}`],
    ...['-chardev', socket('line', ports.serial), '-device', 'isa-serial,chardev=line'],
    ...['-chardev', socket('bus', ports.bus), '-device', 'ipmi-bmc-extern,id=bmc,chardev=bus'],
    ...['-device', 'isa-ipmi-kcs,bmc=bmc'],
    ...['-monitor', `tcp:127.0.0.1:${ports.monitor},server=on,wait=off`],
    ...['-netdev', `tap,id=net,ifname=${port},script=no,downscript=no`],
    ...['-device', `e1000e,netdev=net,mac=${mac},bootindex=1`],
    ...disks.flatMap((disk, at) => [
      '-blockdev',
      `driver=qcow2,node-name=disk${at},discard=unmap,file.driver=file,file.filename=${quoted(join(folder, `${disk}.qcow2`))}`,
      ...['-device', `nvme,drive=disk${at},serial=${disk},bootindex=${at + 2}`],
    ]),
  ];
}

/** A comma ends a value of QEMU's. */
function quoted(path: string): string {
  return path.replaceAll(',', ',,');
}
