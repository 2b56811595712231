import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import type { MachineId, MachineSpec } from '../contract.ts';
import type { PortableDisk } from '../portable.ts';
import { growDisk, importDisk, type Making, made, writeNotes } from './create.ts';
import { calling } from './failure.ts';
import type { ClusterFiles } from './files.ts';
import { diskBytes, notesIn } from './machine.ts';

/** A machine's disk on its way into the cluster: no image, by its name. */
const fileOf = (id: MachineId) => `innkeeper-disk-of-${id}.qcow2`;

/** Makes a machine of a disk that another engine has had, which lies among the files of its node until all of it is imported. */
export async function importMachine(
  making: Making & { files: ClusterFiles },
  spec: MachineSpec,
  node: string,
  disk: PortableDisk,
): Promise<void> {
  const { options, client, files, machines } = making;
  let machine = await machines.find(spec.id);
  if (machine) await client.settled(machine.node, machine.vmid);
  machine = (machine && (await machines.find(spec.id))) ?? (await made(making, spec, node));
  if (diskBytes(machine.config) === null) {
    const name = fileOf(spec.id);
    await calling('disk_failed', files.send(machine.node, 'import', name, disk, await sha256Of(disk)));
    if (disk.identity && notesIn(machine.config).identity === null) {
      await writeNotes(making, machine, { identity: disk.identity });
      machine = await machines.must(spec.id);
    }
    const volume = `${options.files}:import/${name}`;
    await importDisk(making, machine, { volume, guest: 'cloud-init' }, machine.config.digest);
  }
  await sweepPassing(files, machine);
  await growDisk(making, await machines.must(spec.id), spec.diskGib);
}

/** Takes away what a machine's disk was on its way; none: succeeds. */
export async function sweepPassing(
  files: ClusterFiles,
  { id, node }: { id: MachineId; node: string },
): Promise<void> {
  const name = fileOf(id);
  if ((await files.names(node, 'import')).includes(name)) await files.remove(node, 'import', name);
}

async function sha256Of(disk: PortableDisk): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(disk.read(), hash);
  return hash.digest('hex');
}
