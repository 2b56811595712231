/** What of a call tells apart whose answer it is. */
type Headers = Readonly<Record<string, string>>;

/** Reads that were begun before those who want their answers were there. */
const begun = new Map<string, Promise<Response>>();
/** What is older is not what somebody wants who asks now. */
const freshMs = 60_000;

const nameOf = (target: string, headers: Headers) =>
  JSON.stringify([target, headers['x-organization-id'], headers.token]);

/** Asks for it now; the first who asks for the same gets this answer. */
export function begin(target: string, headers: Headers = {}): Promise<Response> {
  const answer = fetch(target, { headers: { accept: 'application/json, */*;q=0.5', ...headers } });
  const name = nameOf(target, headers);
  begun.set(name, answer);
  setTimeout(() => begun.delete(name), freshMs);
  // Who wants it asks again, and says what is wrong.
  answer.catch(() => begun.delete(name));
  return answer;
}

/** Whether somebody's answer waits to be taken. */
export function isBegun(target: string): boolean {
  return [...begun.keys()].some((name) => name.startsWith(JSON.stringify([target]).slice(0, -1)));
}

/** What was begun is older than what has been told of since: nobody takes it any more. */
export function forgetBegun(): void {
  begun.clear();
}

/** The answer of what was begun, for one; null when it was not. */
export function takeBegun(target: string, headers: Headers): Promise<Response> | null {
  const name = nameOf(target, headers);
  const answer = begun.get(name) ?? null;
  begun.delete(name);
  return answer;
}
