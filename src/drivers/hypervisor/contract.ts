import type { HypervisorCapability } from './capabilities.ts';
import type { MachineId, MachineSpec } from './machine.ts';
import type { MachineManagement } from './management.ts';

export { HypervisorError, type HypervisorErrorCode } from './failure.ts';

export type { MachineId, MachineSpec, Nic, NicAddress } from './machine.ts';

/**
 * What the product asks of whatever runs its machines: their life, below, and everything else that is done to
 * them, in `management.ts`. It speaks of machines, disks, addresses, images and
 * consoles, so that one suite (`conformance.ts`) tells whether a new engine fits.
 *
 * Rules every driver keeps:
 * - Every method can be repeated: calling it again after a success, or after a crash in the middle, ends in
 *   the same state and is not an error. `destroy` of an unknown machine succeeds.
 * - What has succeeded outlives a power cut of the node: the database says that it is so, and nobody looks again.
 * - Machines belong to no process of ours: they run on when the product dies and are found again by `list`.
 * - A driver keeps no truth of its own. What a machine should be arrives as a `MachineSpec` each time.
 * - Failures are `HypervisorError`s; `permanent` says whether trying again can help.
 */
export interface Hypervisor extends MachineLife, MachineManagement {}

/** Whatever runs the machines of a node; `host_not_ready` when this process does not run that node. */
export type HypervisorOf = (nodeId: number) => Hypervisor;

export interface MachineLife {
  /** Which engine this is, as stored with a node: `qemu`, `simulator`. */
  readonly kind: string;
  /** What it can of all that an engine may lack; conformance holds it to this. */
  readonly capabilities: readonly HypervisorCapability[];

  /** Makes the host ready (programs, bridge, packet rules) and adopts machines that are already running. */
  prepare(progress: Progress): Promise<void>;

  /** What this node can hold in all, and the acceleration its machines run with. */
  capacity(): Promise<NodeCapacity>;

  /**
   * What its host lacks to take new machines, a sentence each without the full stop, for staff; none: it takes them.
   * Machines that it has stay and can be started. Asked again and again: it is quick, and tells when it is over.
   */
  troubles(): Promise<string[]>;

  /**
   * Puts back what its machines stand on and somebody has taken away from the host since `prepare`, such as their packet rules.
   * Asked again and again: it is quick where nothing is missing.
   */
  mend(): Promise<void>;

  /**
   * Builds, downloads or finds an image so that disks can be made from it. Long the first time. A slug stands for one
   * source for ever: asked for with another, or when a download is not what it should be, `image_rejected`, permanent.
   */
  ensureImage(image: ImageSource, progress: Progress): Promise<void>;

  /** Makes the machine's disk from its image, of the size asked. An existing disk of this machine stays. */
  createDisk(spec: MachineSpec): Promise<void>;

  /**
   * Leaves for the guest what it takes on at its next boot: name, network, first password and keys. Secrets
   * live on the host only until `forgetSecrets`. With `boot: 'rescue'` the rescue system takes them too; one that
   * was told none lets in whom the machine's own disk lets in.
   */
  writeIdentity(spec: MachineSpec, identity: GuestIdentity): Promise<void>;

  /** Removes from the host what `writeIdentity` left of secrets; the network part stays. Nothing left: succeeds. */
  forgetSecrets(id: MachineId): Promise<void>;

  /**
   * Starts the machine with its network plugged and guarded, its disk at least as large as `spec` says. Running
   * already: it runs on, and its packet rules are put in place again.
   */
  start(spec: MachineSpec): Promise<void>;

  /**
   * Resolves when the machine answers on SSH at its first address and its guest has taken on what `writeIdentity` left
   * for it, as its agent tells; one without an agent, or that takes very long over it, counts as ready without. Fails
   * when the deadline comes before SSH answers, or when it died.
   */
  waitUntilReady(spec: MachineSpec, deadline: Deadline): Promise<void>;

  /**
   * Asks the guest to shut down and waits. `permanent: false, code: 'shutdown_timeout'` at the deadline. Of a
   * stopped machine: succeeds. Here and below, an unknown machine is `machine_absent`, permanent.
   */
  shutdown(id: MachineId, deadline: Deadline): Promise<void>;

  /** Takes the power away at once, whatever else is under way with the machine; the disk stays. */
  powerOff(id: MachineId): Promise<void>;

  /**
   * Takes a stopped machine off its host's network, so that another host may have what answers at its addresses; the next `start` brings it
   * back. A running one is `not_stopped`, permanent.
   */
  unplug(id: MachineId): Promise<void>;

  /**
   * Hard reset of a running machine, without its guest's help; `not_running` when it is stopped. It may count as a start: then
   * `startedAt` is another.
   */
  reset(id: MachineId): Promise<void>;

  /** Takes everything of the machine away: process, disk, tap, packet rules, files. */
  destroy(id: MachineId): Promise<void>;

  /** How the machine is right now; an unknown one is reported `absent`. */
  inspect(id: MachineId): Promise<MachineReport>;
  /** Every machine this node has anything of, running or not. */
  list(): Promise<MachineReport[]>;

  /** Tells of power changes as they happen, whoever caused them. Returns how to stop listening. */
  watch(listener: (event: MachineEvent) => void): () => void;

  /** Lets go of connections. Machines stay as they are. */
  close(): Promise<void>;
}

/** What the guest takes on when it boots. */
export interface GuestIdentity {
  hostname: string;
  /** Administrator's password in crypt(5) form, never in clear; null leaves password sign-in off. */
  passwordHash: string | null;
  /** OpenSSH public keys, one line each. */
  authorizedKeys: string[];
  nameservers: string[];
  /** cloud-init user data, where the image understands it; at most 64 KiB. */
  userData: string | null;
}

/** `unknown`: its engine cannot tell right now, since what has the machine does not answer. It is never taken for `absent`. */
export type PowerState = 'running' | 'stopped' | 'absent' | 'unknown';

export interface MachineReport {
  id: MachineId;
  power: PowerState;
  /** When the running machine was started; null when it is not running. */
  startedAt: Date | null;
  /** It is there and has not answered its host for a while: only taking its power helps. Absent: it answers. */
  hangs?: boolean;
  /** Which of an engine's nodes has it, by the engine's name; absent where the engine is one host. */
  node?: string;
  /** What its guest may use, where the engine knows it by itself; told by `inspect` alone. */
  addresses?: string[];
}

export interface MachineEvent {
  id: MachineId;
  power: 'running' | 'stopped';
  /** `guest`: the guest shut itself down; `host`: we asked for it; `lost`: it went away by itself. */
  cause: 'guest' | 'host' | 'lost';
  at: Date;
}

export interface NodeCapacity {
  cpuCores: number;
  memoryMib: number;
  diskGib: number;
  acceleration: 'hardware' | 'emulation' | 'none';
}

/** Where an image comes from. `build` names a recipe of the driver (`tiny`, `debian-12`). */
export type ImageSource =
  | { slug: string; kind: 'build'; recipe: string }
  | { slug: string; kind: 'download'; url: string; sha256: string; guest: 'cloud-init' };

export interface Deadline {
  timeoutMs: number;
  signal?: AbortSignal;
}

/** Receives one line a stage, such as `Building the image tiny (2 of 3): packing the disk`. */
export type Progress = (line: string) => void;
