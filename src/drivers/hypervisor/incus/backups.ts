import { HypervisorError, type MachineId, type MachineSpec } from '../contract.ts';
import type { SnapshotFacts } from '../management.ts';
import { asList, asRecord, asText, onMember } from './client.ts';
import { calling, unlessAbsent, unreachable } from './failure.ts';
import { type Instance, surePower } from './instances.ts';
import { factsOf, instanceOfBackup, type Kept, keptInstances } from './kept.ts';
import {
  bytesOfRoot,
  checkInstanceName,
  instancePath,
  notesIn,
  profileName,
  profileOf,
  withNotes,
} from './machine.ts';
import type { Parts } from './parts.ts';
import { exchangeDisk } from './rebuild.ts';

export interface Backups {
  create(id: MachineId, name: string): Promise<SnapshotFacts>;
  restore(spec: MachineSpec, name: string): Promise<void>;
  delete(id: MachineId, name: string): Promise<void>;
  list(id: MachineId): Promise<SnapshotFacts[]>;
  /** Makes a machine on a member from a backup of another one. */
  recover(spec: MachineSpec, member: string, backup: { of: MachineId; name: string }): Promise<void>;
  /** Backups of one machine are another's from now on. */
  handOver(from: MachineId, to: MachineId): Promise<void>;
  /** Takes away all that is kept of a machine. */
  removeAll(id: MachineId): Promise<void>;
}

/** A large disk takes its time over a slow wire. */
const copyMs = 6 * 3_600_000;
/** What of a member's pool no backup may take. */
const reserve = 1 / 20;

/** A snapshot of a machine that is ours for a moment: what a backup is copied from. */
const source = 'kept-by-innkeeper';

export function isPassing(name: string): boolean {
  return name === source;
}

/**
 * A backup is a whole copy of the disk, as an instance that is never started, on another member than the machine where there is one: it is
 * there when the machine's own is not.
 */
