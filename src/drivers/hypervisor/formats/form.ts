import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';

/** A part of a form: what it says, or a file under a name, whose content is at hand or in a file of ours. */
export type FormPart = { name: string; value: string } | FormFile;
export interface FormFile {
  name: string;
  filename: string;
  content: Buffer | { path: string };
}

const boundary = 'innkeeper-5f2d1c7e9a';

/** A form with files, to be sent as one body: RFC 7578. Names and values are ours and hold no quotes or line breaks. */
export async function formBody(parts: readonly FormPart[]) {
  const pieces: (Buffer | { path: string })[] = [];
  let bytes = 0;
  const add = async (piece: Buffer | { path: string }) => {
    pieces.push(piece);
    bytes += Buffer.isBuffer(piece) ? piece.length : (await stat(piece.path)).size;
  };
  for (const part of parts) {
    const isFile = 'filename' in part;
    const file = isFile ? `; filename="${part.filename}"\r\nContent-Type: application/octet-stream` : '';
    await add(
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${part.name}"${file}\r\n\r\n`),
    );
    await add(isFile ? part.content : Buffer.from(part.value));
    await add(Buffer.from('\r\n'));
  }
  await add(Buffer.from(`--${boundary}--\r\n`));
  async function* whole() {
    for (const piece of pieces) {
      if (Buffer.isBuffer(piece)) yield piece;
      else yield* createReadStream(piece.path);
    }
  }
  return { stream: () => Readable.from(whole()), bytes, type: `multipart/form-data; boundary=${boundary}` };
}
