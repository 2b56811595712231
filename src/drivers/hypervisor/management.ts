import type { Duplex } from 'node:stream';
import type { MachineId, MachineSpec } from './machine.ts';
import type { PortableDisk } from './portable.ts';

/**
 * What the VPS manager asks of a driver beyond a machine's life: size, consoles, snapshots, the guest's agent,
 * counters. The rules of `contract.ts` hold here too. Names of snapshots and backups are 1 to 64 letters, digits,
 * dots, hyphens and underscores, a letter or digit first.
 */
export interface MachineManagement {
  /**
   * Brings the machine to the size of `spec`. A disk grows at once, running or not, and never shrinks
   * (`spec_invalid`); cores and memory count from the next start. Says whether the machine must be started anew.
   * Without `live_resize` a running machine is `not_stopped`, permanent.
   */
  resize(spec: MachineSpec): Promise<{ restartNeeded: boolean }>;

  /**
   * Takes a stopped machine's disk away, snapshots too, and makes a new one from `spec.image`. Backups stay. Here
   * and below, a running machine is `not_stopped`, permanent. Fails: the disk is as before.
   */
  rebuildDisk(spec: MachineSpec): Promise<void>;

  /**
   * The machine's screen (RFB) or its serial line, as a stream of bytes both ways; `not_running`. Any number at
   * once: they show the same. Closes when the machine goes away.
   */
  openConsole(id: MachineId, kind: ConsoleKind): Promise<Duplex>;

  /**
   * What is on the machine's screen now, as a PNG of true colours and at most 8 MiB that holds nothing but pixels, and the
   * same bytes as long as they are the same; `not_running`. Asked again and again: whoever hangs is given up on within
   * seconds, and the machine goes on.
   */
  readScreen(id: MachineId): Promise<Buffer>;

  /**
   * Keeps the disk as it is now under a name, running or stopped, its file systems consistent (the guest is
   * asked to settle when its agent answers). A name that exists already: succeeds, with what is there of it, so whoever
   * begins looks first whether that is another one. Fails: the machine is as before.
   * Here and for backups, also when one comes back, `no_space` says that the node has none to spare, and nothing was
   * begun.
   */
  createSnapshot(id: MachineId, name: string): Promise<SnapshotFacts>;
  /** Brings the disk back to a snapshot. The machine must be stopped; later snapshots stay. */
  restoreSnapshot(id: MachineId, name: string): Promise<void>;
  /** No such snapshot: succeeds. */
  deleteSnapshot(id: MachineId, name: string): Promise<void>;
  listSnapshots(id: MachineId): Promise<SnapshotFacts[]>;

  /** Like snapshots, but whole copies in files of their own, which survive the disk. */
  createBackup(id: MachineId, name: string): Promise<SnapshotFacts>;
  /**
   * Writes the backup over a stopped machine's disk, whose snapshots stay. It grows to the size of `spec`. An engine whose snapshots go with
   * the disk that they are of refuses it while there are any: `not_possible`, permanent.
   */
  restoreBackup(spec: MachineSpec, name: string): Promise<void>;
  deleteBackup(id: MachineId, name: string): Promise<void>;
  listBackups(id: MachineId): Promise<SnapshotFacts[]>;
  /**
   * A backup as a file that another engine can make a disk of (`Cluster.importMachine`), for as long as the backup is there. `snapshot_absent`;
   * `not_supported`, permanent, where backups lie in a form of the engine's own.
   */
  openBackup(id: MachineId, name: string): Promise<PortableDisk>;

  /**
   * Through the guest's agent, on the running machine; `guest_silent` when it does not answer in time,
   * `guest_refused` when it answers and cannot. A guest whose identity left sign-in by password off gets it
   * opened, unless the guest's owner has closed it too.
   */
  setPassword(id: MachineId, passwordHash: string): Promise<void>;
  /** Replaces all keys of the administrator. */
  setAuthorizedKeys(id: MachineId, keys: string[]): Promise<void>;
  /** Now and for the next boots. */
  setHostname(id: MachineId, hostname: string): Promise<void>;
  /**
   * Tells the guest which addresses it has: at once where it runs, and for its next boots in any case, also when
   * this fails because it does not take them now (`not_supported` without `guest_agent`). Those that are the machine's no more go. Succeeds of a stopped
   * machine, and of one whose addresses have never changed. Packet rules are the matter of `start`.
   */
  setAddresses(spec: MachineSpec): Promise<void>;

  /** Counters of every running machine, since its start; one pass over all of them. */
  sample(): Promise<MachineSample[]>;
}

export type ConsoleKind = 'vnc' | 'serial';

export interface SnapshotFacts {
  name: string;
  /** What it holds; a snapshot takes so much of the node at most, once the guest has written everything anew. */
  sizeBytes: number;
  createdAt: Date;
  /** Just made, and the guest did not settle its file systems first: it is as after a power cut. */
  consistent?: false;
  /** Which of an engine's nodes keeps this backup, by the engine's name; absent where it lies beside the machine's disk. */
  node?: string;
}

/** Counters grow from the machine's start and begin anew with it. */
export interface MachineSample {
  id: MachineId;
  at: Date;
  startedAt: Date;
  /** Processor time used, over all cores. */
  cpuMs: number;
  /** Used as the guest counts it where its balloon tells, else what the machine holds on the host. */
  memoryUsedBytes: number;
  memoryTotalBytes: number;
  diskReadBytes: number;
  diskWrittenBytes: number;
  /** Seen from the guest. */
  netInBytes: number;
  netOutBytes: number;
}
