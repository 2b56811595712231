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
import type { PublicIdentity, Secrets } from '../qemu/seed.ts';
import { checkIdentity, checkSpec } from '../spec.ts';
import { proxmoxClient } from './client.ts';
import { clusterFacts } from './cluster.ts';
import { growDisk, makeMachine, writeNotes } from './create.ts';
import { calling, ProxmoxRefusal } from './failure.ts';
import { clusterFiles } from './files.ts';
import { holdToAddresses } from './firewall.ts';
import { clusterImages } from './images.ts';
import { importMachine, sweepPassing } from './importing.ts';
import { absent, machinePath } from './listed.ts';
import {
  type Config,
  checkName,
  differing,
  disk,
  diskBytes,
  drive,
  driveWith,
  notesIn,
  settingsOf,
} from './machine.ts';
import { clusterMachines, type Machine } from './machines.ts';
import { proxmoxManagement } from './management.ts';
import { moveMachine } from './move.ts';
import { checkOptions, type ProxmoxOptions } from './options.ts';
import { sealed, unsealed } from './packed.ts';
import type { Parts } from './parts.ts';
import { powerWatch } from './power.ts';
import { seedDiscs } from './seeds.ts';

/** Rescue, starts from the network and whole copies that survive a machine are not made of its parts yet. */
const capabilities: readonly HypervisorCapability[] = [
  ...(['snapshots', 'vnc', 'serial', 'guest_agent', 'live_resize'] as const),
];
const forcedMs = 60_000;

/** Runs machines on a Proxmox VE cluster, in a pool that is ours alone, over its API. */
export function proxmoxHypervisor(options: ProxmoxOptions): Hypervisor {
  return proxmoxParts(options).on(options.node);
}

/** The same as a cluster of hosts, which are asked over the same connections. */
export function proxmoxCluster(options: ProxmoxOptions): Cluster {
  const { on, cluster, machines, powers, move, take } = proxmoxParts(options);
  const { capabilities: able, ensureImage, sample, watch, close } = on(null);
  return {
    kind: 'proxmox',
    capabilities: able,
    moves: ['live', 'cold'],
    look: () => cluster.look(),
    nodes: () => cluster.members(),
    on,
    ensureImage,
    move,
    recover: async () => requireCapability({ kind: 'proxmox', capabilities: able }, 'backups'),
    importMachine: take,
    handOver: async () => undefined,
    list: () => machines.list('with its node'),
    sample,
    watch,
    close,
    listen: () => powers.listen(),
  };
}

