import type { Readable } from 'node:stream';
import { HypervisorError } from './failure.ts';
import type { PublicIdentity } from './machine.ts';

/** A machine's disk on its way to another engine, with what its guest knows itself by. */
export interface PortableDisk {
  /** Length of the file: a qcow2 that stands alone, as large inside as the machine's disk. */
  bytes: number;
  /** The file from its beginning, each time anew. */
  read(): Readable;
  /** What its guest was told of itself, with the name that cloud-init knows it by; null: nothing yet. */
  identity: PublicIdentity | null;
}

/** The answer of an engine that keeps backups in a form of its own. */
export async function keepsItsOwnForm(kind: string): Promise<never> {
  throw new HypervisorError('not_supported', `backups of ${kind} are no files that others can read`, {
    permanent: true,
  });
}
