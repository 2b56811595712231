/** A file to put into an archive or onto a disk image. */
export interface FileEntry {
  /** Relative path, slashes, no leading slash. */
  path: string;
  content: string | Buffer;
  /** Permission bits. Default: 0644. */
  mode?: number;
}

/** A ustar archive of plain files owned by root, which a guest can read from a raw disk with `tar -x`. */
export function tarArchive(files: readonly FileEntry[]): Buffer {
  const blocks: Buffer[] = [];
  for (const file of files) {
    const content = Buffer.from(file.content);
    blocks.push(header(file.path, content.length, file.mode ?? 0o644), content);
    blocks.push(Buffer.alloc((512 - (content.length % 512)) % 512));
  }
  blocks.push(Buffer.alloc(1024)); // two empty blocks end an archive
  return Buffer.concat(blocks);
}

/** The files of an archive that {@link tarArchive} made, by path. */
export function tarFiles(archive: Buffer): Map<string, string> {
  const files = new Map<string, string>();
  const text = (from: number, to: number) => archive.toString('utf8', from, to);
  for (let at = 0; (archive[at] ?? 0) !== 0; ) {
    const bytes = Number.parseInt(text(at + 124, at + 135), 8);
    if (!(bytes >= 0 && at + 512 + bytes <= archive.length))
      throw new Error('an archive that is none of ours');
    const path = text(at, at + 100).replace(/\0+$/, '');
    files.set(path, text(at + 512, at + 512 + bytes));
    at += 512 * (1 + Math.ceil(bytes / 512));
  }
  return files;
}

function header(path: string, size: number, mode: number): Buffer {
  if (Buffer.byteLength(path) > 99) throw new Error(`tar: path too long: ${path}`);
  const block = Buffer.alloc(512);
  const octal = (value: number, digits: number, at: number) =>
    block.write(`${value.toString(8).padStart(digits, '0')}\0`, at, 'latin1');
  block.write(path, 0);
  octal(mode, 7, 100);
  octal(0, 7, 108);
  octal(0, 7, 116);
  octal(size, 11, 124);
  octal(0, 11, 136);
  block.write('        0', 148, 'latin1'); // the checksum counts as spaces; then type 0, a plain file
  block.write('ustar\x0000', 257, 'latin1');
  let checksum = 0;
  for (const byte of block) checksum += byte;
  block.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}
