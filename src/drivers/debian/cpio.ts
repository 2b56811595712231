import type { FileEntry } from './tar.ts';

/**
 * An initramfs in the kernel's `newc` format, everything owned by root.
 * Format: the kernel's Documentation/driver-api/early-userspace/buffer-format.rst.
 */
export function cpioArchive(
  directories: readonly string[],
  files: readonly FileEntry[],
  links: readonly { path: string; target: string }[] = [],
): Buffer {
  let inode = 1;
  const parts: Buffer[] = [];
  const add = (path: string, mode: number, content: Buffer) => {
    const name = Buffer.from(`${path}\0`);
    const fields = [inode++, mode, 0, 0, 1, 0, content.length, 0, 0, 0, 0, name.length, 0];
    const header = `070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`;
    parts.push(padded(Buffer.concat([Buffer.from(header), name])), padded(content));
  };
  for (const directory of directories) add(directory, 0o040755, Buffer.alloc(0));
  for (const file of files) add(file.path, 0o100000 | (file.mode ?? 0o644), Buffer.from(file.content));
  for (const link of links) add(link.path, 0o120777, Buffer.from(link.target));
  add('TRAILER!!!', 0, Buffer.alloc(0));
  return Buffer.concat(parts);
}

function padded(buffer: Buffer): Buffer {
  return Buffer.concat([buffer, Buffer.alloc((4 - (buffer.length % 4)) % 4)]);
}
