/** How long others of this process wait for us at most. */
const longMs = 1;

/**
 * Work of many small pieces that lets requests in between: called after each piece, it waits a turn of the loop once they
 * have taken a millisecond.
 */
export function createTurn(): () => Promise<void> | undefined {
  let untilMs = performance.now() + longMs;
  return () => {
    if (performance.now() < untilMs) return undefined;
    return new Promise((goOn) => {
      setImmediate(() => {
        untilMs = performance.now() + longMs;
        goOn();
      });
    });
  };
}
