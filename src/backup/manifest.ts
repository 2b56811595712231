import { BackupError } from './failure.ts';

export const formatOfManifest = 1;

/** A table as it is in the backup. */
export interface TableInBackup {
  name: string;
  columns: string[];
  rows: number;
  /** Of all its rows, as PostgreSQL's COPY writes them. */
  sha256: string;
}

export interface SequenceInBackup {
  name: string;
  lastValue: string;
  isCalled: boolean;
}

/** What a backup says of itself; the last file of it, so that one that was cut short has none. */
export interface Manifest {
  format: number;
  /** Moment of the snapshot. */
  madeAt: string;
  innkeeper: string;
  postgres: string;
  /** Migrations that the database had, by name, with the checksum of each. */
  migrations: Record<string, string>;
  tables: TableInBackup[];
  sequences: SequenceInBackup[];
  /** Files of DATA_DIR by their path in it, with the SHA-256 of each. */
  files: Record<string, string>;
  /** Fingerprint of the secret key that the database was filled with; null when it has none (any more). */
  keyFingerprint: string | null;
}

/** Reads a manifest. What a newer version wrote, or something else altogether, is refused. */
export function readManifest(text: string): Manifest {
  let parsed: Partial<Manifest> | null;
  try {
    parsed = JSON.parse(text) as Partial<Manifest> | null;
  } catch {
    throw new BackupError('This backup cannot be read: its manifest.json is damaged. Take another backup.');
  }
  if (typeof parsed?.format === 'number' && parsed.format > formatOfManifest) {
    throw new BackupError(
      `This backup was made by Innkeeper ${parsed.innkeeper}, whose format is newer. Use that version or a newer one.`,
    );
  }
  const isWhole =
    parsed?.format === formatOfManifest &&
    Array.isArray(parsed.tables) &&
    Array.isArray(parsed.sequences) &&
    parsed.files !== undefined &&
    parsed.migrations !== undefined;
  if (!isWhole)
    throw new BackupError('This is not a backup of Innkeeper: its manifest.json says something else.');
  return parsed as Manifest;
}

export function rowsIn(manifest: Manifest): number {
  return manifest.tables.reduce((sum, { rows }) => sum + rows, 0);
}
