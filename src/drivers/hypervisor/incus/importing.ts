import { tarArchive } from '../../debian/index.ts';
import { HypervisorError, type MachineId, type MachineSpec } from '../contract.ts';
import { formBody } from '../formats/form.ts';
import type { PortableDisk } from '../portable.ts';
import { asList, asText, asTexts, onMember } from './client.ts';
import { calling, unlessAbsent } from './failure.ts';
import { instancePath, notesIn, profileName, profileOf, withNotes } from './machine.ts';
import type { Parts } from './parts.ts';

/** In the properties of an image that is no operating system but a machine's disk on its way into the cluster. */
const passing = 'innkeeper.disk-of';

/**
 * Makes a machine of a disk that another engine has had. The engine takes disks as images alone, so it is one until the machine is made. The
 * machine counts as whole once all of it is there; what an attempt before has left goes when it begins.
 */
export async function importMachine(
  parts: Parts,
  spec: MachineSpec,
  member: string,
  disk: PortableDisk,
): Promise<void> {
  const { client, options, instances, images } = parts;
  const image = await images.find(spec.image);
  await client.settled(spec.id);
  const [there, known] = await Promise.all([instances.find(spec.id), instances.profile(spec.id)]);
  if (there && known && notesIn(known).isWhole) return;
  if (there) await calling('disk_failed', unlessAbsent(client.change('DELETE', instancePath(spec.id))));
  const identity = disk.identity && { ...disk.identity, guest: image.guest };
  const notes = { identity, seed: null, image: spec.image, isWhole: false };
  const profile = profileOf(options, spec, image, notes);
  await instances.writeProfile(spec.id, profile);
  await sweepPassing(parts, spec.id);
  const fingerprint = await upload(parts, spec.id, disk);
  const wanted = {
    ...{ name: spec.id, type: 'virtual-machine', profiles: [profileName(spec.id)] },
    source: { type: 'image', fingerprint },
  };
  const making = client.change('POST', '/1.0/instances', wanted, {
    query: onMember(member),
    timeoutMs: makeMs,
  });
  await calling('disk_failed', making);
  if (!(await instances.find(spec.id)))
    throw new HypervisorError('disk_failed', `${spec.id} did not come to be`);
  await sweepPassing(parts, spec.id);
  await instances.writeProfile(spec.id, withNotes(spec.id, profile, { ...notes, isWhole: true }));
}

/** Unpacking a large disk, and bringing it to the member before, takes its time. */
const makeMs = 6 * 3_600_000;

/** Takes away what a machine's disk was on its way; none: succeeds. */
export async function sweepPassing({ client }: Pick<Parts, 'client'>, id: MachineId): Promise<void> {
  for (const fingerprint of await passingOf({ client }, id))
    await calling('disk_failed', unlessAbsent(client.change('DELETE', `/1.0/images/${fingerprint}`)));
}

async function passingOf({ client }: Pick<Parts, 'client'>, id: MachineId): Promise<string[]> {
  const all = asList(await client.read('/1.0/images', { recursion: '1' }), 'images');
  return all
    .filter(({ properties }) => asTexts(properties, 'properties of an image')[passing] === id)
    .map((each) => asText(each.fingerprint, 'a fingerprint'));
}

async function upload({ client }: Parts, id: MachineId, disk: PortableDisk): Promise<string> {
  const properties = { [passing]: id, description: `the disk of ${id} on its way` };
  // JSON is YAML too.
  const facts = JSON.stringify({ architecture: 'x86_64', creation_date: 1, properties });
  const metadata = tarArchive([{ path: 'metadata.yaml', content: facts }]);
  const form = await formBody([
    { name: 'metadata', filename: 'metadata.tar', content: metadata },
    { name: 'rootfs.img', filename: 'disk.qcow2', content: disk },
  ]);
  await calling('disk_failed', client.upload('/1.0/images', form, { 'content-type': form.type }));
  const [fingerprint] = await passingOf({ client }, id);
  if (fingerprint !== undefined) return fingerprint;
  throw new HypervisorError('disk_failed', `the disk of ${id} was sent to the cluster and is not there`);
}