function proxmoxParts(options: ProxmoxOptions) {
  checkOptions(options);
  const client = proxmoxClient(options);
  const cluster = clusterFacts(options, client);
  const files = clusterFiles(options, client);
  const images = clusterImages(options, cluster, files);
  const machines = clusterMachines(options, client, cluster);
  const seeds = seedDiscs(files);
  const powers = powerWatch(options, client, machines);
  const oneAtATime = serially();
  const engine = { kind: 'proxmox', capabilities };
  const making = { options, client, cluster, images, machines };

  const parts: Parts = {
    options,
    client,
    engine,
    images,
    machines,
    powers,
    seeds,
    oneAtATime,
    replaceSeed,
    secretsOf,
    mustBeOff,
  };
  const { endConsoles, waitUntilTaken, close: closeConsoles, ...management } = proxmoxManagement(parts);
  powers.watch(({ id, power }) => {
    if (power === 'stopped') endConsoles(id);
  });

  async function mustExist(id: MachineId): Promise<Machine> {
    checkName(id);
    return machines.must(id);
  }

  async function mustBeOff(id: MachineId): Promise<Machine> {
    const machine = await mustExist(id);
    if (!(await machines.isRunning(machine))) return machine;
    throw new HypervisorError('not_stopped', `${id} must be stopped for this`, { permanent: true });
  }

  async function replaceSeed(
    machine: Machine,
    identity: PublicIdentity,
    secrets: Secrets | null,
  ): Promise<void> {
    const { id, node, config } = machine;
    const seed = await seeds.write(id, node, identity, secrets);
    const kept = secrets === null ? null : sealed(options.tokenSecret, secrets);
    // One that runs has its own at once exchanged for it; all others take it when they start.
    const plugged: Config = config[drive] === undefined ? {} : { [drive]: driveWith(options, seed) };
    await writeNotes(making, machine, { identity, seed, secrets: kept }, plugged);
    await seeds.sweep(id, node, [seed]);
  }

  function secretsOf({ id, config }: Machine): Secrets | null {
    const { seed, secrets } = notesIn(config);
    if (seed === null || !seeds.isSecret(seed)) return null;
    const known = secrets === null ? null : unsealed(options.tokenSecret, secrets);
    if (known !== null) return known as Secrets;
    throw new HypervisorError(
      'host_not_ready',
      `${id} has not booted yet, and what it will read cannot be written again, being too long to be kept or kept under a token that was exchanged: after its first boot this works`,
    );
  }

  /** The disc that a machine is to start with; made anew where its node has none, as after somebody moved the machine there. */
  async function discFor(machine: Machine): Promise<string | null> {
    const { identity, seed } = notesIn(machine.config);
    if (identity === null || seed === null) return null;
    if ((await files.names(machine.node, 'iso')).includes(seed)) return seed;
    await replaceSeed(machine, identity, secretsOf(machine));
    return notesIn((await machines.must(machine.id)).config).seed;
  }

  async function start(spec: MachineSpec): Promise<void> {
    const machine = await machines.must(spec.id);
    const seed = await discFor(machine);
    if (diskBytes(machine.config) === null || seed === null) throw absent(spec.id);
    await cluster.mustFilter();
    await holdToAddresses(client, machine, spec);
    if (await machines.isRunning(machine)) {
      const { net0 = '' } = settingsOf(options, spec);
      return calling('network_failed', machines.write(machine, differing(machine.config, { net0 })));
    }
    await client.settled(machine.node, machine.vmid);
    await growDisk(making, machine, spec.diskGib);
    const wanted = { ...settingsOf(options, spec), [drive]: driveWith(options, seed), boot: `order=${disk}` };
    await calling('start_failed', machines.write(machine, differing(machine.config, wanted)));
    const starting = client.run('POST', `${machinePath(machine)}/status/start`);
    const failure = await calling('start_failed', starting).then(
      () => new HypervisorError('machine_died', `${spec.id} was started and does not run`),
      (error: unknown) => error,
    );
    const { run } = await machines.live(machine);
    if (run === null) throw failure;
    powers.did(spec.id, 'running', { node: machine.node, pid: run.pid });
    // Without the note, a look at it notes it.
    await machines.noteRun(machine, run).catch(() => undefined);
  }

  async function powerOff(machine: Machine): Promise<void> {
    const { id, node, vmid } = machine;
    const stop = () =>
      client.run('POST', `${machinePath(machine)}/status/stop`, { 'overrule-shutdown': true }, forcedMs);
    let failure = await stop().catch((error: unknown) => error);
    if (failure instanceof ProxmoxRefusal && (await machines.isRunning(machine))) {
      // What is under way with it holds it: a copy, or a snapshot.
      await client.cancel(node, vmid);
      failure = await stop().catch((error: unknown) => error);
    }
    if (await machines.isRunning(machine))
      throw (
        failure ??
        new HypervisorError('host_not_ready', `the cluster says that it stopped ${id}, and it still runs`)
      );
    powers.did(id, 'stopped');
  }

  async function destroy(id: MachineId): Promise<void> {
    await takeAway(id).catch(async (error: unknown) => {
      // It may have gone meanwhile, by a call of ours whose answer was lost.
      if ((await machines.find(id)) !== null) throw error;
    });
  }

  async function takeAway(id: MachineId): Promise<void> {
    const before = await machines.find(id);
    if (before === null) return;
    if (await machines.isRunning(before)) await powers.quietly(id, () => powerOff(before));
    await client.settled(before.node, before.vmid);
    // What was under way may have been its end.
    const machine = await machines.find(id);
    if (machine === null) return;
    // A disc in a drive is not taken away.
    if (machine.config[drive] !== undefined)
      await calling('disk_failed', machines.write(machine, { delete: drive }));
    await seeds.sweep(id, machine.node, []);
    await sweepPassing(files, machine);
    // The machine goes last: until then it is still listed, and destroying it can be repeated.
    const all = { purge: true, 'destroy-unreferenced-disks': true };
    const failure = await client.run('DELETE', machinePath(machine), all).catch((error: unknown) => error);
    if ((await machines.find(id)) === null) return;
    throw await calling('disk_failed', Promise.reject(failure)).catch((error: unknown) => error);
  }

  async function shutDown(machine: Machine, deadline: Deadline): Promise<void> {
    const { id } = machine;
    const timeout = Math.ceil(deadline.timeoutMs / 1_000);
    const path = `${machinePath(machine)}/status/shutdown`;
    const asked = client.run('POST', path, { timeout, forceStop: false }, deadline.timeoutMs + 5_000);
    const failure = asked.then(
      () => null,
      (error: unknown) => error,
    );
    const late = delay(deadline.timeoutMs, 'late', { signal: deadline.signal });
    const outcome = await Promise.race([failure, late]);
    if (await machines.isRunning(machine)) {
      if (outcome !== null && outcome !== 'late' && !(outcome instanceof ProxmoxRefusal)) throw outcome;
      throw new HypervisorError('shutdown_timeout', `${id} still runs after ${deadline.timeoutMs} ms`);
    }
    powers.did(id, 'stopped');
  }

  /** What all nodes have in common is here once; machines that are made are made on this one; null: the driver chooses. */
  const on = (node: string | null): Hypervisor => ({
    ...management,
    ...engine,

    async prepare(progress) {
      progress('Looking at the Proxmox VE cluster');
      await cluster.check(node);
      await powers.listen();
    },
    capacity: () => cluster.capacity(node),
    troubles: () => cluster.troubles(node),
    /** Packet rules are the engine's own, and `start` puts a machine's back. */
    mend: async () => undefined,
    ensureImage: (image, progress) => images.ensure(image, node, progress),

    async createDisk(spec) {
      checkSpec(spec);
      checkName(spec.id);
      await oneAtATime(spec.id, () => makeMachine(making, spec, node));
    },

    async writeIdentity(spec, identity) {
      checkSpec(spec);
      checkName(spec.id);
      checkIdentity(identity);
      if (spec.boot === 'rescue') requireCapability(engine, 'rescue');
      await oneAtATime(spec.id, async () => {
        const machine = await machines.must(spec.id);
        const { guest } = await images.find(machine.node, spec.image);
        const before = notesIn(machine.config).identity;
        const known = nextIdentity(before, { ...identity, guest, nic: spec.nic });
        const { passwordHash, authorizedKeys, userData } = identity;
        await replaceSeed(machine, known, { passwordHash, authorizedKeys, userData });
      });
    },

    async forgetSecrets(id) {
      checkName(id);
      await oneAtATime(id, async () => {
        const machine = await machines.find(id);
        const { identity, seed } = machine ? notesIn(machine.config) : { identity: null, seed: null };
        if (!machine || identity === null || seed === null) return;
        // The call before may have failed after the exchange, with all that it was to take away still there.
        if (!seeds.isSecret(seed)) return seeds.sweep(id, machine.node, [seed]);
        await replaceSeed(machine, identity, null);
      });
    },

    async start(spec) {
      checkSpec(spec);
      checkName(spec.id);
      if (spec.boot === 'rescue') requireCapability(engine, 'rescue');
      if (spec.boot === 'network') requireCapability(engine, 'netboot');
      await oneAtATime(spec.id, () => start(spec));
    },

    async waitUntilReady(spec, deadline) {
      const until = Date.now() + deadline.timeoutMs;
      const machine = await mustExist(spec.id);
      const [first] = spec.nic.addresses;
      if (!first)
        throw new HypervisorError('spec_invalid', 'a machine without an address', { permanent: true });
      await waitForSsh(
        first.address,
        deadline,
        aliveness(() => machines.isRunning(machine)),
      );
      if (!(await machines.isRunning(machine)))
        throw new HypervisorError('machine_died', 'the machine ended before it was ready');
      await waitUntilTaken(machine, until - Date.now(), deadline.signal);
    },

    async shutdown(id, deadline) {
      const machine = await mustExist(id);
      if (!(await machines.isRunning(machine))) return;
      await powers.quietly(id, () => shutDown(machine, deadline));
    },

    async powerOff(id) {
      const machine = await mustExist(id);
      if (await machines.isRunning(machine)) await powers.quietly(id, () => powerOff(machine));
      else powers.did(id, 'stopped');
    },

    /** One that is stopped has nothing in the engine's network. */
    unplug: async (id) => void (await mustBeOff(id)),

    async reset(id) {
      const machine = await mustExist(id);
      if (!(await machines.isRunning(machine)))
        throw new HypervisorError('not_running', `${id} is not running`);
      await calling('start_failed', client.run('POST', `${machinePath(machine)}/status/reset`));
    },

    async destroy(id) {
      checkName(id);
      await oneAtATime(id, () => destroy(id));
    },

    async inspect(id) {
      checkName(id);
      const { config, ...report } = await machines.report(id);
      const identity = config === undefined ? null : notesIn(config).identity;
      if (identity === null) return report;
      return { ...report, addresses: identity.nic.addresses.map(({ address }) => address) };
    },
    list: () => machines.list(),
    watch: (listener) => powers.watch(listener),
    async close() {
      powers.close();
      closeConsoles();
      client.close();
    },
  });

  const move = (id: MachineId, node: string, how: { live: boolean }) =>
    oneAtATime(id, () =>
      powers.quietly(id, () => moveMachine({ ...parts, cluster, discFor }, id, node, how)),
    );
  const take: Cluster['importMachine'] = async (spec, node, disk) => {
    checkSpec(spec);
    checkName(spec.id);
    await oneAtATime(spec.id, () => importMachine({ ...making, files }, spec, node, disk));
  };
  return { on, cluster, machines, powers, move, take };
}
