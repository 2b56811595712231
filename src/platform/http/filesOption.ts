import type { Readable } from 'node:stream';
import type { Config } from '../../config.ts';
import type { Context } from '../context.ts';
import type { Drivers } from '../drivers.ts';

/** Under which name files in JSON have their bytes, in base64. */
export const contentField = 'content_base64';

/** A file that came with a request and is kept, with what its sender says of it. */
export interface ReceivedFile {
  readonly id: number;
  readonly name: string;
  /** Null in JSON, which says nothing of it. */
  readonly claimedType: string | null;
}

/** What becomes of a file while it arrives. */
export interface Keeping {
  drivers: Partial<Drivers>;
  /** Of the path, as they came. */
  params: Readonly<Record<string, string>>;
  content: Readable;
}

/**
 * Files beside the fields of a body: as a form (`multipart/form-data`), or in JSON as `{name, content_base64}`. Each is kept
 * while it arrives, before the handler runs and outside any transaction; the handler gets them as `req.files`.
 */
export interface FilesOption {
  /** The field with the files; in the schema of the body it is an optional list of `{name, content_base64}`. */
  field: string;
  /** How many, and how long each. */
  limits(config: Config): { most: number; bytes: number };
  /** Keeps one. The digest is what a repeated request is known by. */
  keep(ctx: Context, file: Keeping): Promise<{ id: number; digest: Buffer }>;
  /** Takes away, of these, what the handler had no use for, such as when it failed. */
  forget(ctx: Context, drivers: Partial<Drivers>, ids: readonly number[]): Promise<void>;
}
