import { setTimeout as delay } from 'node:timers/promises';
import { type HypervisorCapability, requireCapability } from '../capabilities.ts';
import { HypervisorError, type MachineId, type MachineSpec } from '../contract.ts';
import type { MachineManagement } from '../management.ts';
import { keepsItsOwnForm } from '../portable.ts';
import type { Agent } from '../qemu/agent.ts';
import * as guest from '../qemu/guest.ts';
import { withAddresses } from '../qemu/publicIdentity.ts';
import { sharedLines } from '../sharedLines.ts';
import { checkAuthorizedKeys, checkCopyName, checkHostname, checkPasswordHash, checkSpec } from '../spec.ts';
import { answers, machineAgent } from './agent.ts';
import { growDisk } from './create.ts';
import { calling } from './failure.ts';
import { checkName, differing, diskBytes, notesIn, settingsOf } from './machine.ts';
import type { Machine } from './machines.ts';
import type { Parts } from './parts.ts';
import { pictureOf } from './picture.ts';
import { rebuildDisk } from './rebuild.ts';
import { machineSamples } from './samples.ts';
import { openForViewer, openScreen } from './screen.ts';
import { openSerialLine } from './serial.ts';
import { machineSnapshots } from './snapshots.ts';

interface OwnManagement {
  /** Ends what looks at a machine that went away. */
  endConsoles(id: MachineId): void;
  /** Waits for a guest that boots for the first time until it has taken on what it was told, where its agent tells. */
  waitUntilTaken(machine: Machine, leftMs: number, signal?: AbortSignal): Promise<void>;
  close(): void;
}

const gib = 2 ** 30;
/** A guest's agent comes up a little after SSH. */
const agentPatienceMs = 30_000;
const againMs = 500;
const takenWithinS = 120;

