import { setTimeout as delay } from 'node:timers/promises';
import { serially } from '../../serially.ts';
import { aliveness } from '../aliveness.ts';
import { type HypervisorCapability, requireCapability } from '../capabilities.ts';
import type { Cluster } from '../cluster.ts';
import {
  type Deadline,
  type Hypervisor,
  HypervisorError,
  type MachineId,
  type MachineSpec,
} from '../contract.ts';
import { nextIdentity } from '../qemu/publicIdentity.ts';
import { waitForSsh } from '../qemu/ready.ts';
import type { PublicIdentity } from '../qemu/seed.ts';
import { checkCopyName, checkIdentity, checkSpec } from '../spec.ts';
import { instanceBackups } from './backups.ts';
import { incusClient, onMember } from './client.ts';
import { clusterFacts } from './cluster.ts';
import { calling, IncusRefusal, unlessAbsent, unreachable } from './failure.ts';
import { clusterImages } from './images.ts';
import { importMachine, sweepPassing } from './importing.ts';
import { clusterInstances, type Instance, surePower } from './instances.ts';
import {
  bytesOfRoot,
  checkInstanceName,
  instancePath,
  type Notes,
  nicOf,
  notesIn,
  profileName,
  profileOf,
  seedDevice,
  withNotes,
} from './machine.ts';
import { incusManagement } from './management.ts';
import { moveInstance } from './move.ts';
import type { IncusOptions } from './options.ts';
import { powerWatch } from './power.ts';
import { besides } from './rebuild.ts';
import { seedVolumes } from './seeds.ts';

/**
 * Screens speak SPICE here, which none of our viewers does; in guests the engine asks an agent of its own; rescue and starts from the network are not made of its parts yet; a running disk does not grow.
 */
const capabilities: readonly HypervisorCapability[] = ['snapshots', 'backups', 'serial'];
const forcedMs = 60_000;

/** Runs machines on an Incus cluster, in a project that is ours alone, over its REST API; new ones on `options.member`. */
export function incusHypervisor(options: IncusOptions): Hypervisor {
  return incusParts(options).on(options.member);
}

/** The same as a cluster of hosts, which are asked over the same connections. */
export function incusCluster(options: IncusOptions): Cluster {
  const { on, cluster, powers, ...whole } = incusParts(options);
  const { capabilities: able, ensureImage, list, sample, watch, close } = on(null);
  return {
    kind: 'incus',
    capabilities: able,
    moves: ['cold'],
    look: () => cluster.look(),
    nodes: () => cluster.members(),
    on,
    ensureImage,
    ...whole,
    list,
    sample,
    watch,
    close,
    listen: () => powers.listen(),
  };
}

