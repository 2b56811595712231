import { HypervisorError, type MachineId, type MachineSpec } from '../contract.ts';
import { asList, asText, onMember } from './client.ts';
import { calling, unlessAbsent } from './failure.ts';
import { surePower } from './instances.ts';
import { instancePath, notesIn, profileName, profileOf } from './machine.ts';
import type { Parts } from './parts.ts';

/** Names of what a machine's disk is exchanged with. */
const fresh = (id: MachineId) => `rebuilt-${id}-of-innkeeper`;
const former = (id: MachineId) => `former-${id}-of-innkeeper`;

/** Everything that a rebuild may have left beside the machine's own instance. */
export function besides(id: MachineId): string[] {
  return [fresh(id), former(id)];
}

/** Makes the machine's disk anew from its image. */
export function rebuildDisk(parts: Parts, spec: MachineSpec): Promise<void> {
  return exchangeDisk(parts, spec, async (name, member, { fingerprint }) => {
    const wanted = {
      ...{ name, type: 'virtual-machine', profiles: [profileName(spec.id)] },
      source: { type: 'image', fingerprint },
    };
    await parts.client.change('POST', '/1.0/instances', wanted, { query: onMember(member) });
  });
}

/** Makes an instance of this name, with the machine's profile, on the member that has the machine. */
type Making = (name: string, member: string | null, image: { fingerprint: string }) => Promise<void>;

/**
 * The new disk is made under another name, and takes the machine's last: until then the old one is there as it was, and after a
 * crash in between, the same call goes on where it was.
 */
export async function exchangeDisk(
  { client, options, images, instances }: Parts,
  spec: MachineSpec,
  make: Making,
): Promise<void> {
  const image = await images.find(spec.image);
  await client.settled(spec.id);
  await finishExchange();
  const there = await instances.find(spec.id);
  const profile = await instances.profile(spec.id);
  if (!there || !profile)
    throw new HypervisorError('machine_absent', `no machine ${spec.id} in this cluster`, { permanent: true });
  if (surePower(there) === 'running')
    throw new HypervisorError('not_stopped', `${spec.id} must be stopped for this`, { permanent: true });
  for (const name of besides(spec.id)) await remove(name);
  const notes = { ...notesIn(profile), image: spec.image };
  await instances.writeProfile(spec.id, profileOf(options, spec, image, notes));
  await calling('disk_failed', make(fresh(spec.id), there.member, image));
  for (const name of await snapshotsOf(spec.id))
    await calling(
      'disk_failed',
      unlessAbsent(client.change('DELETE', `${instancePath(spec.id)}/snapshots/${name}`)),
    );
  await rename(spec.id, former(spec.id));
  await rename(fresh(spec.id), spec.id);
  await remove(former(spec.id));

  async function finishExchange(): Promise<void> {
    if ((await instances.find(spec.id)) !== null) return;
    for (const name of besides(spec.id)) {
      if ((await client.find(instancePath(name))) === null) continue;
      return rename(name, spec.id);
    }
  }

  async function snapshotsOf(id: MachineId): Promise<string[]> {
    const all = asList(await client.read(`${instancePath(id)}/snapshots`, { recursion: '1' }), 'snapshots');
    return all.map((each) => asText(each.name, 'the name of a snapshot').split('/').at(-1) ?? '');
  }

  async function rename(from: string, to: string): Promise<void> {
    await calling('disk_failed', client.change('POST', instancePath(from), { name: to }));
  }

  async function remove(name: string): Promise<void> {
    await calling('disk_failed', unlessAbsent(client.change('DELETE', instancePath(name))));
  }
}
