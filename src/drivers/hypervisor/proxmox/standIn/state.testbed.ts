import { randomBytes } from 'node:crypto';
import type { Guest } from './guest.testbed.ts';

export type Settings = Record<string, string>;

/** A virtual machine there. */
export interface Vm {
  vmid: number;
  node: string;
  pool: string | null;
  settings: Settings;
  /** What a running machine takes at its next start only. */
  pending: Settings;
  lock: string | null;
  snapshots: Map<string, Snapshot>;
  firewall: { options: Settings; sets: Map<string, Set<string>> };
  running: { pid: number; sinceMs: number; cpus: number; memory: number; guest: Guest } | null;
  /** What the nodes told one another of it last; null: nothing yet. */
  broadcast: { name: string; status: string; cpu: number } | null;
  programs: Map<number, { exitcode: number; error: string }>;
}

export interface Snapshot {
  settings: Settings;
  description: string;
  seconds: number;
  /** The disks' contents by their volumes. */
  disks: Map<string, Volume>;
}

/** A disk: of what it was made and how large it is. */
export interface Volume {
  of: string;
  bytes: number;
}

export interface Task {
  upid: string;
  node: string;
  type: string;
  vmid: number | null;
  user: string;
  /** Null while it runs. */
  end: string | null;
  log: string[];
  cancelled: boolean;
}

export interface State {
  nodes: { name: string; isOnline: boolean; bridges: string[] }[];
  pools: string[];
  storages: { name: string; content: string; isShared: boolean }[];
  vms: Map<number, Vm>;
  /** Disks by `storage:vm-9000-disk-0`. */
  volumes: Map<string, Volume>;
  /** Files by node and volume, `n1 files:iso/a.iso`. */
  files: Map<string, Buffer>;
  tasks: Map<string, Task>;
  /** Rights by path; the entry nearest above a path counts, and no other. */
  grants: Record<string, readonly string[]>;
  journal: { node: string; seconds: number; line: string }[];
  firewallIsOn: boolean;
  version: string;
  /** How long a task takes, and a guest to boot. */
  taskMs: number;
  bootMs: number;
  consoles: Map<number, { vmid: number; ticket: string; password: string; kind: 'vnc' | 'serial' }>;
  /** Asked before a task does its work; what it returns is what the task fails with. */
  failing: (type: string, vmid: number | null) => string | null;
  ends: Set<(vmid: number) => void>;
}

export const tokenId = 'innkeeper@pve!product';
export const tokenSecret = '0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0';

export function emptyState(): State {
  return {
    nodes: [{ name: 'n1', isOnline: true, bridges: ['vmbr0'] }],
    pools: ['innkeeper'],
    storages: [
      { name: 'local-lvm', content: 'images,rootdir', isShared: false },
      { name: 'files', content: 'iso,import,backup', isShared: false },
    ],
    ...{ vms: new Map(), volumes: new Map(), files: new Map(), tasks: new Map(), consoles: new Map() },
    grants: {
      '/': ['Sys.Audit'],
      '/nodes': ['Sys.Audit', 'Sys.Syslog'],
      '/pool/innkeeper': [
        ...['Pool.Audit', 'VM.Allocate', 'VM.Audit', 'VM.Console', 'VM.PowerMgmt', 'VM.Snapshot'],
        ...['VM.Config.CDROM', 'VM.Config.CPU', 'VM.Config.Disk', 'VM.Config.HWType', 'VM.Config.Memory'],
        ...['VM.Config.Network', 'VM.Config.Options', 'VM.GuestAgent.Unrestricted', 'VM.Migrate'],
      ],
      '/storage/local-lvm': ['Datastore.AllocateSpace', 'Datastore.Audit'],
      '/storage/files': ['Datastore.Allocate', 'Datastore.AllocateTemplate', 'Datastore.Audit'],
    },
    journal: [],
    ...{ firewallIsOn: true, version: '9.1.4', taskMs: 20, bootMs: 150 },
    failing: () => null,
    ends: new Set(),
  };
}

/** What the token may do at a path. A machine in a pool has what the pool was given. */
export function rightsAt(state: State, path: string): readonly string[] {
  const [, vmid] = /^\/vms\/(\d+)$/.exec(path) ?? [];
  const pool = vmid === undefined ? null : (state.vms.get(Number(vmid))?.pool ?? null);
  if (pool !== null) return rightsAt(state, `/pool/${pool}`);
  for (let at = path; ; at = at.replace(/\/[^/]*$/, '') || '/') {
    const found = state.grants[at];
    if (found) return found;
    if (at === '/') return [];
  }
}

/** A failure of a call, as the engine tells it. */
export class Refused extends Error {
  readonly status: number;
  readonly errors: Record<string, string>;
  constructor(status: number, message: string, errors: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.errors = errors;
  }
}

let pids = 4_000;
export function nextPid(): number {
  pids += 7;
  return pids;
}

/** Begins a task: what it does, it does a little later, and how it ended is kept. */
export function beginTask(
  state: State,
  { node, type, vmid }: { node: string; type: string; vmid: number | null },
  work: (task: Task) => void | Promise<void>,
): string {
  const hex = (number: number, digits: number) => number.toString(16).toUpperCase().padStart(digits, '0');
  const seconds = Math.floor(Date.now() / 1_000);
  const start = hex(randomBytes(4).readUInt32BE(), 8);
  const upid = `UPID:${node}:${hex(nextPid(), 8)}:${start}:${hex(seconds, 8)}:${type}:${vmid ?? ''}:${tokenId}:`;
  const task: Task = { upid, node, type, vmid, user: tokenId, end: null, log: [], cancelled: false };
  state.tasks.set(upid, task);
  setTimeout(async () => {
    try {
      const failure = state.failing(type, vmid);
      if (failure !== null) throw new Error(failure);
      await work(task);
      task.log.push('TASK OK');
      task.end = 'OK';
    } catch (error) {
      const { message } = error as Error;
      task.log.push(`TASK ERROR: ${message}`);
      task.end = message;
    }
  }, state.taskMs);
  return upid;
}
