import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';

/** A part of a form: what it says, or a file under a name, whose content is at hand, in a file of ours, or read from elsewhere. */
export type FormPart = { name: string; value: string } | FormFile;
export interface FormFile {
  name: string;
  filename: string;
  content: Content;
}
type Content = Buffer | { path: string } | { bytes: number; read(): Readable };

const boundary = 'innkeeper-5f2d1c7e9a';

/** A form with files, to be sent as one body: RFC 7578. Names and values are ours and hold no quotes or line breaks. */
export async function formBody(parts: readonly FormPart[]) {
  const pieces: Content[] = [];
  let bytes = 0;
  const add = async (piece: Content) => {
    pieces.push(piece);
    if (Buffer.isBuffer(piece)) bytes += piece.length;
    else bytes += 'path' in piece ? (await stat(piece.path)).size : piece.bytes;
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
      else yield* 'path' in piece ? createReadStream(piece.path) : piece.read();
    }
  }
  return { stream: () => Readable.from(whole()), bytes, type: `multipart/form-data; boundary=${boundary}` };
}
