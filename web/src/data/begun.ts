/** What of a call tells apart whose answer it is. */
type Headers = Readonly<Record<string, string>>;

/** Reads that were begun before those who want their answers were there. */
const begun = new Map<string, Promise<Response>>();
/** What is older is not what somebody wants who asks now. */
const freshMs = 60_000;

const nameOf = (target: string, headers: Headers) =>
  JSON.stringify([target, headers['x-organization-id'], headers.token]);

/**
 * So much earlier than the account something may have been read and miss nothing: streams go on from where the account says,
 * which is some seconds before it was read itself (`journalPosition`), by this and by what transactions take.
 */
const besideMs = 2_000;

const ask = (target: string, headers: Headers, signal?: AbortSignal) =>
  fetch(target, {
    headers: { accept: 'application/json, */*;q=0.5', ...headers },
    ...(signal && { signal }),
  });

/** What came with the page: the first who asks for it gets this answer. */
export function given(target: string, headers: Headers, body: string): void {
  void keep(
    target,
    headers,
    Promise.resolve(new Response(body, { headers: { 'content-type': 'application/json' } })),
  );
}

/** Asks for it now; the first who asks for the same gets this answer. */
export function begin(target: string, headers: Headers = {}): Promise<Response> {
  return keep(target, headers, ask(target, headers));
}

/**
 * The same for what is only supposed to be asked for, beside the account. Nobody gets its answer before it is known to be
 * right; where it took so long that the answer may miss something, they get another one.
 */
export function beginBeside(target: string, headers: Headers, isRight: Promise<boolean>): void {
  const giveUp = new AbortController();
  const asked = performance.now();
  const early = ask(target, headers, giveUp.signal);
  early.catch(() => undefined);
  const given = isRight.then((right) => {
    if (right && performance.now() - asked < besideMs) return early;
    giveUp.abort();
    if (right) return ask(target, headers);
    throw new Error('it is of somebody else');
  });
  void keep(target, headers, given).catch(() => undefined);
}

function keep(target: string, headers: Headers, answer: Promise<Response>): Promise<Response> {
  const name = nameOf(target, headers);
  begun.set(name, answer);
  setTimeout(() => begun.delete(name), freshMs);
  // Who wants it asks again, and says what is wrong.
  answer.catch(() => {
    if (begun.get(name) === answer) begun.delete(name);
  });
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
