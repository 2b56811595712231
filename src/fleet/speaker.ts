const sayEveryMs = 1_000;
const longestLine = 500;

/** Writes the newest line down, at most once a second: builders say more than anybody reads. */
export function speaker(write: (line: string) => Promise<void>) {
  let latest: string | null = null;
  let writing: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    if (latest === null) return;
    const line = latest.slice(0, longestLine);
    latest = null;
    writing = write(line).catch(() => undefined);
  }, sayEveryMs);
  return {
    say: (line: string) => {
      latest = line;
    },
    end: async () => {
      clearInterval(timer);
      await writing;
    },
  };
}
