import { rename, rm } from 'node:fs/promises';
import { syncFolder, writeSynced } from '../../../platform/host/durable.ts';
import { serially } from '../../serially.ts';
import { type Deadline, HypervisorError, type MachineSpec } from '../contract.ts';
import type { ImageStore } from '../images/store.ts';
import type { MachineManagement, SnapshotFacts } from '../management.ts';
import { checkAuthorizedKeys, checkCopyName, checkHostname, checkPasswordHash, checkSpec } from '../spec.ts';
import { findOwner } from './accounts.ts';
import { type Agent, withAgent } from './agent.ts';
import * as backups from './backups.ts';
import { machineConsoles } from './console.ts';
import { createDisk } from './disk.ts';
import { exists, type MachineFiles, machineIds } from './files.ts';
import { whileFrozen } from './freeze.ts';
import * as guest from './guest.ts';
import { isBeingTaken, renameIdentity, writeAddresses } from './identity.ts';
import { settleBase } from './layers.ts';
import type { Machines } from './machines.ts';
import type { Monitor } from './monitor.ts';
import type { QemuOptions } from './options.ts';
import { resizeDisk, runningSize } from './resize.ts';
import { sampler } from './sample.ts';
import { machineScreens } from './screen.ts';
import * as snapshots from './snapshots.ts';
import { copySpace } from './space.ts';

/** What the driver's two parts share. */
export interface SharedParts {
  options: QemuOptions;
  images: ImageStore;
  machines: Machines;
  filesOf(id: string): MachineFiles;
  /** Keeps starts and stops of a machine apart from each other and from changes that want it stopped. */
  oneAtATime<T>(id: string, work: () => Promise<T>): Promise<T>;
}

/** What the driver's other part needs beyond the contract. */
interface OwnManagement {
  /**
   * Waits until a guest that reads its seed in stages has done what is in it; at most two minutes, since the last stage
   * runs the customer's own programs, and half a minute for an agent that may not be there.
   */
  waitUntilTaken(files: MachineFiles, deadline: Deadline): Promise<void>;
  close(): void;
}

/** SSH answers a moment before the agent does. */
const agentPatienceMs = 8_000;
const firstAgentPatienceMs = 30_000;
const takenWithinS = 120;

/**
 * Everything about a machine but its life. Changes of a disk run one after another, in a row of their own: a
 * copy of a running machine's disk may take hours, and its power has to be at hand meanwhile.
 */