export function instanceBackups(parts: Parts): Backups {
  const { client, instances, images, options } = parts;
  const kept = keptInstances(options, client);

  async function mustExist(id: MachineId): Promise<Instance> {
    checkInstanceName(id);
    const found = await instances.find(id);
    if (found) return found;
    throw new HypervisorError('machine_absent', `no machine ${id} in this cluster`, { permanent: true });
  }

  async function mustBeKept(id: MachineId, name: string): Promise<Kept> {
    const found = await kept.find(id, name);
    const place = found?.isWhole ? await kept.placeOf(found) : null;
    if (found === null || place === null)
      throw new HypervisorError('snapshot_absent', `${id} has no backup ${name}`, { permanent: true });
    const { member } = place;
    if (member !== null && !(await onlineMembers()).includes(member))
      throw unreachable(
        `the backup ${name} of ${id} is on ${member}, which does not answer`,
        undefined,
        true,
      );
    return found;
  }

  async function onlineMembers(): Promise<string[]> {
    const all = asList(await client.read('/1.0/cluster/members', { recursion: '1' }), 'members');
    return all
      .filter(({ status }) => status === 'Online')
      .map((each) => asText(each.server_name, 'the name of a member'));
  }

  /** The member with the most room, another than the machine's where there is one; null in a cluster of one. */
  async function memberWithRoom(machine: Instance, bytes: number): Promise<string | null> {
    const online = machine.member === null ? [null] : await onlineMembers();
    const others = online.filter((each) => each !== machine.member);
    const rooms = await Promise.all((others.length > 0 ? others : [machine.member]).map(roomOf));
    const [most] = rooms.sort((one, other) => other.free - one.free);
    if (most === undefined || most.free - bytes < most.total * reserve)
      throw new HypervisorError('no_space', 'The cluster has no room left for a backup');
    return most.member;
  }

  async function roomOf(member: string | null) {
    const path = `/1.0/storage-pools/${encodeURIComponent(options.pool)}/resources`;
    const { space } = asRecord(await client.read(path, onMember(member)), 'resources of the pool');
    const { total, used } = asRecord(space, 'room of the pool');
    if (typeof total !== 'number' || typeof used !== 'number')
      throw unreachable('the cluster does not say how large it is');
    return { member, total, free: total - used };
  }

  const snapshotPath = (id: MachineId, name: string) => `${instancePath(id)}/snapshots/${name}`;
  const dropSnapshot = (id: MachineId, name: string) =>
    calling('snapshot_failed', unlessAbsent(client.change('DELETE', snapshotPath(id, name))));

  async function takeSnapshot(id: MachineId, name: string): Promise<void> {
    await dropSnapshot(id, name);
    const wanted = { name, stateful: false };
    await calling('snapshot_failed', client.change('POST', `${instancePath(id)}/snapshots`, wanted));
  }

  /** What it is copied from may be on a member of another one, and the engine asks whoever wants a copy. */
  async function architectureOf(from: string): Promise<string> {
    const [instance = ''] = from.split('/');
    const found = asRecord(await client.read(instancePath(instance)), 'an instance');
    return asText(found.architecture, 'the architecture of an instance');
  }

  /** Copies a disk, whole and without what was kept of it. Nothing of the settings of the one that it is copied from comes along. */
  async function copy(from: string, to: { name: string; profile: string; member: string | null }) {
    const wanted = {
      architecture: await architectureOf(from),
      ...{ name: to.name, type: 'virtual-machine', profiles: [to.profile], config: {}, devices: {} },
      source: { type: 'copy', source: from, instance_only: true },
    };
    const query = onMember(to.member);
    await client.change('POST', '/1.0/instances', wanted, { query, timeoutMs: copyMs });
    await leaveDevicesToProfile(to.name);
  }

  /**
   * The engine gives a copy a disk device of its own, without what our profile says of it (its bus, by which guests find their root). All
   * that an instance has is sent back but for that, its volatile settings too: what a PUT leaves out is gone.
   */
  async function leaveDevicesToProfile(name: string): Promise<void> {
    const found = asRecord(await client.read(instancePath(name)), 'an instance');
    if (Object.keys(asRecord(found.devices ?? {}, 'devices of an instance')).length === 0) return;
    const { architecture, config, ephemeral, profiles, stateful, description } = found;
    const whole = { architecture, config, ephemeral, profiles, stateful, description, devices: {} };
    await client.change('PUT', instancePath(name), whole);
  }

  async function keep(machine: Instance, name: string) {
    const { id } = machine;
    const sizeBytes = bytesOfRoot((await instances.profile(id)) ?? { config: {}, devices: {} });
    const instance = instanceOfBackup(id, name);
    const half = { instance, of: id, name, at: new Date(), sizeBytes, isWhole: false };
    await kept.remove(half); // what an attempt before has left
    const member = await memberWithRoom(machine, sizeBytes);
    await kept.note(half);
    try {
      await takeSnapshot(id, source);
      await calling(
        'snapshot_failed',
        copy(`${id}/${source}`, { name: instance, profile: instance, member }),
      );
      const whole = { ...half, isWhole: true };
      if ((await kept.placeOf(whole)) === null)
        throw new HypervisorError('snapshot_failed', `the backup ${name} of ${id} did not come to be`);
      await kept.note(whole);
      return { kept: whole, member };
    } catch (error) {
      await kept.remove(half).catch(() => undefined); // it may be away altogether; the next attempt begins so
      throw error;
    } finally {
      await dropSnapshot(id, source).catch(() => undefined);
    }
  }

  /** The engine has no way to write over a disk and leave its snapshots. */
  async function mustHaveNoSnapshots(id: MachineId): Promise<void> {
    const all = asList(await client.read(`${instancePath(id)}/snapshots`, { recursion: '1' }), 'snapshots');
    const own = all.map((each) => asText(each.name, 'the name of a snapshot').split('/').at(-1) ?? '');
    if (own.every(isPassing)) return;
    throw new HypervisorError(
      'not_possible',
      `${id} has snapshots, which would go with the disk that they are of`,
      {
        permanent: true,
      },
    );
  }

  /** The disk came with the size that it had; the engine brings it to that of the profile at the next start. */
  async function grow(id: MachineId): Promise<void> {
    const config = { 'volatile.root.apply_quota': 'true' };
    await calling('snapshot_failed', client.change('PATCH', instancePath(id), { config }));
  }

  async function remake(spec: MachineSpec, member: string, from: Kept): Promise<void> {
    const [image, former, known] = await Promise.all([
      images.find(spec.image),
      instances.profile(from.of),
      instances.profile(spec.id),
    ]);
    await client.settled(spec.id);
    const there = await instances.find(spec.id);
    if (there && known && notesIn(known).isWhole) return;
    if (there) await calling('disk_failed', unlessAbsent(client.change('DELETE', instancePath(spec.id))));
    const identity = former && notesIn(former).identity;
    // A guest that finds itself another machine would begin its first boot again.
    const same = identity && { ...identity, instanceId: identity.instanceId ?? from.of };
    const notes = { identity: same, seed: null, image: spec.image, isWhole: false };
    const profile = profileOf(options, spec, image, notes);
    await instances.writeProfile(spec.id, profile);
    await calling(
      'disk_failed',
      copy(from.instance, { name: spec.id, profile: profileName(spec.id), member }),
    );
    await grow(spec.id);
    await instances.writeProfile(spec.id, withNotes(spec.id, profile, { ...notes, isWhole: true }));
  }

  return {
    async create(id, name) {
      const machine = await mustExist(id);
      await client.settled(id);
      const there = await kept.find(id, name);
      const place = there?.isWhole ? await kept.placeOf(there) : null;
      if (there !== null && place !== null) return factsOf(there, place);
      const { kept: made, member } = await keep(machine, name);
      const facts = factsOf(made, { member });
      // Nobody asks the guest to settle: the engine's own agent, which could, is none of ours.
      return surePower(machine) === 'running' ? { ...facts, consistent: false } : facts;
    },
    async restore(spec, name) {
      const machine = await mustExist(spec.id);
      if (surePower(machine) === 'running')
        throw new HypervisorError('not_stopped', `${spec.id} must be stopped for this`, { permanent: true });
      const from = await mustBeKept(spec.id, name);
      await client.settled(spec.id);
      await mustHaveNoSnapshots(spec.id);
      await exchangeDisk(parts, spec, (fresh, member) =>
        copy(from.instance, { name: fresh, profile: profileName(spec.id), member }),
      );
      await grow(spec.id);
    },
    async delete(id, name) {
      checkInstanceName(id);
      const found = await kept.find(id, name);
      if (found !== null) await kept.remove(found);
      else await mustExist(id);
    },
    async list(id) {
      const known = (await kept.of(id)).filter(({ isWhole }) => isWhole);
      if (known.length === 0) await mustExist(id);
      const places = await Promise.all(known.map(kept.placeOf));
      return known.flatMap((each, nth) => {
        const place = places[nth] ?? null;
        return place === null ? [] : [factsOf(each, place)];
      });
    },
    async recover(spec, member, { of, name }) {
      checkInstanceName(spec.id);
      await remake(spec, member, await mustBeKept(of, name));
    },
    async handOver(from, to) {
      for (const each of await kept.of(from)) await kept.note({ ...each, of: to });
    },
    async removeAll(id) {
      for (const each of await kept.of(id)) await kept.remove(each);
    },
  };
}
