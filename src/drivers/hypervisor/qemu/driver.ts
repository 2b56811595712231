import { chmod, mkdir, rm, statfs } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { syncFolder } from '../../../platform/host/durable.ts';
import { serially } from '../../serially.ts';
import { hypervisorCapabilities } from '../capabilities.ts';
import { reasonAgainstConfinement } from '../confined.ts';
import { type Hypervisor, HypervisorError, type MachineSpec } from '../contract.ts';
import { canRunMachines, missingHostPackages } from '../host.ts';
import { ensureNetboot } from '../images/netboot.ts';
import { probeKernel } from '../images/probeKernel.ts';
import type { ImageDescription } from '../images/recipe.ts';
import { imageStore, imagesAtHand } from '../images/store.ts';
import { checkIdentity, checkSpec } from '../spec.ts';
import { type Acceleration, accelerationProbe } from './acceleration.ts';
import { findOwner, ownAccount } from './accounts.ts';
import { type Kernel, qemuArguments } from './arguments.ts';
import { abandonBackup } from './backups.ts';
import { kvmGroup, openDevices } from './devices.ts';
import { createDisk, hasBootSector } from './disk.ts';
import {
  exists,
  giveTo,
  lendTo,
  type MachineFiles,
  machineFiles,
  machineIds,
  makeMachineDir,
} from './files.ts';
import { thawForgotten } from './freeze.ts';
import { keepMachineType, machineType } from './hardware.ts';
import { forgetSecrets, readIdentity, writeIdentity, writeRescueSeed } from './identity.ts';
import { installationId } from './installation.ts';
import { baseImage, checkedHeader, imageDisk } from './layers.ts';
import { trackMachines } from './machines.ts';
import { machineManagement } from './management.ts';
import type { Monitor } from './monitor.ts';
import { writeNetbootScript } from './netboot.ts';
import { hostNetwork } from './network.ts';
import type { QemuOptions } from './options.ts';
import { pressPowerButton, takePower } from './power.ts';
import { closeRunDir, findProcess, killProcess, noteFound, startProcess, waitForEnd } from './process.ts';
import { waitForSsh } from './ready.ts';
import { enterRescue, leaveRescue, rescueImage } from './rescue.ts';
import { growDisk } from './resize.ts';
import { machineShares } from './shares.ts';
import { undoHalfRestore } from './snapshots.ts';
import { diskRoomWatch } from './space.ts';
import { throttleDisks } from './throttle.ts';

/** What else is under way with a machine ends soon when its power is gone. */
const turnMs = 10_000;
/** A process that was killed is gone at once, unless the host is out of breath. */
const killedMs = 5_000;
const sharedAccount =
  'NOT SAFE FOR STRANGERS: started as an ordinary user, all machines run under this one account. A guest that breaks out of its machine reads the data, the keys and every other machine of this installation. Start the product as root: then each machine has an account of its own';

/**
 * Runs machines with QEMU on this host, driven over QMP. Each machine is a process of its own that belongs to
 * nobody: it is found again by its pid file, which is why this driver needs no database. Calls that change the
 * same machine run one after another.
 */
