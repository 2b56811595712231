import type { Readable } from 'node:stream';

/**
 * Files that the product keeps beside its database, such as documents that must stay as they were made. Rules every
 * driver keeps:
 * - A file is there whole or not at all: whoever reads while it is written gets the one before it, or none.
 * - `put` resolves once the file outlives a loss of power, and never before. It can be repeated, and the last one wins.
 * - What could not be written whole leaves nothing behind: the file before it stays.
 * - Taking away a file that is not there succeeds.
 * - A name leads to one file and nowhere else; see {@link checkName}.
 * - Failures are `FilesError`s; `permanent` says whether trying again can help.
 */
export interface Files {
  /** Which engine this is: `folder`, `s3`. */
  readonly kind: string;
  /** What it can beyond what every engine must. */
  readonly capabilities: readonly FilesCapability[];
  put(name: string, content: Buffer | Readable): Promise<void>;
  /** All of a file; `file_absent` when there is none. */
  get(name: string): Promise<Buffer>;
  /** The same bit by bit, for large ones. It fails before the first byte when there is none. */
  stream(name: string): Promise<Readable>;
  exists(name: string): Promise<boolean>;
  delete(name: string): Promise<void>;
}

/** `in_backup`: a backup of the installation takes the files along. */
export type FilesCapability = 'in_backup';

export type FilesErrorCode =
  /** No name of a file; see {@link checkName}. */
  | 'name_invalid'
  /** There is no such file. */
  | 'file_absent'
  /** There is no room for it. */
  | 'files_full'
  /** What keeps the files does not answer, or does not let us. */
  | 'files_unreachable';

/** A failed call. `message` is for staff and logs. */
export class FilesError extends Error {
  readonly code: FilesErrorCode;
  /** True when repeating the call cannot help. */
  readonly permanent: boolean;
  constructor(code: FilesErrorCode, message: string, options: { permanent?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.permanent = options.permanent ?? false;
  }
}

const nameLengthAtMost = 200;

/**
 * Refuses what is no name of a file: parts of small letters, digits, dots, hyphens and underscores that begin with a
 * letter or a digit, with slashes between them, 200 characters at most. `name_invalid`.
 */
export function checkName(name: string): void {
  const isName = /^[a-z0-9][a-z0-9._-]*(\/[a-z0-9][a-z0-9._-]*)*$/.test(name);
  if (isName && name.length <= nameLengthAtMost && !name.includes('\n')) return;
  throw new FilesError('name_invalid', `${JSON.stringify(name)} is no name of a file`, { permanent: true });
}
