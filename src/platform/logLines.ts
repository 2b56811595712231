import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

const atMostLetters = 16_000;
const atMostMs = 100;
/** What waits while nobody takes lines; what comes on top is lost, and counted. */
const atMostWaiting = 8_000_000;
const askAgainMs = 100;
/** How long an end waits for whoever reads, all in all. */
const lastWaitMs = 1_000;

type Lines = DestinationStream & { flush(then: () => void): void };

let opened: Lines | undefined;
/** How the line about lost lines is written: as JSON, unless this process logs text. */
let asWritten = (line: string): string => `${line}\n`;

/**
 * Standard error, where all logs of this process go. Lines are gathered for up to 100 ms or 16 KB: writing each at once
 * costs a busy API a tenth of its speed. A reader that stands still, one that is gone and a disk that is full neither
 * end nor hold up the process: what nobody takes is lost, and once lines are taken again one says how many. Who writes
 * text gives `inWords`, which makes a whole line of that one too.
 */
export function standardError(inWords?: (line: string) => string): Lines {
  if (inWords !== undefined) asWritten = inWords;
  opened ??= gather(2);
  return opened;
}

function gather(fd: number): Lines {
  void process.stderr.fd; // having it opened makes a pipe one that says "later" instead of holding us up
  let lines = '';
  /** Taken from `lines`, and not written yet. */
  let rest: Buffer = Buffer.alloc(0);
  let timer: NodeJS.Timeout | undefined;
  /** Another thread writes `rest`. */
  let isWriting = false;
  /** Nobody takes lines at the moment; only the timer asks again. */
  let isStanding = false;
  /** What was written last ended in the middle of a line. */
  let isMidLine = false;
  let lost = 0;

  const take = (): void => {
    rest = Buffer.from(isMidLine ? `\n${lines}` : lines);
    lines = '';
  };
  const written = (count: number): void => {
    if (count > 0) isMidLine = rest[count - 1] !== newline;
    rest = rest.subarray(count);
    if (rest.length > 0 || lost === 0) return;
    lines = asWritten(lossOf(lost)) + lines;
    lost = 0;
  };
  const lose = (): void => {
    for (const byte of rest) if (byte === newline) lost += 1;
    rest = Buffer.alloc(0);
  };

  const handOver = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (isWriting) return;
    if (rest.length === 0) take();
    if (rest.length === 0) return;
    isWriting = true;
    write(fd, rest, (error, count) => {
      isWriting = false;
      if (error === null) written(count);
      else if (!isLater(error)) lose();
      isStanding = error !== null;
      if (isStanding) timer ??= setTimeout(handOver, askAgainMs).unref();
      else if (rest.length > 0 || lines.length >= atMostLetters) handOver();
      else if (lines !== '') timer ??= setTimeout(handOver, atMostMs);
    });
  };

  process.once('exit', () => {
    const until = performance.now() + lastWaitMs;
    if (isWriting) {
      sleep(20); // it is another thread's, which ends it; what it was is no more ours
      rest = Buffer.alloc(0);
    }
    while (performance.now() < until && (rest.length > 0 || lines !== '')) {
      if (rest.length === 0) take();
      try {
        written(writeSync(fd, rest));
      } catch (error) {
        if (!isLater(error as NodeJS.ErrnoException)) return;
        sleep(10);
      }
    }
  });

  return {
    write(line) {
      if (lines.length + line.length > atMostWaiting) {
        lost += 1;
        return;
      }
      lines += line;
      if (isWriting || isStanding) return;
      if (lines.length >= atMostLetters) handOver();
      else timer ??= setTimeout(handOver, atMostMs);
    },
    flush(then) {
      const until = performance.now() + lastWaitMs;
      const look = (): void => {
        handOver();
        const isDone = rest.length === 0 && lines === '' && !isWriting;
        if (isDone || performance.now() >= until) then();
        else setTimeout(look, 5);
      };
      look();
    },
  };
}

const newline = 10;

function isLater({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EAGAIN' || code === 'EBUSY' || code === 'EINTR';
}

function lossOf(count: number): string {
  const message = 'lines of the log were lost: nobody took them, or the disk was full';
  return JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines: count, msg: message });
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
