/**
 * Unpacks LZ4's "legacy" stream, in which Debian's kernels are packed: a magic number, then blocks that each
 * begin with their packed size. Unpacking here once saves every emulated boot more than a second.
 * Format: lz4's doc/lz4_Frame_format.md ("Legacy frame") and doc/lz4_Block_format.md.
 */
export function unpackLegacyLz4(packed: Buffer, unpackedBytes: number): Buffer {
  if (packed.readUInt32LE(0) !== legacyMagic) throw new Error('lz4: not a legacy stream');
  const out = Buffer.allocUnsafe(unpackedBytes);
  let written = 0;
  for (let at = 4; at + 4 <= packed.length && written < unpackedBytes; ) {
    const size = packed.readUInt32LE(at);
    at += 4;
    written = unpackBlock(packed.subarray(at, at + size), out, written);
    at += size;
  }
  if (written !== unpackedBytes) throw new Error(`lz4: ${written} bytes instead of ${unpackedBytes}`);
  return out;
}

export const legacyMagic = 0x184c2102;

function unpackBlock(block: Buffer, out: Buffer, start: number): number {
  let at = 0;
  let to = start;
  const byte = () => block[at++] ?? 0;
  const extended = (length: number) => {
    let total = length;
    if (length !== 15) return total;
    for (let more = 255; more === 255; total += more) more = byte();
    return total;
  };
  while (at < block.length) {
    const token = byte();
    const literals = extended(token >> 4);
    block.copy(out, to, at, at + literals);
    at += literals;
    to += literals;
    if (at >= block.length) break; // the last sequence has no match
    const offset = byte() | (byte() << 8);
    const length = extended(token & 15) + 4;
    // A match may overlap what it writes, so it is copied forward, byte by byte where they meet.
    if (offset >= length) out.copy(out, to, to - offset, to - offset + length);
    else for (let i = 0; i < length; i++) out[to + i] = out[to + i - offset] ?? 0;
    to += length;
  }
  return to;
}
