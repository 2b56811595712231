import type { HypervisorCapability } from './capabilities.ts';
import type { Hypervisor, MachineEvent, MachineId, MachineReport, NodeCapacity } from './contract.ts';
import type { MachineSpec } from './machine.ts';
import type { MachineSample } from './management.ts';
import type { PortableDisk } from './portable.ts';

/** Engines that run many hosts behind one API. */
export const clusterEngines = ['incus', 'proxmox'] as const;
export type ClusterEngine = (typeof clusterEngines)[number];

/** Where a cluster answers, what proves it, and what of it is ours alone. */
interface ClusterPlace {
  /** `https://host:port`, any of which will do. */
  endpoints: readonly string[];
  /** SHA-256 of the certificates that it presents, in small hexadecimal digits. Whoever presents another is told nothing. */
  fingerprints: readonly string[];
  /** The first of them that was seen, PEM. */
  serverCertificate: string;
  /** A project of Incus, a resource pool of Proxmox VE. */
  project: string;
  /** The storage that disks are made in. */
  pool: string;
  bridge: string;
}

/** What we are known by at an engine, and what else only that one knows. */
export type ClusterAccess =
  | {
      engine: 'incus';
      /** PEM. */
      certificate: string;
      key: string;
    }
  | {
      engine: 'proxmox';
      tokenId: string;
      tokenSecret: string;
      /** A storage of files: what guests are told, and images. */
      files: string;
      /** Numbers that our machines take, both included. */
      vmids: { first: number; last: number };
    };

export type ClusterConnection = ClusterPlace & ClusterAccess;

/** A host of a cluster, as the engine tells of it. */
export interface MemberReport {
  name: string;
  /** Where the engine reaches it, by which it is known when it is renamed; null where the engine does not say. */
  address: string | null;
  /** Whether the others of the cluster hear of it. */
  answers: boolean;
  /** What it lacks to take new machines, a sentence each without the full stop. */
  troubles: string[];
  /** Null while it cannot be told. */
  capacity: NodeCapacity | null;
  /** What nobody uses at the moment, neither our machines nor others'. Absent while it cannot be told. */
  free?: {
    /** Null where its engine counts as used what gives way to machines, as the cache of ZFS does. */
    memoryMib: number | null;
    diskGib: number;
  };
}

/** What was found where a cluster should be. */
export interface ClusterFindings {
  /** Null where it was not told. */
  version: string | null;
  /** How the version stands to those that the driver was tested with. */
  tested: 'older' | 'tested' | 'newer' | null;
  members: string[];
  /** What lacks so that machines could run there, a sentence each without the full stop; none: it may be used. */
  problems: string[];
  /** What is no problem and still to be known, in the same form. */
  notes?: string[];
}

/**
 * What the product asks of an engine of many hosts, besides what it asks of whatever runs machines (`contract.ts`): which hosts there are.
 * Calls end within seconds; `waits` of a failure says that nothing could be learnt, which is no failure of what was asked for.
 */
export interface Cluster {
  readonly kind: ClusterEngine;
  readonly capabilities: readonly HypervisorCapability[];

  /** How it brings machines to other members: while they run, when they are off, or not at all. */
  readonly moves: readonly ('live' | 'cold')[];

  /** Looks for all that machines will need, and changes nothing that stays. Fails where the cluster cannot be spoken to. */
  look(): Promise<ClusterFindings>;

  /** The members that the engine knows now. */
  nodes(): Promise<MemberReport[]>;

  /** The same engine; machines that it makes are made on this member. */
  on(member: string): Hypervisor;

  /** As a hypervisor's; to its members the engine brings it by itself. */
  ensureImage: Hypervisor['ensureImage'];

  /**
   * Brings a machine to another member, with its disk, its copies and all that it is; resolves once it is there. One that is there already is
   * success, and after a crash in the middle the same call goes on: the machine is on one member or the other, and whole.
   *
   * `live`: one that runs goes on running, and its guest does not notice more than a moment's silence; `not_possible`, permanent and in
   * words, where the engine cannot do that with this machine. Without it only a stopped machine is moved, else `not_stopped`. A stopped one
   * is moved either way and stays stopped. `machine_absent`; `spec_invalid` where there is no such member; `not_possible` as well where the
   * other member has no room or does not answer; `disk_failed` where it did not come to its end.
   */
  move(id: MachineId, member: string, options: { live: boolean }): Promise<void>;

  /**
   * Makes a machine on a member, and its disk from a backup of another one (`createBackup`), grown to the size of `spec`: for one whose own
   * member is lost, of which nothing is asked. Its guest finds itself the same machine. It is as after `createDisk`: not started, and
   * without the name and network of `writeIdentity`. Whole already: succeeds. `snapshot_absent`; `waits` while what has the backup does
   * not answer; `not_supported` without `backups`.
   */
  recover(spec: MachineSpec, member: string, backup: { of: MachineId; name: string }): Promise<void>;

  /** Backups of one machine are another's from now on, wherever they lie; none: succeeds. */
  handOver(from: MachineId, to: MachineId): Promise<void>;

  /**
   * Makes a machine on a member, with a disk that another engine has had, grown to the size of `spec`. As with `recover` its guest finds
   * itself the same machine, and it is as after `createDisk`: not started. Whole already: succeeds, whatever the disk is. `image_unknown`
   * where the cluster does not have the image of `spec`, by which it is known how its guest is told who it is.
   */
  importMachine(spec: MachineSpec, member: string, disk: PortableDisk): Promise<void>;

  /** Every machine of ours in the cluster, with the `node` that has it. */
  list(): Promise<MachineReport[]>;
  sample(): Promise<MachineSample[]>;

  /** Begins to listen for what happens to machines; `watch` is told from then on. */
  listen(): Promise<void>;
  watch(listener: (event: MachineEvent) => void): () => void;

  close(): Promise<void>;
}
