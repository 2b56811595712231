import type { MachineSpec } from '../contract.ts';
import { growDisk, importDisk, writeNotes } from './create.ts';
import { calling } from './failure.ts';
import { machinePath } from './listed.ts';
import { differing, settingsOf } from './machine.ts';
import type { Parts } from './parts.ts';
import type { Snapshots } from './snapshots.ts';

/**
 * The new disk takes the old one's place once all of it is there, and the old one stays as an unused one for so long: when that fails,
 * the machine is as before. Snapshots are of the old one and go after that, then the old one itself; the same call goes on where it was.
 */
export async function rebuildDisk(parts: Parts, snapshots: Snapshots, spec: MachineSpec): Promise<void> {
  const { client, images, machines, options } = parts;
  const machine = await parts.mustBeOff(spec.id);
  await client.settled(machine.node, machine.vmid);
  const image = await images.find(machine.node, spec.image);
  await importDisk(parts, machine, image);
  await snapshots.deleteAll(machine);
  const swapped = await machines.must(spec.id);
  const unused = Object.keys(swapped.config).filter((name) => /^unused\d+$/.test(name));
  if (unused.length > 0) {
    const gone = { idlist: unused.join(','), force: true };
    await calling('disk_failed', client.change('PUT', `${machinePath(swapped)}/unlink`, gone));
  }
  await growDisk(parts, swapped, spec.diskGib);
  await writeNotes(
    parts,
    swapped,
    { image: spec.image },
    differing(swapped.config, settingsOf(options, spec)),
  );
}
