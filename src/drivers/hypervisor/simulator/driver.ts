import { setTimeout as delay } from 'node:timers/promises';
import { serially } from '../../serially.ts';
import { type HypervisorCapability, hypervisorCapabilities, requireCapability } from '../capabilities.ts';
import {
  type Hypervisor,
  HypervisorError,
  type MachineEvent,
  type MachineReport,
  type NodeCapacity,
} from '../contract.ts';
import { checkImageSlug, checkSameImage } from '../imageSource.ts';
import { checkIdentity, checkMachineId, checkSpec } from '../spec.ts';
import { addressesOf, simulatedManagement } from './management.ts';
import {
  type SimulatedCall,
  type SimulatedMachine,
  type SimulatorStore,
  savedAfter,
  simulatorStore,
} from './store.ts';

export interface SimulatorOptions {
  /** Default: a new one, so that nothing is there. */
  store?: SimulatorStore;
  /** How long calls take, in milliseconds. Default: nothing takes time. */
  delaysMs?: Partial<Record<SimulatedCall | 'boot', number>>;
  /** Asked before every call; what it returns is thrown. The way to order failures. */
  failure?: (call: SimulatedCall, id: string) => HypervisorError | null;
  /** Machines whose guest does not react to its power button. */
  ignoresShutdown?: (id: string) => boolean;
  /** Machines whose guest agent does not answer. */
  guestIsSilent?: (id: string) => boolean;
  /** What the host lacks. Default: nothing. */
  troubles?: () => string[];
  capacity?: NodeCapacity;
  /** What it can. Default: everything. */
  capabilities?: readonly HypervisorCapability[];
}

/** The contract, and what in reality the guests and fate do. */
export interface SimulatedHypervisor extends Hypervisor {
  guestShutsDown(id: string): void;
  /** The machine goes away by itself, as when its process is killed. */
  lose(id: string): void;
  /** Addresses that the guest has; none of a machine that is not running. */
  guestAddresses(id: string): string[];
}

