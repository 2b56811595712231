import { createHash } from 'node:crypto';
import { fileTypeFromBuffer } from 'file-type';
import { type Files, FilesError } from '../../drivers/files/index.ts';
import type { Bytes } from '../../platform/http/index.ts';
import { fail } from '../../platform/index.ts';
import { mostPictureBytes } from './schema.ts';

/** What browsers show and can run nothing of: an SVG is a program. */
const types: Readonly<Record<string, string>> = { png: 'image/png', webp: 'image/webp' };

/** Where a picture is kept. */
export const pictureFile = (name: string) => `brand/${name}`;

/** Keeps a picture under a name that follows from its bytes, and answers the name. `invalid_request`, `unavailable`. */
export async function keepPicture(files: Files, content: string): Promise<{ picture: string }> {
  const bytes = Buffer.from(content, 'base64');
  const found = await fileTypeFromBuffer(bytes).catch(() => undefined);
  if (found === undefined || !(found.ext in types)) throw refused('is no PNG and no WebP');
  if (bytes.length > mostPictureBytes) throw refused('is larger than 256 KiB');
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
  const picture = `${digest}.${found.ext}`;
  await files.put(pictureFile(picture), bytes).catch((error: unknown) => {
    throw asRefusal(error);
  });
  return { picture };
}

/** `not_found`, `unavailable`. */
export async function readPicture(files: Files, name: string): Promise<Bytes> {
  const body = await files.get(pictureFile(name)).catch((error: unknown) => {
    throw asRefusal(error);
  });
  // Its name changes with its bytes.
  return {
    body,
    type: types[name.split('.')[1] ?? ''],
    length: body.length,
    isStrangers: true,
    isImmutable: true,
  };
}

function refused(message: string) {
  return fail('invalid_request', { details: [{ field: 'content_base64', message }] });
}

function asRefusal(error: unknown) {
  if (!(error instanceof FilesError)) return error;
  if (error.code === 'file_absent') return fail('not_found', { cause: error });
  return fail('unavailable', {
    message: 'Files cannot be kept or read right now; try again shortly',
    cause: error,
  });
}
