import { type DestinationStream, pino } from 'pino';

const atMostLetters = 16_000;
/** Lines wait this long here and as long again in pino's destination, which must not write each by itself. */
const atMostMs = 100;

type Lines = DestinationStream & { flush(then: (error?: Error) => void): void };

let opened: Lines | undefined;

/**
 * Standard error, where all logs of this process go. Lines are gathered for up to 200 ms or 16 KB: writing each at once
 * costs a busy API a tenth of its speed. pino's destination gathers as well, but measures all it holds at each line.
 */
export function standardError(): Lines {
  opened ??= gather();
  return opened;
}

function gather(): Lines {
  const out = pino.destination({ dest: 2, sync: false, minLength: atMostLetters, periodicFlush: atMostMs });
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const handOver = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (lines !== '') out.write(lines);
    lines = '';
  };
  process.once('exit', () => {
    handOver();
    out.flushSync();
  });
  return {
    write(line) {
      lines += line;
      if (lines.length >= atMostLetters) handOver();
      else timer ??= setTimeout(handOver, atMostMs);
    },
    flush(then) {
      handOver();
      out.flush(then);
    },
  };
}