/** The part of the contract that manages machines. */
export function proxmoxManagement(parts: Parts): MachineManagement & OwnManagement {
  const { options, client, engine, machines, seeds, oneAtATime } = parts;
  const snapshots = machineSnapshots(parts);
  const samples = machineSamples(machines);
  const lines = sharedLines();
  const screens = new Map<MachineId, Set<{ destroy(): unknown }>>();
  const must = (wanted: HypervisorCapability) => requireCapability(engine, wanted);

  async function mustExist(id: MachineId): Promise<Machine> {
    checkName(id);
    return machines.must(id);
  }

  async function mustRun(id: MachineId): Promise<Machine> {
    const machine = await mustExist(id);
    if (await machines.isRunning(machine)) return machine;
    throw new HypervisorError('not_running', `${id} is not running`);
  }

  async function toGuest(id: MachineId, work: (agent: Agent) => Promise<void>): Promise<void> {
    must('guest_agent');
    await work(machineAgent(client, await mustRun(id)));
  }

  async function resize(spec: MachineSpec): Promise<{ restartNeeded: boolean }> {
    const machine = await mustExist(spec.id);
    const isRunning = await machines.isRunning(machine);
    if (isRunning && !engine.capabilities.includes('live_resize'))
      throw new HypervisorError('not_stopped', `${spec.id} must be stopped for this`, { permanent: true });
    const now = diskBytes(machine.config) ?? 0;
    if (now > spec.diskGib * gib)
      throw new HypervisorError('spec_invalid', 'a disk never shrinks', { permanent: true });
    await client.settled(machine.node, machine.vmid);
    await growDisk(parts, machine, spec.diskGib);
    if (isRunning && now < spec.diskGib * gib)
      // A guest without an agent takes the room at its next boot.
      await guest.growFileSystem(machineAgent(client, machine)).catch((error: unknown) => {
        if (!(error instanceof HypervisorError)) throw error;
      });
    const { cores = '', memory = '' } = settingsOf(options, spec);
    const changed = differing(machine.config, { cores, memory });
    await calling('disk_failed', machines.write(machine, changed));
    return { restartNeeded: isRunning && (await isPending(machine, spec)) };
  }

  /** Whether a running machine has another size than it is to have. */
  async function isPending(machine: Machine, { cpuCores, memoryMib }: MachineSpec): Promise<boolean> {
    const { told } = await machines.live(machine);
    return Number(told.cpus) !== cpuCores || Number(told.maxmem) !== memoryMib * 2 ** 20;
  }

  async function setAddresses(spec: MachineSpec): Promise<void> {
    const machine = await mustExist(spec.id);
    const { identity } = notesIn(machine.config);
    const known = identity && withAddresses(identity, spec.nic);
    if (known === null) return;
    await parts.replaceSeed(machine, known, parts.secretsOf(machine));
    if (!(await machines.isRunning(machine))) return;
    must('guest_agent');
    await guest.setAddresses(machineAgent(client, machine), spec.nic, known.former);
  }

  async function rename(id: MachineId, hostname: string): Promise<void> {
    const machine = await mustExist(id);
    const { identity } = notesIn(machine.config);
    if (identity !== null)
      await parts.replaceSeed(machine, { ...identity, hostname }, parts.secretsOf(machine));
  }

  function watched<T extends { destroy(): unknown; once(event: 'close', done: () => void): unknown }>(
    id: MachineId,
    screen: T,
  ): T {
    const open = screens.get(id) ?? new Set();
    screens.set(id, open.add(screen));
    screen.once('close', () => open.delete(screen));
    return screen;
  }

  return {
    async resize(spec) {
      checkSpec(spec);
      return oneAtATime(spec.id, () => resize(spec));
    },
    async rebuildDisk(spec) {
      checkSpec(spec);
      await oneAtATime(spec.id, () => rebuildDisk(parts, snapshots, spec));
    },
    async openConsole(id, kind) {
      must(kind);
      const machine = await mustRun(id);
      if (kind === 'vnc') return watched(id, await openForViewer(client, machine));
      return lines.attach(id, () => openSerialLine(client, machine));
    },
    async readScreen(id) {
      must('vnc');
      return pictureOf(id, await openScreen(client, await mustRun(id)));
    },
    async createSnapshot(id, name) {
      must('snapshots');
      checkCopyName(name);
      return oneAtATime(id, () => snapshots.create(id, name));
    },
    async restoreSnapshot(id, name) {
      must('snapshots');
      checkCopyName(name);
      await oneAtATime(id, () => snapshots.restore(id, name));
    },
    async deleteSnapshot(id, name) {
      checkCopyName(name);
      await oneAtATime(id, () => snapshots.delete(id, name));
    },
    listSnapshots: (id) => snapshots.list(id),
    createBackup: async () => must('backups') as never,
    restoreBackup: async () => must('backups'),
    deleteBackup: async (id) => void (await mustExist(id)),
    async listBackups(id) {
      await mustExist(id);
      return [];
    },
    openBackup: () => keepsItsOwnForm('proxmox'),
    async setPassword(id, passwordHash) {
      checkPasswordHash(passwordHash);
      await toGuest(id, (agent) => guest.setPassword(agent, passwordHash));
    },
    async setAuthorizedKeys(id, keys) {
      checkAuthorizedKeys(keys);
      await toGuest(id, (agent) => guest.setAuthorizedKeys(agent, keys));
    },
    async setHostname(id, hostname) {
      checkHostname(hostname);
      await toGuest(id, (agent) => guest.setHostname(agent, hostname));
      await oneAtATime(id, () => rename(id, hostname));
    },
    async setAddresses(spec) {
      checkSpec(spec);
      await oneAtATime(spec.id, () => setAddresses(spec));
    },
    sample: () => samples.sample(),
    async waitUntilTaken(machine, leftMs, signal) {
      const { seed } = notesIn(machine.config);
      if (seed === null || !seeds.isSecret(seed)) return;
      const until = Date.now() + Math.min(agentPatienceMs, leftMs);
      while (!(await answers(client, machine))) {
        if (Date.now() >= until) return; // one without an agent
        await delay(againMs, undefined, { signal });
      }
      const limitS = Math.min(takenWithinS, Math.max(0, Math.ceil(leftMs / 1_000)));
      await guest.waitUntilTaken(machineAgent(client, machine), 'all', limitS).catch((error: unknown) => {
        options.log.info(
          { machine: machine.id, error: String(error) },
          'A guest does not tell when it is ready',
        );
      });
    },
    endConsoles(id) {
      lines.end(id);
      for (const each of screens.get(id) ?? []) each.destroy();
      screens.delete(id);
    },
    close() {
      lines.close();
      for (const id of screens.keys()) for (const each of screens.get(id) ?? []) each.destroy();
    },
  };
}
