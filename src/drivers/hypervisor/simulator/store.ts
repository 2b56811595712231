import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { GuestIdentity, MachineSpec } from '../contract.ts';
import type { Source } from '../imageSource.ts';

/** What a simulated node holds. Whoever passes it to a new driver finds the machines again. */
export interface SimulatorStore {
  /** Slug → where the image comes from. */
  images: Map<string, Source>;
  machines: Map<string, SimulatedMachine>;
  /** Resolves once what was changed before outlives the process, where the store is one that does. */
  save(): Promise<void>;
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

/** A node that is gone with its process. */
export function simulatorStore(): SimulatorStore {
  return { images: new Map(), machines: new Map(), save: async () => undefined };
}

/** A node that outlives its process in a file; empty while there is no such file. */
export function storeInFile(file: string): SimulatorStore {
  const { images, machines } = readStore(file);
  const write = () => {
    const text = JSON.stringify({ sources: [...images], machines: [...machines] });
    // On the disk before it has the name, or a power cut leaves a file with nothing in it, which no start can read.
    writeFileSync(`${file}.partial`, text, { flush: true });
    renameSync(`${file}.partial`, file);
  };
  return { images, machines, save: oncePerTurn(write) };
}

function readStore(file: string): Pick<SimulatorStore, 'images' | 'machines'> {
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

/** Calls that come in the same turn of the event loop share one doing, which sees what all of them have changed. */
function oncePerTurn(work: () => void): () => Promise<void> {
  let next: Promise<void> | null = null;
  return () => {
    next ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      next = null;
      work();
    });
    return next;
  };
}

/** Has a call saved with all it changed before it answers, also when it fails. */
export type Keeping = <Given extends unknown[], Answer>(
  call: (...given: Given) => Promise<Answer>,
) => (...given: Given) => Promise<Answer>;

export function savedAfter(save: () => Promise<void>): Keeping {
  return (call) =>
    (...given) =>
      call(...given).finally(save);
}
