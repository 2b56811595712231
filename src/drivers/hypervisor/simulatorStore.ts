import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { GuestIdentity, MachineSpec } from './contract.ts';
import type { Source } from './imageSource.ts';

/** What a simulated node holds. Whoever passes it to a new driver finds the machines again. */
export interface SimulatorStore {
  /** Slug → where the image comes from. */
  images: Map<string, Source>;
  machines: Map<string, SimulatedMachine>;
}

export interface SimulatedMachine {
  spec: MachineSpec | null;
  hasDisk: boolean;
  identity: GuestIdentity | null;
  /** Milliseconds since 1970; null when it is stopped. */
  startedAtMs: number | null;
  /** When it booted last: at the start or at a reset. */
  bootedAtMs: number;
  snapshots?: KeptDisk[];
  backups?: KeptDisk[];
  /** What its guest finds at a boot, and what it has since the last one. */
  addresses?: { atBoot: string[]; now: string[] };
  guest?: SimulatedGuest;
}

/** A snapshot or backup of a simulated disk. */
export interface KeptDisk {
  name: string;
  createdAtMs: number;
  diskGib: number;
}

/** What the guest of a simulated machine was told through its agent. */
export interface SimulatedGuest {
  passwordHash: string | null;
  authorizedKeys: string[];
  hostname: string | null;
}

export type SimulatedCall =
  | 'ensureImage'
  | 'createDisk'
  | 'writeIdentity'
  | 'start'
  | 'shutdown'
  | 'powerOff'
  | 'destroy'
  | 'keep'
  | 'restore'
  | 'resize';

export function simulatorStore(): SimulatorStore {
  return { images: new Map(), machines: new Map() };
}

/** Reads a node from a file, empty when there is none; with {@link saveStore} a node outlives its process. */
export function loadStore(file: string): SimulatorStore {
  try {
    const stored: { sources?: [string, Source][]; machines: [string, SimulatedMachine][] } = JSON.parse(
      readFileSync(file, 'utf8'),
    );
    return { images: new Map(stored.sources), machines: new Map(stored.machines) };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return simulatorStore();
    throw error;
  }
}

export function saveStore(store: SimulatorStore, file: string): void {
  writeFileSync(
    `${file}.partial`,
    JSON.stringify({ sources: [...store.images], machines: [...store.machines] }),
  );
  renameSync(`${file}.partial`, file);
}
