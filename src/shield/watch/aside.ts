/** Work that goes on beside the turns of a watcher, one piece at a time. */
export interface Aside {
  /**
   * Begins it, unless the piece before is still under way, and waits for it for a moment only. Fails as it does; what fails later
   * fails the next call.
   */
  take(work: () => Promise<void>): Promise<void>;
}

/** A database that does not answer keeps nobody waiting for longer: packets come meanwhile. */
const patienceMs = 1_000;

export function aside(): Aside {
  let underWay: Promise<void> | null = null;
  let failure: unknown = null;
  return {
    async take(work) {
      if (failure !== null) {
        const before = failure;
        failure = null;
        throw before;
      }
      if (underWay !== null) return;
      let isWaitedFor = true;
      const piece = work()
        .catch((error: unknown) => {
          if (isWaitedFor) throw error;
          failure = error;
        })
        .finally(() => {
          underWay = null;
        });
      underWay = piece;
      let timer: NodeJS.Timeout | undefined;
      const enough = new Promise<void>((resolve) => {
        timer = setTimeout(() => {
          isWaitedFor = false;
          resolve();
        }, patienceMs);
      });
      await Promise.race([piece, enough]).finally(() => clearTimeout(timer));
    },
  };
}
