/** Tells a person what is going on while something takes its time. */
export interface Progress {
  /** Begins a stage, ending the one before. */
  stage(name: string): void;
  /** Says what the stage is at: a line of its own in a log, the rest of the line on a terminal. */
  say(detail: string): void;
  /** Ends the last stage and prints `closing`, which may have several lines. */
  done(closing?: string): void;
  /** Ends the last stage as failed. What went wrong is for the caller to print. */
  fail(): void;
}

/** The parts of a terminal or file that {@link openProgress} writes to. */
interface Out {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

const clearLine = '\r\x1b[K';

/**
 * A printer of stages with their elapsed seconds. A terminal sees one live line for each stage; a log sees a
 * line when a stage begins and ends, each detail, and a sign of life every five seconds in between.
 */
export function openProgress(out: Out = process.stdout): Progress {
  const live = out.isTTY === true;
  let stage: string | null = null;
  let detail = '';
  let beganMs = 0;
  let printedMs = 0;
  let timer: NodeJS.Timeout | undefined;

  const seconds = () => (performance.now() - beganMs) / 1000;

  function draw(elapsed = ` (${Math.floor(seconds())} s)`): void {
    const text = `  ${stage}${detail ? `: ${detail}` : ''}`;
    if (live) out.write(`${clearLine}${text.slice(0, (out.columns ?? 80) - 1 - elapsed.length)}${elapsed}`);
    else out.write(`${text}${elapsed}\n`);
    printedMs = performance.now();
  }

  function end(mark: string): void {
    clearInterval(timer);
    if (stage === null) return;
    const took = seconds();
    out.write(`${live ? clearLine : ''}${mark} ${stage}${took >= 0.1 ? ` (${took.toFixed(1)} s)` : ''}\n`);
    stage = null;
  }

  return {
    stage: (name) => {
      end('✓');
      stage = name;
      detail = '';
      beganMs = performance.now();
      if (live) draw();
      else out.write(`  ${name}\n`);
      printedMs = beganMs;
      timer = setInterval(() => {
        if (live || performance.now() - printedMs > 4_900) draw();
      }, 1_000).unref();
    },
    say: (text) => {
      if (stage === null) {
        out.write(`  ${text}\n`);
        return;
      }
      detail = text.trim();
      draw(live ? undefined : '');
    },
    done: (closing) => {
      end('✓');
      if (closing) out.write(`${closing}\n`);
    },
    fail: () => end('✗'),
  };
}