export function machineManagement(parts: SharedParts): MachineManagement & OwnManagement {
  const { options, machines, filesOf, oneAtATime } = parts;
  const { log } = options;
  const diskInTurn = serially();
  const agentInTurn = serially();
  const withinSpace = copySpace(async () =>
    snapshots.unwrittenBytes((await machineIds(options)).map(filesOf)),
  );
  const consoles = machineConsoles();
  const screens = machineScreens();
  const samples = sampler();

  async function existing(id: string): Promise<MachineFiles> {
    const files = filesOf(id);
    if (await exists(files.disk)) return files;
    throw new HypervisorError('machine_absent', `no machine ${id} on this node`, { permanent: true });
  }

  async function running(files: MachineFiles): Promise<Monitor> {
    const monitor = await machines.monitor(files);
    if (monitor) return monitor;
    throw new HypervisorError('not_running', `${files.id} is not running`);
  }

  /**
   * Runs `work` on a disk that nothing else changes. A stopped machine does not start meanwhile. A running one may
   * lose its power, which fails the work: whoever takes the power of a machine that hangs must not wait for it.
   */
  async function onDisk<T>(
    id: string,
    work: (files: MachineFiles, monitor: Monitor | undefined) => Promise<T>,
  ): Promise<T> {
    const files = await existing(id);
    return diskInTurn(id, async () => {
      const monitor = await machines.monitor(files);
      if (monitor) return work(files, monitor);
      return oneAtATime(id, async () => work(files, await machines.monitor(files)));
    });
  }

  function onStoppedDisk<T>(id: string, work: (files: MachineFiles) => Promise<T>): Promise<T> {
    return onDisk(id, (files, monitor) => {
      if (!monitor) return work(files);
      throw new HypervisorError('not_stopped', `${id} must be stopped for this`, { permanent: true });
    });
  }

  async function toGuest(id: string, work: (agent: Agent) => Promise<void>): Promise<void> {
    const files = await existing(id);
    await toRunningGuest(await running(files), work);
  }

  function toRunningGuest(monitor: Monitor, work: (agent: Agent) => Promise<void>): Promise<void> {
    const { files } = monitor;
    return agentInTurn(files.id, () => withAgent(files, monitor, agentPatienceMs, work));
  }

  function settled<T>(
    files: MachineFiles,
    monitor: Monitor | undefined,
    work: (isSettled: boolean) => Promise<T>,
  ): Promise<T> {
    if (!monitor) return work(true);
    return agentInTurn(files.id, () => whileFrozen(files, monitor, log, work));
  }

  async function grow(spec: MachineSpec, monitor: Monitor): Promise<void> {
    await toRunningGuest(monitor, guest.growFileSystem).catch((error) =>
      log.warn({ machine: spec.id, error }, 'A disk has grown; its guest takes the room at its next boot'),
    );
  }

  /** Whether the guest had settled. */
  async function copyDisk(files: MachineFiles, name: string): Promise<boolean> {
    const owner = await findOwner(files);
    let stopped = false;
    await oneAtATime(files.id, async () => {
      stopped = (await machines.monitor(files)) === undefined;
      if (stopped) await backups.copyStoppedDisk(files, name, owner);
    });
    if (stopped) return true;
    const monitor = await running(files);
    let hasSettled = false;
    const started = (start: () => Promise<void>) =>
      settled(files, monitor, (isSettled) => {
        hasSettled = isSettled;
        return start();
      });
    await backups.copyRunningDisk(files, monitor, name, owner, started);
    return hasSettled;
  }

  return {
    async resize(spec) {
      checkSpec(spec);
      const monitor = await onDisk(spec.id, async (files, monitor) => {
        await resizeDisk(files, spec, monitor);
        return monitor;
      });
      if (!monitor) return { restartNeeded: false };
      await grow(spec, monitor); // also when the disk had its size before: the call may be a repetition
      const now = await runningSize(monitor.pid);
      return { restartNeeded: now?.cpuCores !== spec.cpuCores || now.memoryMib !== spec.memoryMib };
    },

    async rebuildDisk(spec) {
      checkSpec(spec);
      const image = await parts.images.find(spec.image);
      const files = filesOf(spec.id);
      const owner = await findOwner(files);
      await existing(spec.id);
      await diskInTurn(spec.id, () =>
        oneAtATime(spec.id, async () => {
          if (await machines.monitor(files))
            throw new HypervisorError('not_stopped', `${spec.id} must be stopped for this`, {
              permanent: true,
            });
          const next = `${files.disk}.next`;
          await rm(next, { force: true });
          await createDisk(spec, { ...files, disk: next }, image, owner);
          await rename(next, files.disk);
          await settleBase(files, spec.image);
          await writeSynced(files.machineType, ''); // a new system meets the newest hardware
          await syncFolder(files.dir);
        }),
      );
    },

    async openConsole(id, kind) {
      const files = await existing(id);
      await running(files);
      return consoles.open(files, kind);
    },
    async readScreen(id) {
      const files = await existing(id);
      return screens.read(await running(files), () => findOwner(files));
    },

    async createSnapshot(id, name) {
      checkCopyName(name);
      return onDisk(id, async (files, monitor) => {
        const make = async (isSettled: boolean) => ({
          ...(await snapshots.createSnapshot(files, monitor, name)),
          ...unsettled(isSettled),
        });
        const known = await snapshots.findSnapshot(files, name);
        if (known) return known;
        return withinSpace(files.dir, await snapshots.snapshotBytes(files), () =>
          settled(files, monitor, make),
        );
      });
    },
    async restoreSnapshot(id, name) {
      checkCopyName(name);
      await onStoppedDisk(id, (files) => snapshots.restoreSnapshot(files, name));
    },
    async deleteSnapshot(id, name) {
      checkCopyName(name);
      await onDisk(id, (files, monitor) => snapshots.deleteSnapshot(files, monitor, name));
    },
    listSnapshots: async (id) => snapshots.listSnapshots(await existing(id)),

    async createBackup(id, name): Promise<SnapshotFacts> {
      checkCopyName(name);
      const files = await existing(id);
      return diskInTurn(id, async () => {
        let isSettled = true;
        if (!(await backups.findBackup(files, name))) {
          isSettled = await withinSpace(files.dir, await backups.backupBytes(files, name), () =>
            copyDisk(files, name),
          );
        }
        const made = await backups.findBackup(files, name);
        if (made) return { ...made, ...unsettled(isSettled) };
        throw new HypervisorError('snapshot_failed', `the backup ${name} of ${id} is not there`);
      });
    },
    async restoreBackup(spec, name) {
      checkSpec(spec);
      checkCopyName(name);
      await onStoppedDisk(spec.id, async (files) => {
        // What it replaces stays until all is written.
        const bytes = (await backups.findBackup(files, name))?.sizeBytes ?? 0;
        await withinSpace(files.dir, bytes, () => backups.restoreBackup(files, spec, name));
      });
    },
    async deleteBackup(id, name) {
      checkCopyName(name);
      await diskInTurn(id, () => backups.deleteBackup(filesOf(id), name));
    },
    listBackups: async (id) => backups.listBackups(await existing(id)),
    async openBackup(id, name) {
      checkCopyName(name);
      return backups.openBackup(await existing(id), name);
    },

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
      await oneAtATime(id, () => renameIdentity(filesOf(id), hostname));
    },
    async setAddresses(spec) {
      checkSpec(spec);
      const files = await existing(spec.id);
      const former = await oneAtATime(spec.id, () => writeAddresses(files, spec.nic));
      const monitor = await machines.monitor(files);
      if (former === null || !monitor) return;
      await toRunningGuest(monitor, (agent) => guest.setAddresses(agent, spec.nic, former));
    },

    async waitUntilTaken(files, { timeoutMs, signal }) {
      const monitor = await machines.monitor(files);
      if (!monitor || !(await isBeingTaken(files))) return;
      const limitS = Math.min(takenWithinS, Math.max(0, Math.ceil(timeoutMs / 1_000)));
      const patienceMs = Math.min(firstAgentPatienceMs, limitS * 1_000);
      const taken = agentInTurn(files.id, () =>
        withAgent(files, monitor, patienceMs, (agent) => guest.waitUntilTaken(agent, 'all', limitS)),
      ).catch((error) => log.info({ machine: files.id, error }, 'A guest does not tell when it is ready'));
      await orAborted(taken, signal);
    },

    sample: () => samples.sample(machines.monitors()),
    close: () => consoles.close(),
  };
}

function unsettled(isSettled: boolean): { consistent?: false } {
  return isSettled ? {} : { consistent: false };
}

/** Waits for `work` until somebody gives up on it. */
function orAborted(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
  if (!signal) return work;
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, aborted]);
}