function incusParts(options: IncusOptions) {
  const client = incusClient(options);
  const images = clusterImages(options, client);
  const instances = clusterInstances(client);
  const seeds = seedVolumes(options, client);
  const cluster = clusterFacts(options, client);
  const oneAtATime = serially();
  const engine = { kind: 'incus', capabilities };
  const powers = powerWatch({
    client,
    log: options.log,
    powers: async () => new Map((await instances.list()).map(({ id, power }) => [id, power])),
  });

  const parts = { options, client, cluster, engine, images, instances, seeds, oneAtATime, replaceSeed };
  const backups = instanceBackups(parts);
  const { endConsoles, close: closeConsoles, ...management } = incusManagement(parts);
  powers.watch(({ id, power }) => {
    if (power === 'stopped') endConsoles(id);
  });

  async function mustExist(id: MachineId): Promise<Instance> {
    checkInstanceName(id);
    return (await instances.find(id)) ?? fail(absent(id));
  }

  async function notes(id: MachineId): Promise<Notes | null> {
    const profile = await instances.profile(id);
    return profile && notesIn(profile);
  }

  async function createDisk(spec: MachineSpec, member: string | null): Promise<void> {
    const image = await images.find(spec.image);
    await client.settled(spec.id);
    const there = await instances.find(spec.id);
    const before = await notes(spec.id);
    if (there && before?.isWhole) return;
    // Half of a disk that nobody has used yet.
    if (there) await calling('disk_failed', unlessAbsent(client.change('DELETE', instancePath(spec.id))));
    const known = { identity: null, seed: null, ...before, image: spec.image, isWhole: false };
    const profile = profileOf(options, spec, image, known);
    await instances.writeProfile(spec.id, profile);
    const wanted = {
      name: spec.id,
      type: 'virtual-machine',
      source: { type: 'image', fingerprint: image.fingerprint },
      profiles: [profileName(spec.id)],
    };
    const query = onMember(member);
    await calling('disk_failed', client.change('POST', '/1.0/instances', wanted, { query }));
    if (!(await instances.find(spec.id)))
      throw new HypervisorError('disk_failed', `${spec.id} did not come to be`);
    await instances.writeProfile(spec.id, withNotes(spec.id, profile, { ...known, isWhole: true }));
  }

  /** Gives the guest another seed for its next boot; one that runs has its own at once exchanged for it. */
  async function replaceSeed(id: MachineId, known: PublicIdentity, seed: string): Promise<void> {
    const profile = await instances.profile(id);
    if (profile === null) throw absent(id);
    const isPlugged = profile.devices.seed !== undefined;
    const devices = isPlugged ? { ...profile.devices, seed: seedDevice(options, seed) } : profile.devices;
    const next = { ...notesIn(profile), identity: known, seed };
    await instances.writeProfile(id, withNotes(id, { ...profile, devices }, next));
    await seeds.sweep(id, [seed]);
  }

  async function start(spec: MachineSpec): Promise<void> {
    const [there, profile] = await Promise.all([instances.find(spec.id), instances.profile(spec.id)]);
    if (!there || !profile) throw absent(spec.id);
    const known = notesIn(profile);
    if (!known.isWhole || known.seed === null) throw absent(spec.id);
    if (surePower(there) === 'running') {
      const devices = { ...profile.devices, eth0: nicOf(options, spec) };
      return instances.writeProfile(spec.id, { ...profile, devices });
    }
    const image = await images.find(spec.image);
    // What grew stays as large as it is, whoever asks with an older size.
    const diskGib = Math.max(spec.diskGib, bytesOfRoot(profile) / 2 ** 30);
    await instances.writeProfile(spec.id, profileOf(options, { ...spec, diskGib }, image, known));
    const starting = client.change('PUT', `${instancePath(spec.id)}/state`, { action: 'start' });
    const failure = await calling('start_failed', starting).then(
      () => new HypervisorError('machine_died', `${spec.id} was started and does not run`),
      (error: unknown) => error,
    );
    if (!(await isRunning(spec.id))) throw failure;
    powers.did(spec.id, 'running');
  }

  async function isRunning(id: MachineId): Promise<boolean> {
    const found = await instances.find(id);
    return found !== null && surePower(found) === 'running';
  }

  async function powerOff(id: MachineId): Promise<void> {
    const stop = { action: 'stop', force: true };
    const stopping = client.change('PUT', `${instancePath(id)}/state`, stop, { timeoutMs: forcedMs });
    const failure = await stopping.then(
      () => unreachable(`the cluster says that it stopped ${id}, and ${id} still runs`),
      (error: unknown) => error,
    );
    if (await isRunning(id)) throw failure;
    powers.did(id, 'stopped');
  }

  async function destroy(id: MachineId): Promise<void> {
    const profile = await instances.profile(id);
    if (profile === null) return;
    await client.settled(id);
    if (await isRunning(id)) await powerOff(id);
    for (const name of [id, ...besides(id)])
      await calling('disk_failed', unlessAbsent(client.change('DELETE', instancePath(name))));
    await backups.removeAll(id);
    await sweepPassing(parts, id);
    const { seed: _, ...devices } = profile.devices;
    await instances.writeProfile(id, { ...profile, devices });
    await seeds.sweep(id, []);
    // The profile goes last: until then the machine is still listed, and destroying it can be repeated.
    await unlessAbsent(client.change('DELETE', `/1.0/profiles/${profileName(id)}`));
  }

  const on = (member: string | null): Hypervisor => ({
    ...management,
    ...engine,

    async prepare(progress) {
      progress('Looking at the Incus cluster');
      await cluster.check();
      await powers.listen();
    },
    capacity: () => cluster.capacity(member),
    troubles: () => cluster.troubles(member),
    /** Packet rules are the engine's own, and nobody's of ours to put back. */
    mend: async () => undefined,
    ensureImage: (image, progress) => images.ensure(image, progress),

    async createDisk(spec) {
      checkSpec(spec);
      checkInstanceName(spec.id);
      await oneAtATime(spec.id, () => createDisk(spec, member));
    },

    async writeIdentity(spec, identity) {
      checkSpec(spec);
      checkInstanceName(spec.id);
      checkIdentity(identity);
      if (spec.boot === 'rescue') requireCapability(engine, 'rescue');
      const image = await images.find(spec.image);
      await oneAtATime(spec.id, async () => {
        const before = await notes(spec.id);
        if (before === null) throw absent(spec.id);
        const known = nextIdentity(before.identity, { ...identity, guest: image.guest, nic: spec.nic });
        const member = (await instances.find(spec.id))?.member ?? null;
        const seed = await seeds.write(spec.id, member, known, identity);
        await replaceSeed(spec.id, known, seed);
      });
    },

    async forgetSecrets(id) {
      checkInstanceName(id);
      await oneAtATime(id, async () => {
        const known = await notes(id);
        if (!known?.identity || known.seed === null) return;
        // The call before may have failed after the exchange, with all that it was to take away still there.
        if (!seeds.isSecret(known.seed)) return seeds.sweep(id, [known.seed]);
        const member = (await instances.find(id))?.member ?? null;
        await replaceSeed(id, known.identity, await seeds.write(id, member, known.identity, null));
      });
    },

    async start(spec) {
      checkSpec(spec);
      checkInstanceName(spec.id);
      if (spec.boot === 'rescue') requireCapability(engine, 'rescue');
      if (spec.boot === 'network') requireCapability(engine, 'netboot');
      await oneAtATime(spec.id, () => start(spec));
    },

    async waitUntilReady(spec, deadline) {
      await mustExist(spec.id);
      const [first] = spec.nic.addresses;
      if (!first)
        throw new HypervisorError('spec_invalid', 'a machine without an address', { permanent: true });
      await waitForSsh(
        first.address,
        deadline,
        aliveness(() => isRunning(spec.id)),
      );
      if (!(await isRunning(spec.id)))
        throw new HypervisorError('machine_died', 'the machine ended before it was ready');
    },

    async shutdown(id, deadline) {
      if (surePower(await mustExist(id)) === 'stopped') return;
      await powers.quietly(id, () => shutDown(id, deadline));
    },

    async powerOff(id) {
      if (surePower(await mustExist(id)) === 'running') await powerOff(id);
      else powers.did(id, 'stopped');
    },

    /** One that is stopped has nothing in the engine's network. */
    async unplug(id) {
      if (surePower(await mustExist(id)) !== 'running') return;
      throw new HypervisorError('not_stopped', `${id} must be stopped for this`, { permanent: true });
    },

    async reset(id) {
      if (surePower(await mustExist(id)) === 'stopped')
        throw new HypervisorError('not_running', `${id} is not running`);
      const again = { action: 'restart', force: true };
      const path = `${instancePath(id)}/state`;
      await powers.quietly(id, () => calling('start_failed', client.change('PUT', path, again)));
      endConsoles(id);
    },

    async destroy(id) {
      checkInstanceName(id);
      await oneAtATime(id, () => destroy(id));
    },

    async inspect(id) {
      checkInstanceName(id);
      const [report, known] = await Promise.all([instances.report(id), notes(id)]);
      if (!known?.identity) return report;
      return { ...report, addresses: known.identity.nic.addresses.map(({ address }) => address) };
    },
    list: () => instances.list(),
    watch: (listener) => powers.watch(listener),
    async close() {
      powers.close();
      closeConsoles();
      client.close();
    },
  });
  const move = (id: MachineId, member: string, how: { live: boolean }) =>
    oneAtATime(id, () => powers.quietly(id, () => moveInstance(parts, id, member, how)));
  const recover: Cluster['recover'] = async (spec, member, backup) => {
    checkSpec(spec);
    checkCopyName(backup.name);
    await oneAtATime(spec.id, () => backups.recover(spec, member, backup));
  };
  const handOver: Cluster['handOver'] = (from, to) => oneAtATime(to, () => backups.handOver(from, to));
  const take: Cluster['importMachine'] = async (spec, member, disk) => {
    checkSpec(spec);
    checkInstanceName(spec.id);
    await oneAtATime(spec.id, () => importMachine(parts, spec, member, disk));
  };
  return { on, cluster, powers, move, recover, handOver, importMachine: take };

  async function shutDown(id: MachineId, deadline: Deadline): Promise<void> {
    const stop = { action: 'stop', force: false, timeout: Math.ceil(deadline.timeoutMs / 1_000) };
    const path = `${instancePath(id)}/state`;
    const asked = client.change('PUT', path, stop, { timeoutMs: deadline.timeoutMs + 5_000 });
    const failure = asked.then(
      () => null,
      (error: unknown) => error,
    );
    const late = delay(deadline.timeoutMs, 'late', { signal: deadline.signal });
    const outcome = await Promise.race([failure, late]);
    if (await isRunning(id)) {
      if (outcome !== null && outcome !== 'late' && !(outcome instanceof IncusRefusal)) throw outcome;
      throw new HypervisorError('shutdown_timeout', `${id} still runs after ${deadline.timeoutMs} ms`);
    }
    powers.did(id, 'stopped');
  }
}

export function absent(id: MachineId): HypervisorError {
  return new HypervisorError('machine_absent', `no machine ${id} in this cluster, or not all of it`, {
    permanent: true,
  });
}

function fail(error: HypervisorError): never {
  throw error;
}