export function qemuHypervisor(options: QemuOptions): Hypervisor {
  const imagesDir = options.imagesDir ?? join(options.dir, 'images');
  const images = imageStore(imagesDir);
  const acceleration = accelerationProbe(options.dir, options.log, options.kvm);
  /** A kernel to try KVM with: of the image that is at hand, or one that is fetched for it. */
  const kernelOfImage = async (slug: string) => {
    const image = await images.find(slug).catch(() => null);
    return image?.boot ? join(image.dir, image.boot.kernel) : probeKernel(imagesDir);
  };
  const diskRoom = diskRoomWatch(options.dir);
  const network = hostNetwork(options.bridge, options.netbootUrl, options.log);
  const shares = machineShares(options.log);
  const machines = trackMachines(options);
  const oneAtATime = serially();
  const filesOf = (id: string) => machineFiles(options, id);
  const { waitUntilTaken, ...management } = machineManagement({
    options,
    images,
    machines,
    filesOf,
    oneAtATime,
  });

  async function start(spec: MachineSpec, files: MachineFiles): Promise<void> {
    if (!(await exists(files.disk)) || !(await exists(files.seed))) throw absent(spec.id);
    if (await findProcess(files)) {
      await network.plug(files, spec, await findOwner(files));
      return goOn(files);
    }
    await machines.settled(spec.id);
    await undoHalfRestore(files);
    await growDisk(files, spec.diskGib * 2 ** 30);
    const found = await accelerationFor(spec, files);
    const kernel = await layOutBoot(spec, files);
    const owner = await ownAccount(files);
    await network.makeTap(files, owner);
    await makeMachineDir(files, owner);
    await giveTo(owner, files.disk); // it may have had another account until now
    await lendTo(owner, files.seed);
    const inRescue = spec.boot === 'rescue';
    if (inRescue) await checkedHeader(files, files.rescueDisk);
    const commandLine = qemuArguments({
      ...{ spec, files, kernel, acceleration: found },
      machineType: await machineType(files),
      base: imageDisk(files, await baseImage(files)),
      rescueBase: inRescue ? imageDisk(files, rescueImage) : null,
    });
    const group = found === 'hardware' ? await kvmGroup() : null;
    const coming = startProcess(files, commandLine, { owner, group }).catch(async (error: Error) => {
      if (found === 'hardware' && /kvm/i.test(error.message)) await acceleration.doubt();
      throw error;
    });
    await bothOrNone(files, coming, network.plug(files, spec, owner));
    await machines.started(files);
    await goOn(files);
  }

  /** The tap is plugged in while QEMU comes up, which takes as long; the guest waits for both. */
  async function bothOrNone(files: MachineFiles, coming: Promise<void>, plugging: Promise<void>) {
    const [came, plugged] = await Promise.allSettled([coming, plugging]);
    if (came.status === 'rejected') throw came.reason;
    if (plugged.status === 'fulfilled') return;
    // It would seem to run, and its guest never would. One that cannot be ended is found by the next start.
    await killProcess(files, 'SIGKILL');
    if (await waitForEnd(files, killedMs)) await rm(files.runDir, { recursive: true, force: true });
    throw plugged.reason;
  }

  /** A machine that was never started is not started slowly where fast ones are sold. */
  async function accelerationFor({ image }: MachineSpec, files: MachineFiles): Promise<Acceleration> {
    const kernel = () => kernelOfImage(image);
    const found = await acceleration.settle(kernel);
    if (found === 'hardware' || (await exists(files.machineType))) return found;
    const reason = await acceleration.lost(kernel);
    if (reason === null) return found;
    throw new HypervisorError('host_not_ready', `KVM does not work any more: ${reason}`);
  }

  /** Lets a guest run that is plugged in and waits for it; a crash of ours may have come before. */
  async function goOn(files: MachineFiles): Promise<void> {
    const monitor = await machines.monitor(files);
    if (!monitor) return;
    await limit(monitor);
    const { status } = (await monitor.command('query-status')) as { status?: unknown };
    if (status !== 'prelaunch') return;
    await keepMachineType(files);
    await closeRunDir(files, await findOwner(files), monitor.pid);
    await monitor.command('cont');
  }

  /** Holds a machine to its shares of the host, also one that runs already. */
  async function limit(monitor: Monitor): Promise<void> {
    await Promise.all([
      shares.take(monitor.files.id, monitor.pid),
      throttleDisks(monitor, options.diskLimits),
    ]);
  }

  /** Makes ready what the machine starts from, and says which kernel that is: its image's, a rescue system's, iPXE. */
  async function layOutBoot(spec: MachineSpec, files: MachineFiles): Promise<Kernel | null> {
    const say = (line: string) => options.log.info({ machine: spec.id }, line);
    if (spec.boot === 'rescue') {
      await images.ensure({ slug: rescueImage, kind: 'build', recipe: rescueImage }, say);
      const image = await images.find(rescueImage);
      await enterRescue(files, image.dir, await ownAccount(files));
      return kernelOf(image);
    }
    await leaveRescue(files);
    if (spec.boot !== 'network') {
      const kernel = kernelOf(await images.find(spec.image));
      return kernel && (await hasBootSector(files)) ? null : kernel;
    }
    const { nameservers } = await readIdentity(files);
    await writeNetbootScript(files, spec.nic, nameservers, options.netbootUrl, await ownAccount(files));
    return { file: await ensureNetboot(imagesDir, say), initrd: files.netbootScript, commandLine: null };
  }

  /** Makes what all machines share of the host's network. Returns the taps of those that there are. */
  async function prepareNetwork(): Promise<ReadonlySet<string>> {
    const taps = new Set((await machineIds(options)).map((id) => filesOf(id).tap));
    await network.prepare(await installationId(options.dir), taps);
    return taps;
  }

  /** What a crash of ours may have left in a running machine. */
  async function tidy(monitor: Monitor): Promise<void> {
    await noteFound(monitor.files, monitor.pid);
    await network.adopt(monitor.files, (await readIdentity(monitor.files)).nic);
    await thawForgotten(monitor.files, monitor, options.log);
    await abandonBackup(monitor);
    await limit(monitor);
  }

  async function powerOff(files: MachineFiles): Promise<void> {
    const monitor = await machines.monitor(files);
    if (monitor) {
      await takePower(files, monitor);
      await monitor.ended;
    } else {
      await machines.settled(files.id); // its process may be gone and its end not told yet
    }
    await rm(files.runDir, { recursive: true, force: true });
    await shares.giveBack(files.id);
  }

  async function mustExist(files: MachineFiles): Promise<void> {
    if (!(await exists(files.dir))) throw absent(files.id);
  }

  return {
    kind: 'qemu',
    capabilities: hypervisorCapabilities,

    async prepare(progress) {
      progress('Preparing this host for machines');
      const answer = await canRunMachines();
      if (!answer.ok) throw new HypervisorError('host_not_ready', answer.reason);
      const missing = await missingHostPackages('start');
      if (missing.length > 0)
        throw new HypervisorError(
          'host_not_ready',
          `missing packages: ${missing.map((each) => each.package).join(' ')}`,
        );
      await mkdir(join(options.dir, 'machines'), { recursive: true });
      await mkdir(imagesDir, { recursive: true });
      await mkdir(options.runDir, { recursive: true, mode: 0o711 });
      if (process.getuid?.() === 0)
        await chmod(options.runDir, 0o711); // machines' accounts pass to their sockets
      else options.log.warn({}, sharedAccount);
      const open = await reasonAgainstConfinement();
      if (open !== null)
        options.log.warn(
          { reason: open },
          'Programs that read guests’ disks are not confined: this host lets us make no namespaces',
        );
      await openDevices();
      const taps = await prepareNetwork();
      await shares.prepare(await installationId(options.dir));
      const adopted = (await machines.adopt()).map((monitor) =>
        tidy(monitor).catch((error) =>
          options.log.warn(
            { machine: monitor.files.id, error },
            'The machine runs but could not be tidied up',
          ),
        ),
      );
      await Promise.all(adopted);
      await network.sweep(taps);
    },

    async mend() {
      if (await network.isWhole()) return;
      options.log.error(
        {},
        'Packet rules of machines, or forwarding, were gone from this host and are put back',
      );
      await prepareNetwork();
      await Promise.all(
        machines.monitors().map(async ({ files }) => network.adopt(files, (await readIdentity(files)).nic)),
      );
      await network.closeToUnknown();
    },

    async capacity() {
      await mkdir(options.dir, { recursive: true });
      const { blocks, bsize } = await statfs(options.dir);
      return {
        cpuCores: cpus().length,
        memoryMib: Math.floor(totalmem() / 2 ** 20),
        diskGib: Math.floor((blocks * bsize) / 2 ** 30),
        acceleration: await acceleration.known(),
      };
    },

    async troubles() {
      const noKvm = await acceleration.lost(async () =>
        kernelOfImage((await imagesAtHand(imagesDir))[0] ?? 'tiny'),
      );
      const noRoom = await diskRoom();
      return [
        ...(noKvm === null
          ? []
          : [`KVM has worked here and does not any more (${noKvm}): machines would be several times slower`]),
        ...(noRoom === null ? [] : [noRoom]),
      ];
    },

    async ensureImage(image, progress) {
      await images.ensure(image, progress);
      await acceleration.settle(() => kernelOfImage(image.slug));
    },

    async createDisk(spec) {
      checkSpec(spec);
      const files = filesOf(spec.id);
      const image = await images.find(spec.image);
      await oneAtATime(spec.id, async () => createDisk(spec, files, image, await findOwner(files)));
    },

    async writeIdentity(spec, identity) {
      checkSpec(spec);
      checkIdentity(identity);
      const files = filesOf(spec.id);
      const { guest } = await images.find(spec.image);
      const whole = { ...identity, guest, nic: spec.nic };
      await oneAtATime(spec.id, async () => {
        const owner = await findOwner(files);
        await writeIdentity(files, whole, owner);
        if (spec.boot !== 'rescue') return;
        await leaveRescue(files); // a new sign-in takes a new system: one takes on its identity once
        await writeRescueSeed(files, identity, owner);
      });
    },

    async forgetSecrets(id) {
      await oneAtATime(id, () => forgetSecrets(filesOf(id)));
    },

    async start(spec) {
      checkSpec(spec);
      await oneAtATime(spec.id, () => start(spec, filesOf(spec.id)));
    },

    async waitUntilReady(spec, deadline) {
      const files = filesOf(spec.id);
      await mustExist(files);
      const [first] = spec.nic.addresses;
      if (!first)
        throw new HypervisorError('spec_invalid', 'a machine without an address', { permanent: true });
      const until = Date.now() + deadline.timeoutMs;
      const isAlive = async () => (await findProcess(files)) !== null;
      await waitForSsh(first.address, deadline, isAlive);
      await waitUntilTaken(files, { ...deadline, timeoutMs: until - Date.now() });
      if (!(await isAlive()))
        throw new HypervisorError('machine_died', 'the machine ended before it was ready');
    },

    async shutdown(id, deadline) {
      const files = filesOf(id);
      await mustExist(files);
      const monitor = await machines.monitor(files);
      if (!monitor) return;
      await pressPowerButton(files, monitor, deadline);
      await monitor.ended;
    },

    async powerOff(id) {
      const files = filesOf(id);
      await mustExist(files);
      // Whoever takes the power of a machine must not wait for what else is done to it, which may wait for the machine.
      await takePower(files, await machines.monitor(files));
      const inTurn = oneAtATime(id, () => powerOff(files));
      inTurn.catch(() => undefined); // nobody may wait for it any more
      await Promise.race([inTurn, delay(turnMs, undefined, { ref: false })]);
    },

    async unplug(id) {
      const files = filesOf(id);
      await mustExist(files);
      await oneAtATime(id, async () => {
        if (await machines.monitor(files))
          throw new HypervisorError('not_stopped', `${id} must be stopped for this`, { permanent: true });
        await network.unplug(files.tap);
      });
    },

    async reset(id) {
      const files = filesOf(id);
      await mustExist(files);
      const monitor = await machines.monitor(files);
      if (!monitor) throw new HypervisorError('not_running', `${id} is not running`);
      await monitor.command('system_reset');
    },

    async destroy(id) {
      const files = filesOf(id);
      await oneAtATime(id, async () => {
        await powerOff(files);
        await network.unplug(files.tap);
        // The folder goes last: until then the machine is still listed, and destroying it can be repeated.
        await rm(files.dir, { recursive: true, force: true });
        await syncFolder(dirname(files.dir));
      });
    },

    async inspect(id) {
      const report = await machines.report(id);
      const known = await readIdentity(filesOf(id)).catch(() => null); // it has none before its seed is written
      if (known === null) return report;
      return { ...report, addresses: known.nic.addresses.map(({ address }) => address) };
    },
    list: () => machines.list(),
    watch: (listener) => machines.watch(listener),
    ...management,
    async close() {
      management.close();
      machines.release();
    },
  };
}

function kernelOf({ dir, boot }: ImageDescription & { dir: string }): Kernel | null {
  if (!boot) return null;
  return { file: join(dir, boot.kernel), initrd: join(dir, boot.initrd), commandLine: boot.commandLine };
}

function absent(id: string): HypervisorError {
  return new HypervisorError('machine_absent', `no machine ${id} on this node, or not all of it`, {
    permanent: true,
  });
}
