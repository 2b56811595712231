/** How old an answer may be, while we wait for a guest. */
const askAgainMs = 500;

/** Whether a machine runs, asked of its engine now and then, however often it is wanted. */
export function aliveness(isRunning: () => Promise<boolean>): () => Promise<boolean> {
  let askedAt = 0;
  let answer = true;
  return async () => {
    if (Date.now() - askedAt < askAgainMs) return answer;
    askedAt = Date.now();
    answer = await isRunning();
    return answer;
  };
}
