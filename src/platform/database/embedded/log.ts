import fs from 'node:fs/promises';

/** The log and the one before it each stay near this size. */
const maxLogBytes = 10 * 1024 ** 2;

/**
 * Moves what is in the log aside once it is large, and empties it in place: the server holds the file open
 * for appending and goes on writing at its new end. Lines written in between the two are lost.
 */
export async function boundLog(logFile: string, maxBytes = maxLogBytes): Promise<void> {
  if ((await logBytes(logFile)) <= maxBytes) return;
  await fs.copyFile(logFile, `${logFile}.1`);
  await fs.truncate(logFile);
}

/** Size of the log in bytes, 0 when there is none: a place to read from later. */
export async function logBytes(logFile: string): Promise<number> {
  return fs.stat(logFile).then(
    (found) => found.size,
    () => 0,
  );
}

/** What the server logged since the log had `fromBytes`, at most the last four thousand bytes of it. */
export async function readLogSince(logFile: string, fromBytes: number): Promise<string> {
  const end = await logBytes(logFile);
  const start = Math.max(fromBytes, end - 4_000, 0);
  if (end <= start) return '';
  const file = await fs.open(logFile, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    return buffer.toString('utf8', 0, bytesRead).trim();
  } finally {
    await file.close();
  }
}
