import { type HypervisorCapability, requireCapability } from '../capabilities.ts';
import { HypervisorError, type MachineId, type MachineSpec } from '../contract.ts';
import type { MachineManagement, MachineSample } from '../management.ts';
import { keepsItsOwnForm } from '../portable.ts';
import { withAddresses } from '../qemu/publicIdentity.ts';
import { sharedLines } from '../sharedLines.ts';
import { checkAuthorizedKeys, checkCopyName, checkHostname, checkPasswordHash, checkSpec } from '../spec.ts';
import { instanceBackups } from './backups.ts';
import { openSerialLine } from './console.ts';
import { type Instance, surePower } from './instances.ts';
import { bytesOfRoot, checkInstanceName, notesIn, profileOf } from './machine.ts';
import type { Parts } from './parts.ts';
import { rebuildDisk } from './rebuild.ts';
import { countersIn } from './samples.ts';
import { instanceSnapshots } from './snapshots.ts';

interface OwnManagement {
  /** Ends what looks at a machine that went away: the engine leaves it open. */
  endConsoles(id: MachineId): void;
  close(): void;
}

/** The part of the contract that manages machines. */
export function incusManagement(parts: Parts): MachineManagement & OwnManagement {
  const { options, client, cluster, engine, images, instances, seeds, oneAtATime } = parts;
  const snapshots = instanceSnapshots(parts);
  const backups = instanceBackups(parts);
  const lines = sharedLines();
  const must = (wanted: HypervisorCapability) => requireCapability(engine, wanted);

  async function mustExist(id: MachineId): Promise<Instance> {
    checkInstanceName(id);
    const found = await instances.find(id);
    if (found) return found;
    throw new HypervisorError('machine_absent', `no machine ${id} in this cluster`, { permanent: true });
  }

  async function resize(spec: MachineSpec): Promise<void> {
    if (surePower(await mustExist(spec.id)) === 'running')
      throw new HypervisorError('not_stopped', `${spec.id} must be stopped for this`, { permanent: true });
    const profile = await instances.profile(spec.id);
    if (profile === null) return;
    if (bytesOfRoot(profile) > spec.diskGib * 2 ** 30)
      throw new HypervisorError('spec_invalid', 'a disk never shrinks', { permanent: true });
    const image = await images.find(spec.image);
    await instances.writeProfile(spec.id, profileOf(options, spec, image, notesIn(profile)));
  }

  async function setAddresses(spec: MachineSpec): Promise<void> {
    const machine = await mustExist(spec.id);
    const profile = await instances.profile(spec.id);
    const { identity, seed } = profile ? notesIn(profile) : { identity: null, seed: null };
    const known = identity && withAddresses(identity, spec.nic);
    if (known === null || seed === null) return;
    const secrets = await seeds.secrets(seed);
    await parts.replaceSeed(spec.id, known, await seeds.write(spec.id, machine.member, known, secrets));
    if (surePower(machine) === 'running') must('guest_agent');
  }

  /**
   * Every member is asked, since each counts its own machines alone: at its own address, and at the endpoints, for one whose address leads
   * nowhere from here. One that is silent has none to tell of.
   */
  async function sample(): Promise<MachineSample[]> {
    const [metrics, reports] = await Promise.all([
      cluster.addresses().then((addresses) => client.fromEach('/1.0/metrics', addresses)),
      instances.list(),
    ]);
    const at = new Date();
    const counted = metrics.map((each) => countersIn(each.toString('utf8'), options.project));
    return reports.flatMap(({ id, startedAt }) => {
      const counters = counted.map((each) => each.get(id)).find((each) => each !== undefined);
      return startedAt === null || counters === undefined ? [] : { id, at, startedAt, ...counters };
    });
  }

  return {
    async resize(spec) {
      checkSpec(spec);
      await oneAtATime(spec.id, () => resize(spec));
      return { restartNeeded: false };
    },
    async rebuildDisk(spec) {
      checkSpec(spec);
      checkInstanceName(spec.id);
      await oneAtATime(spec.id, () => rebuildDisk(parts, spec));
    },
    async openConsole(id, kind) {
      must(kind);
      if (surePower(await mustExist(id)) === 'stopped')
        throw new HypervisorError('not_running', `${id} is not running`);
      return lines.attach(id, () => openSerialLine(client, id));
    },
    async readScreen(id) {
      must('vnc');
      throw new HypervisorError('screen_failed', `the screen of ${id} cannot be read`);
    },
    async createSnapshot(id, name) {
      checkCopyName(name);
      return oneAtATime(id, () => snapshots.create(id, name));
    },
    async restoreSnapshot(id, name) {
      checkCopyName(name);
      await oneAtATime(id, () => snapshots.restore(id, name));
    },
    async deleteSnapshot(id, name) {
      checkCopyName(name);
      await oneAtATime(id, () => snapshots.delete(id, name));
    },
    listSnapshots: (id) => snapshots.list(id),
    async createBackup(id, name) {
      checkCopyName(name);
      return oneAtATime(id, () => backups.create(id, name));
    },
    async restoreBackup(spec, name) {
      checkSpec(spec);
      checkCopyName(name);
      await oneAtATime(spec.id, () => backups.restore(spec, name));
    },
    async deleteBackup(id, name) {
      checkCopyName(name);
      await oneAtATime(id, () => backups.delete(id, name));
    },
    listBackups: (id) => backups.list(id),
    openBackup: () => keepsItsOwnForm('incus'),
    async setPassword(_id, passwordHash) {
      checkPasswordHash(passwordHash);
      must('guest_agent');
    },
    async setAuthorizedKeys(_id, keys) {
      checkAuthorizedKeys(keys);
      must('guest_agent');
    },
    async setHostname(_id, hostname) {
      checkHostname(hostname);
      must('guest_agent');
    },
    async setAddresses(spec) {
      checkSpec(spec);
      await oneAtATime(spec.id, () => setAddresses(spec));
    },
    sample,
    endConsoles: (id) => lines.end(id),
    close: () => lines.close(),
  };
}