/** Keeps every promise of the contract without a machine: for load tests, and for tests of the rules. */
export function simulatedHypervisor(options: SimulatorOptions = {}): SimulatedHypervisor {
  const { images, machines, save } = options.store ?? simulatorStore();
  const kept = savedAfter(save);
  const engine = { kind: 'simulator', capabilities: options.capabilities ?? hypervisorCapabilities };
  const must = (wanted: HypervisorCapability) => requireCapability(engine, wanted);
  const listeners = new Set<(event: MachineEvent) => void>();
  const oneAtATime = serially();
  const bootMs = () => options.delaysMs?.boot ?? 0;

  async function call(name: SimulatedCall, id: string): Promise<void> {
    const failure = options.failure?.(name, id);
    await delay(options.delaysMs?.[name] ?? 0);
    if (failure) throw failure;
  }

  function tell(id: string, power: MachineEvent['power'], cause: MachineEvent['cause']): void {
    for (const listener of listeners) listener({ id, power, cause, at: new Date() });
  }

  function find(id: string): SimulatedMachine {
    checkMachineId(id);
    const machine = machines.get(id);
    if (machine) return machine;
    throw new HypervisorError('machine_absent', `no machine ${id} on this node`, { permanent: true });
  }

  function findOrMake(id: string): SimulatedMachine {
    const made = { spec: null, hasDisk: false, identity: null, startedAtMs: null, bootedAtMs: 0 };
    const machine = machines.get(id) ?? made;
    machines.set(id, machine);
    return machine;
  }

  function stop(id: string, cause: MachineEvent['cause']): void {
    const machine = machines.get(id);
    if (!machine || machine.startedAtMs === null) return;
    machine.startedAtMs = null;
    tell(id, 'stopped', cause);
  }

  function report(id: string): MachineReport {
    checkMachineId(id);
    const machine = machines.get(id);
    if (!machine) return { id, power: 'absent', startedAt: null };
    const { startedAtMs } = machine;
    if (startedAtMs === null) return { id, power: 'stopped', startedAt: null };
    return { id, power: 'running', startedAt: new Date(startedAtMs) };
  }

  function mustKnowImage(slug: string): void {
    if (images.has(slug)) return;
    throw new HypervisorError('image_unknown', `no image ${slug} on this node`, { permanent: true });
  }

  return {
    ...simulatedManagement({
      machines,
      find,
      call,
      kept,
      must,
      resizesLive: engine.capabilities.includes('live_resize'),
      isSilent: (id) => options.guestIsSilent?.(id) ?? false,
    }),
    ...engine,
    async prepare(progress) {
      progress('Preparing a simulated node');
    },
    async capacity() {
      return options.capacity ?? { cpuCores: 64, memoryMib: 262_144, diskGib: 8_192, acceleration: 'none' };
    },
    troubles: async () => options.troubles?.() ?? [],
    mend: async () => undefined,
    ensureImage: kept(async (image, progress) => {
      checkImageSlug(image.slug);
      await call('ensureImage', image.slug);
      const { slug, ...source } = image;
      checkSameImage(image, images.get(slug) ?? source);
      images.set(slug, source);
      progress(`The image ${image.slug} is ready`);
    }),
    createDisk: kept(async (spec) => {
      checkSpec(spec);
      mustKnowImage(spec.image);
      await oneAtATime(spec.id, async () => {
        await call('createDisk', spec.id);
        findOrMake(spec.id).hasDisk = true;
      });
    }),
    writeIdentity: kept(async (spec, identity) => {
      checkSpec(spec);
      checkIdentity(identity);
      mustKnowImage(spec.image);
      await oneAtATime(spec.id, async () => {
        await call('writeIdentity', spec.id);
        const machine = findOrMake(spec.id);
        machine.identity = identity;
        machine.addresses = { now: [], ...machine.addresses, atBoot: addressesOf(spec) };
      });
    }),
    forgetSecrets: kept(async (id) => {
      checkMachineId(id);
      const machine = machines.get(id);
      if (!machine?.identity) return;
      machine.identity = { ...machine.identity, passwordHash: null, authorizedKeys: [], userData: null };
    }),
    start: kept(async (spec) => {
      checkSpec(spec);
      if (spec.boot === 'rescue') must('rescue');
      if (spec.boot === 'network') must('netboot');
      await oneAtATime(spec.id, async () => {
        const machine = find(spec.id);
        if (!machine.hasDisk || !machine.identity) {
          throw new HypervisorError('machine_absent', `${spec.id} is not whole`, { permanent: true });
        }
        if (machine.startedAtMs !== null) return;
        await call('start', spec.id);
        const now = Date.now();
        const started = { ...machine, spec, startedAtMs: now, bootedAtMs: now };
        takeAddresses(started);
        machines.set(spec.id, started);
        tell(spec.id, 'running', 'host');
      });
    }),
    async waitUntilReady(spec, deadline) {
      const until = Date.now() + deadline.timeoutMs;
      for (;;) {
        deadline.signal?.throwIfAborted();
        const machine = find(spec.id);
        if (machine.startedAtMs === null)
          throw new HypervisorError('machine_died', `${spec.id} is not running`);
        const readyInMs = machine.bootedAtMs + bootMs() - Date.now();
        if (readyInMs <= 0) return;
        if (Date.now() >= until) throw new HypervisorError('ready_timeout', `${spec.id} is still booting`);
        await delay(Math.max(1, Math.min(20, readyInMs)), undefined, { signal: deadline.signal });
      }
    },
    shutdown: kept(async (id, deadline) => {
      if (find(id).startedAtMs === null) return;
      const needsMs = options.delaysMs?.shutdown ?? 0;
      if (options.ignoresShutdown?.(id) || needsMs > deadline.timeoutMs) {
        await delay(deadline.timeoutMs, undefined, { signal: deadline.signal });
        throw new HypervisorError('shutdown_timeout', `${id} still runs after ${deadline.timeoutMs} ms`);
      }
      await call('shutdown', id);
      stop(id, 'host');
    }),
    powerOff: kept(async (id) => {
      find(id);
      await oneAtATime(id, async () => {
        await call('powerOff', id);
        stop(id, 'host');
      });
    }),
    async unplug(id) {
      if (find(id).startedAtMs === null) return;
      throw new HypervisorError('not_stopped', `${id} must be stopped for this`, { permanent: true });
    },
    reset: kept(async (id) => {
      const machine = find(id);
      if (machine.startedAtMs === null) throw new HypervisorError('not_running', `${id} is not running`);
      machine.bootedAtMs = Date.now();
      takeAddresses(machine);
    }),
    destroy: kept(async (id) => {
      checkMachineId(id);
      await oneAtATime(id, async () => {
        await call('destroy', id);
        stop(id, 'host');
        machines.delete(id);
      });
    }),
    async inspect(id) {
      const spec = machines.get(id)?.spec;
      if (!spec) return report(id);
      return { ...report(id), addresses: spec.nic.addresses.map(({ address }) => address) };
    },
    async list() {
      return [...machines.keys()].sort().map(report);
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: kept(async () => listeners.clear()),
    guestShutsDown: (id) => stop(id, 'guest'),
    lose: (id) => stop(id, 'lost'),
    guestAddresses: (id) => (report(id).power === 'running' ? (find(id).addresses?.now ?? []) : []),
  };
}

/** As a guest does when it boots. */
function takeAddresses(machine: SimulatedMachine): void {
  if (machine.addresses) machine.addresses = { ...machine.addresses, now: machine.addresses.atBoot };
}
