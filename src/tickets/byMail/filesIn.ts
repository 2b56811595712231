import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { startProgram } from '../../platform/host/program.ts';

/** They are taken as slowly as they are kept. */
const longestMs = 10 * 60_000;
const memoryMib = 256;

const program = fileURLToPath(new URL('./filesProcess.ts', import.meta.url));

/**
 * The files that a mail brings, one after another as they come, taken out by a process of its own: a mail can be made to keep a
 * processor busy. Each is read to its end before the next one. Fails with a `ProgramError` when the process cannot, and as its
 * source does where that breaks off.
 */
export async function* filesIn(mail: Readable): AsyncGenerator<AsyncGenerator<Buffer>> {
  const running = startProgram([process.execPath, `--max-old-space-size=${memoryMib}`, program], {
    timeoutMs: longestMs,
  });
  // To the process a mail that breaks off looks like one that ends.
  let broken: Error | null = null;
  mail.once('error', (error) => {
    broken = error;
  });
  pipeline(mail, running.stdin).catch(() => undefined);
  const pieces = piecesOf(running.stdout);
  try {
    for (let first = await pieces.next(); !first.done; first = await pieces.next()) {
      let piece = first.value;
      const goOn = async () => {
        const next = await pieces.next();
        if (next.done) await running.ended;
        piece = next.value ?? end;
      };
      const file = async function* () {
        for (; piece.length > 0; await goOn()) yield piece;
      };
      yield file();
      while (piece.length > 0) await goOn(); // what nobody took of it
    }
    if (broken !== null) throw broken;
    await running.ended;
  } finally {
    running.kill();
    mail.destroy();
  }
}

const end = Buffer.alloc(0);

/** Pieces as they were sent, without their lengths. */
async function* piecesOf(stdout: Readable): AsyncGenerator<Buffer, void> {
  let left: Buffer = Buffer.alloc(0);
  for await (const chunk of stdout as AsyncIterable<Buffer>) {
    left = left.length === 0 ? chunk : Buffer.concat([left, chunk]);
    for (let length = lengthAt(left); length !== null; length = lengthAt(left)) {
      yield left.subarray(4, 4 + length);
      left = left.subarray(4 + length);
    }
  }
}

function lengthAt(bytes: Buffer): number | null {
  const length = bytes.length < 4 ? null : bytes.readUInt32BE(0);
  return length === null || bytes.length < 4 + length ? null : length;
}
