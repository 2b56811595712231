import type { Readable } from 'node:stream';

/** Reads a stream by exact lengths. */
export interface ByteReader {
  /** The next bytes; fails when the stream ends before. */
  take(length: number): Promise<Buffer>;
  /** Stops reading; what came and was not taken is put back. */
  release(): void;
}

export function byteReader(stream: Readable): ByteReader {
  let bytes = Buffer.alloc(0);
  let wake: () => void = () => undefined;
  const collect = (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    wake();
  };
  const ended = () => wake();
  stream.on('data', collect).once('close', ended);
  stream.resume(); // another reader may have paused it

  return {
    async take(length) {
      while (bytes.length < length) {
        if (stream.destroyed) throw new Error('the stream ended before all was said');
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const taken = bytes.subarray(0, length);
      bytes = bytes.subarray(length);
      return taken;
    },
    release() {
      stream.off('data', collect).off('close', ended);
      stream.pause();
      if (bytes.length > 0) stream.unshift(bytes);
    },
  };
}
