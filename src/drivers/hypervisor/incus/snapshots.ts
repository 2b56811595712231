import { HypervisorError, type MachineId } from '../contract.ts';
import type { SnapshotFacts } from '../management.ts';
import { isPassing } from './backups.ts';
import { asList, asRecord, asText, asTexts } from './client.ts';
import { calling, unlessAbsent } from './failure.ts';
import { surePower } from './instances.ts';
import { bytesOfRoot, checkInstanceName, instancePath } from './machine.ts';
import type { Parts } from './parts.ts';

export interface Snapshots {
  create(id: MachineId, name: string): Promise<SnapshotFacts>;
  restore(id: MachineId, name: string): Promise<void>;
  delete(id: MachineId, name: string): Promise<void>;
  list(id: MachineId): Promise<SnapshotFacts[]>;
}

/** Snapshots are the engine's own, beside the instance's disk. */
export function instanceSnapshots({ client, instances }: Parts): Snapshots {
  const folder = (id: MachineId) => `${instancePath(id)}/snapshots`;

  async function find(id: MachineId, name: string): Promise<SnapshotFacts | null> {
    const answer = await client.find(`${folder(id)}/${name}`);
    return answer === null ? null : factsOf(answer);
  }

  async function mustExist(id: MachineId) {
    checkInstanceName(id);
    const found = await instances.find(id);
    if (found) return found;
    throw new HypervisorError('machine_absent', `no machine ${id} in this cluster`, { permanent: true });
  }

  return {
    async create(id, name) {
      if (isPassing(name))
        throw new HypervisorError('spec_invalid', `${name} is a name of our own`, { permanent: true });
      const machine = await mustExist(id);
      await client.settled(id);
      const there = await find(id, name);
      if (there) return there;
      await calling('snapshot_failed', client.change('POST', folder(id), { name, stateful: false }));
      const made = await find(id, name);
      if (!made)
        throw new HypervisorError('snapshot_failed', `the snapshot ${name} of ${id} did not come to be`);
      // Nobody asks the guest to settle: the engine's own agent, which could, is none of ours.
      return surePower(machine) === 'running' ? { ...made, consistent: false } : made;
    },
    async restore(id, name) {
      if (surePower(await mustExist(id)) === 'running')
        throw new HypervisorError('not_stopped', `${id} must be stopped for this`, { permanent: true });
      if (!(await find(id, name)))
        throw new HypervisorError('snapshot_absent', `${id} has no ${name}`, { permanent: true });
      await calling('snapshot_failed', client.change('PUT', instancePath(id), { restore: name }));
      // The disk came back with the size that it had; the engine brings it to that of the profile at the next start.
      const grow = { config: { 'volatile.root.apply_quota': 'true' } };
      await calling('snapshot_failed', client.change('PATCH', instancePath(id), grow));
    },
    async delete(id, name) {
      await mustExist(id);
      await client.settled(id);
      await calling('snapshot_failed', unlessAbsent(client.change('DELETE', `${folder(id)}/${name}`)));
    },
    async list(id) {
      await mustExist(id);
      const all = asList(await client.read(folder(id), { recursion: '1' }), 'snapshots').map(factsOf);
      const own = all.filter(({ name }) => !isPassing(name));
      return own.sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime());
    },
  };
}

function factsOf(answer: unknown): SnapshotFacts {
  const snapshot = asRecord(answer, 'a snapshot');
  const devices = asRecord(snapshot.expanded_devices ?? {}, 'devices of a snapshot');
  return {
    name: asText(snapshot.name, 'the name of a snapshot').split('/').at(-1) ?? '',
    sizeBytes: bytesOfRoot({ config: {}, devices: { root: asTexts(devices.root, 'a disk') } }),
    createdAt: new Date(asText(snapshot.created_at, 'the time of a snapshot')),
  };
}
