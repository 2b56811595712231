import { Duplex, Readable } from 'node:stream';
import type { HypervisorCapability } from '../capabilities.ts';
import { HypervisorError, type MachineSpec } from '../contract.ts';
import { emptyQcow2Header } from '../formats/emptyQcow2.ts';
import type { MachineManagement, SnapshotFacts } from '../management.ts';
import { checkAuthorizedKeys, checkCopyName, checkHostname, checkPasswordHash, checkSpec } from '../spec.ts';
import { screenOf } from './screen.ts';
import type { Keeping, KeptDisk, SimulatedCall, SimulatedGuest, SimulatedMachine } from './store.ts';

interface Simulation {
  machines: Map<string, SimulatedMachine>;
  find(id: string): SimulatedMachine;
  call(name: SimulatedCall, id: string): Promise<void>;
  isSilent(id: string): boolean;
  resizesLive: boolean;
  kept: Keeping;
  /** Refuses what the engine does not claim to do. */
  must(wanted: HypervisorCapability): void;
}

/** The part of the contract that manages machines, kept in memory. */
export function simulatedManagement(simulation: Simulation): MachineManagement {
  const { machines, find, call, isSilent, kept, must } = simulation;
  const running = (id: string): SimulatedMachine => {
    const machine = find(id);
    if (machine.startedAtMs === null) throw new HypervisorError('not_running', `${id} is not running`);
    return machine;
  };
  const guestOf = (id: string): SimulatedGuest => {
    must('guest_agent');
    const machine = running(id);
    if (isSilent(id)) throw new HypervisorError('guest_silent', `the agent of ${id} does not answer`);
    machine.guest ??= { passwordHash: null, authorizedKeys: [], hostname: null };
    return machine.guest;
  };
  const mustBeOff = (id: string): SimulatedMachine => {
    const machine = find(id);
    if (machine.startedAtMs === null) return machine;
    throw new HypervisorError('not_stopped', `${id} must be stopped for this`, { permanent: true });
  };

  async function keep(list: 'snapshots' | 'backups', id: string, name: string): Promise<SnapshotFacts> {
    must(list);
    checkCopyName(name);
    const machine = find(id);
    await call('keep', id);
    machine[list] ??= [];
    const known = machine[list].find((each) => each.name === name);
    const made = known ?? { name, createdAtMs: Date.now(), diskGib: machine.spec?.diskGib ?? 0 };
    if (!known) machine[list].push(made);
    const hasSettled = known !== undefined || machine.startedAtMs === null || !isSilent(id);
    return { ...facts(made), ...(hasSettled ? {} : { consistent: false }) };
  }
  async function restore(list: 'snapshots' | 'backups', id: string, name: string): Promise<void> {
    must(list);
    checkCopyName(name);
    const machine = mustBeOff(id);
    await call('restore', id);
    if (machine[list]?.some((each) => each.name === name)) return;
    throw new HypervisorError('snapshot_absent', `${id} has no ${name}`, { permanent: true });
  }
  async function drop(list: 'snapshots' | 'backups', id: string, name: string): Promise<void> {
    const machine = find(id);
    machine[list] = machine[list]?.filter((each) => each.name !== name) ?? [];
  }

  return {
    resize: kept(async (spec) => {
      checkSpec(spec);
      const machine = find(spec.id);
      if (!simulation.resizesLive) mustBeOff(spec.id);
      const before = machine.spec;
      if (before && spec.diskGib < before.diskGib) {
        throw new HypervisorError('spec_invalid', 'a disk never shrinks', { permanent: true });
      }
      await call('resize', spec.id);
      const isSame = before?.cpuCores === spec.cpuCores && before.memoryMib === spec.memoryMib;
      const restartNeeded = machine.startedAtMs !== null && !isSame;
      // Cores and memory of a running machine stay what it was started with.
      machine.spec = restartNeeded && before ? { ...before, diskGib: spec.diskGib } : spec;
      return { restartNeeded };
    }),
    rebuildDisk: kept(async (spec) => {
      checkSpec(spec);
      const machine = mustBeOff(spec.id);
      await call('createDisk', spec.id);
      Object.assign(machine, { hasDisk: true, snapshots: [], spec });
    }),
    async openConsole(id, kind) {
      must(kind);
      running(id);
      const line = new Duplex({
        read: () => undefined,
        write: (chunk, _encoding, done) => {
          line.push(chunk);
          done();
        },
      });
      line.push(kind === 'vnc' ? 'RFB 003.008\n' : `${id} login: `);
      const timer = setInterval(() => {
        if (machines.get(id)?.startedAtMs == null) line.destroy();
      }, 100);
      line.on('close', () => clearInterval(timer));
      return line;
    },
    async readScreen(id) {
      must('vnc');
      return screenOf(id, running(id));
    },
    createSnapshot: kept((id, name) => keep('snapshots', id, name)),
    restoreSnapshot: kept((id, name) => restore('snapshots', id, name)),
    deleteSnapshot: kept((id, name) => drop('snapshots', id, name)),
    listSnapshots: async (id) => (find(id).snapshots ?? []).map(facts),
    createBackup: kept((id, name) => keep('backups', id, name)),
    restoreBackup: kept((spec, name) => restore('backups', spec.id, name)),
    deleteBackup: kept((id, name) => drop('backups', id, name)),
    listBackups: async (id) => (find(id).backups ?? []).map(facts),
    async openBackup(id, name) {
      checkCopyName(name);
      const { backups = [] } = find(id);
      const kept = backups.find((each) => each.name === name);
      if (!kept) throw new HypervisorError('snapshot_absent', `${id} has no ${name}`, { permanent: true });
      const header = emptyQcow2Header(kept.diskGib * 2 ** 30);
      const content = Buffer.concat([header, Buffer.from(JSON.stringify({ of: id, ...kept }))]);
      return { bytes: content.length, read: () => Readable.from([content]), identity: null };
    },
    setPassword: kept(async (id, passwordHash) => {
      checkPasswordHash(passwordHash);
      guestOf(id).passwordHash = passwordHash;
    }),
    setAuthorizedKeys: kept(async (id, keys) => {
      checkAuthorizedKeys(keys);
      guestOf(id).authorizedKeys = [...keys];
    }),
    setHostname: kept(async (id, hostname) => {
      checkHostname(hostname);
      guestOf(id).hostname = hostname;
    }),
    setAddresses: kept(async (spec) => {
      checkSpec(spec);
      const machine = find(spec.id);
      const atBoot = addressesOf(spec);
      const now = machine.addresses?.now ?? [];
      machine.addresses = { now, atBoot };
      if (machine.startedAtMs === null || now.join() === atBoot.join()) return;
      guestOf(spec.id); // fails when its agent is silent
      machine.addresses.now = atBoot;
    }),
    async sample() {
      const at = new Date();
      return [...machines].flatMap(([id, { startedAtMs, spec }]) => {
        if (startedAtMs === null || spec === null) return [];
        // A tenth of a core and some traffic, since its start.
        const upMs = at.getTime() - startedAtMs;
        const memoryTotalBytes = spec.memoryMib * 1_048_576;
        return {
          id,
          at,
          startedAt: new Date(startedAtMs),
          cpuMs: upMs / 10,
          memoryUsedBytes: memoryTotalBytes / 4,
          memoryTotalBytes,
          diskReadBytes: upMs * 100,
          diskWrittenBytes: upMs * 200,
          netInBytes: upMs * 50,
          netOutBytes: upMs * 150,
        };
      });
    },
  };
}

export function addressesOf({ nic }: MachineSpec): string[] {
  return nic.addresses.map((each) => each.address);
}

function facts({ name, createdAtMs, diskGib }: KeptDisk): SnapshotFacts {
  return { name, sizeBytes: diskGib * 1_048_576, createdAt: new Date(createdAtMs) };
}
