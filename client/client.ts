import { ApiError, UnreachableError } from './errors.ts';
import type { BesideOf, CallOptions, DataOf, Given, Method, OperationAt, PathOf, Schema } from './types.ts';

export interface ClientOptions {
  /** Where the API is: `https://panel.example.com/api`. */
  url: string;
  /** An API key or a session's token, or what tells it at each call; none in a browser, whose cookie says who it is. */
  token?: string | (() => string | undefined);
  /** Asked at each call: the organization whose things are meant. */
  organization?: () => number | null;
  /** How long a call waits, in all, because it was told to (`Retry-After`); 10 seconds when absent. */
  patienceSeconds?: number;
  /**
   * Asked once a call that is refused: whether what it lacked is there now, such as a fresh proof of who asks. Then the
   * call is sent again as it was.
   */
  onRefused?: (refusal: ApiError, call: { method: Method; path: string }) => Promise<boolean>;
  fetch?: typeof fetch;
}

/** Paths whose answer is a page of a list. */
type Listing = { next_cursor?: string | null };
type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;
type ItemsOf<Data> = { [K in keyof Data]: Data[K] extends readonly unknown[] ? K : never }[keyof Data];

type Rest<O> = Record<string, never> extends Given<O> ? [given?: Given<O>] : [given: Given<O>];

/** What a call is given when it is known only as the program runs. */
export interface Call extends CallOptions {
  path?: Record<string, string | number>;
  query?: Record<string, string | number | boolean | undefined | null>;
  body?: unknown;
  /** Instead of a body; its type says what it is. */
  file?: Blob;
}

/** An answer in JSON. */
export interface Answer<Data> {
  /** As it came. */
  text: string;
  data: Data;
  /** What stands beside the data. */
  beside: Readonly<Record<string, unknown>>;
  headers: Headers;
}

const tries = 3;
const pauseMs = 500;

/**
 * A typed client of the API. Paths are those of the description; what a call takes and answers follows from them:
 *
 *     const { services } = await client.get('/dashboard/services', { query: { status: 'active' } });
 *
 * What can be repeated is repeated when no answer came or the API asks to wait: reads, PUTs, and POSTs, which carry an
 * idempotency key. A refusal is an `ApiError`. A POST that got no answer at all has perhaps been done: the same one sent
 * again, by whoever presses once more, carries its key, until an answer has come.
 */
export class Client {
  readonly #options: ClientOptions;
  readonly #unanswered = new Unanswered();

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  get<P extends PathOf<'get'>>(path: P, ...[given]: Rest<OperationAt<'get', P>>) {
    return this.#data<DataOf<OperationAt<'get', P>>>('get', path, given);
  }

  /** A thing with its tag, for `ifMatch` of a change: nobody's change in between is overwritten unseen. */
  async getTagged<P extends PathOf<'get'>>(path: P, ...[given]: Rest<OperationAt<'get', P>>) {
    type Data = DataOf<OperationAt<'get', P>>;
    const { data, headers } = await this.answer<Data>('get', path, (given ?? {}) as Call);
    return { data, tag: headers.get('etag') ?? undefined };
  }

  post<P extends PathOf<'post'>>(path: P, ...[given]: Rest<OperationAt<'post', P>>) {
    return this.#data<DataOf<OperationAt<'post', P>>>('post', path, given);
  }

  patch<P extends PathOf<'patch'>>(path: P, ...[given]: Rest<OperationAt<'patch', P>>) {
    return this.#data<DataOf<OperationAt<'patch', P>>>('patch', path, given);
  }

  put<P extends PathOf<'put'>>(path: P, ...[given]: Rest<OperationAt<'put', P>>) {
    return this.#data<DataOf<OperationAt<'put', P>>>('put', path, given);
  }

  delete<P extends PathOf<'delete'>>(path: P, ...[given]: Rest<OperationAt<'delete', P>>) {
    return this.#data<DataOf<OperationAt<'delete', P>>>('delete', path, given);
  }

  /** An answer with what stands beside its data: `const { data, beside } = await client.whole('post', '/shield/v2/rules', { body })`. */
  async whole<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    ...[given]: Rest<OperationAt<M, P>>
  ): Promise<{ data: DataOf<OperationAt<M, P>>; beside: BesideOf<OperationAt<M, P>> }> {
    const call = (given ?? {}) as Call;
    const { data, beside } = await this.answer<DataOf<OperationAt<M, P>>>(method, path, call);
    return { data, beside: beside as BesideOf<OperationAt<M, P>> };
  }

  /** What is no JSON: a PDF, a CSV. The caller reads its body. */
  file<P extends PathOf<'get'>>(path: P, ...[given]: Rest<OperationAt<'get', P>>): Promise<Response> {
    return this.send('get', path, (given ?? {}) as Call);
  }

  /** A body that is no JSON, as a bank's statement. */
  upload<P extends PathOf<'post'>>(path: P, file: Blob, type: string) {
    return this.#data<DataOf<OperationAt<'post', P>>>('post', path, { file: file.slice(0, file.size, type) });
  }

  /** Everything in a list, page after page: `for await (const service of client.all('/dashboard/services', 'services'))`. */
  async *all<P extends PathOf<'get'>, K extends ItemsOf<DataOf<OperationAt<'get', P>>>>(
    path: P,
    name: K,
    ...[given]: Rest<OperationAt<'get', P>>
  ): AsyncGenerator<ItemOf<DataOf<OperationAt<'get', P>>[K]>, void, void> {
    type Page = DataOf<OperationAt<'get', P>>;
    const call = (given ?? {}) as Call;
    let cursor: string | null | undefined;
    do {
      const query = { limit: 100, ...call.query, ...(cursor && { cursor }) };
      const page: Page = await this.#data<Page>('get', path, { ...call, query });
      yield* page[name] as Iterable<ItemOf<Page[K]>>;
      cursor = (page as Listing).next_cursor;
    } while (cursor);
  }

  /** Waits until an action on a machine has ended, well or not. Asks every second, and tells what it saw; streams are quicker. */
  async waitForAction(
    service: number,
    action: number,
    signal?: AbortSignal,
    tell?: (seen: Schema<'Action'>) => void,
  ): Promise<Schema<'Action'>> {
    for (;;) {
      const { action: seen } = await this.get('/dashboard/service/{id}/vps/history/{action_id}', {
        path: { id: service, action_id: action },
        signal,
      });
      tell?.(seen);
      if (seen.finished_at !== null) return seen;
      await pause(1_000, signal);
    }
  }

  async #data<Data>(method: Method, path: string, given?: unknown): Promise<Data> {
    return (await this.answer<Data>(method, path, (given ?? {}) as Call)).data;
  }

  /** The answer itself, of a call that is known only as the program runs, such as one of a command line. */
  send(method: Method, path: string, call: Call): Promise<Response> {
    return this.#send(method, path, call, async (response) => response);
  }

  /** The same, read to its end: only then it has come. */
  answer<Data>(method: Method, path: string, call: Call): Promise<Answer<Data>> {
    return this.#send(method, path, call, answerIn<Data>);
  }

  async #send<T>(
    method: Method,
    path: string,
    call: Call,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const {
      url,
      token: given,
      organization,
      onRefused,
      fetch: send = fetch,
      patienceSeconds = 10,
    } = this.#options;
    const token = typeof given === 'function' ? given() : given;
    const about = call.organization ?? organization?.() ?? null;
    const headers: Record<string, string> = {
      accept: 'application/json, */*;q=0.5',
      ...(token !== undefined && { token }),
      ...(about !== null && { 'x-organization-id': String(about) }),
      ...(call.body !== undefined && { 'content-type': 'application/json' }),
      ...(call.file !== undefined && { 'content-type': call.file.type }),
      ...(call.ifMatch !== undefined && { 'if-match': call.ifMatch }),
    };
    const target = `${url}${fill(path, call.path)}${search(call.query)}`;
    const body = call.body === undefined ? call.file : JSON.stringify(call.body);
    // What a file holds is not compared.
    const same = JSON.stringify([target, about, token, call.file === undefined ? body : crypto.randomUUID()]);
    const key = call.idempotencyKey ?? this.#unanswered.keyOf(same) ?? crypto.randomUUID();
    if (method === 'post') headers['idempotency-key'] = key;
    const note = (failure: ApiError | UnreachableError | null) => {
      if (method !== 'post') return;
      this.#unanswered.note({ same, key, about: target }, failure);
      if (failure !== null) failure.isPerhapsDone = this.#unanswered.keyOf(same) !== undefined;
    };
    const isRepeatable = method === 'get' || method === 'post' || method === 'put';
    let patience = patienceSeconds;
    let mayAsk = onRefused !== undefined;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await send(target, {
        method: method.toUpperCase(),
        headers,
        body,
        signal: call.signal,
      })
        .then(async (response) => (response.ok ? { got: await read(response) } : failureOf(response)))
        .catch((error: unknown) => {
          // Whoever gave it up asks for nothing again.
          call.signal?.throwIfAborted();
          return error instanceof UnreachableError ? error : new UnreachableError(null, { cause: error });
        });
      note('got' in outcome ? null : outcome);
      if ('got' in outcome) return outcome.got;
      const failure = outcome;
      if (mayAsk && failure instanceof ApiError && (await onRefused?.(failure, { method, path }))) {
        call.signal?.throwIfAborted();
        mayAsk = false;
        continue;
      }
      const wait = waitAfter(failure, attempt);
      // One that is under way will be answered: patience ends that, not a number of tries.
      const isLast = attempt >= tries && !isInFlight(failure);
      if (!isRepeatable || isLast || wait === null || wait > patience) throw failure;
      patience -= wait;
      await pause(wait * 1_000, call.signal);
    }
  }
}

interface Asked {
  /** All that was asked for. */
  same: string;
  key: string;
  /** Of what: the address. */
  about: string;
}

/** Keys of POSTs of which nobody knows whether they were done, by what they asked for. */
class Unanswered {
  readonly #asked = new Map<string, Asked & { at: number }>();

  keyOf(same: string): string | undefined {
    const asked = this.#asked.get(same);
    return asked !== undefined && performance.now() - asked.at < unansweredMs ? asked.key : undefined;
  }

  /** Null: it was answered. */
  note(asked: Asked, failure: ApiError | UnreachableError | null): void {
    const before = this.keyOf(asked.same);
    // Said before anybody looked at what was asked for: it tells nothing of the tries before.
    const isAtDoor = failure instanceof ApiError && [401, 403, 429].includes(failure.status);
    if (isAtDoor && before !== undefined) return;
    this.#asked.delete(asked.same);
    if (failure !== null && isUnknown(failure))
      this.#asked.set(asked.same, { ...asked, at: performance.now() });
    // What was done to the same thing since makes another wish of it: started, stopped, and started again.
    else if (failure === null)
      for (const { same, about } of this.#asked.values())
        if (thingOf(about) === thingOf(asked.about)) this.#asked.delete(same);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > mostUnanswered && oldest !== undefined) this.#asked.delete(oldest);
  }
}

/** Bodies are kept with them, and bodies may be long. */
const mostUnanswered = 50;
/** Whoever asks for the same later than this wants it once more. */
const unansweredMs = 5 * 60_000;

/** `…/vps/start` and `…/vps/stop` are about the same machine. */
function thingOf(address: string): string {
  return address.slice(0, address.lastIndexOf('/'));
}

/** Whether it may have been done all the same: no answer, one that is under way, or a commit that was not heard of. */
function isUnknown(failure: ApiError | UnreachableError): boolean {
  return failure instanceof UnreachableError || failure.status >= 500 || isInFlight(failure);
}

function isInFlight(failure: ApiError | UnreachableError): boolean {
  return failure instanceof ApiError && failure.code === 'idempotency_in_flight';
}

/** Throws {@link UnreachableError} of a page that something else than the API sent. */
async function answerIn<Data>(response: Response): Promise<Answer<Data>> {
  const text = await response.text();
  let body: { success: true; data: Data } | null;
  try {
    body = JSON.parse(text) as typeof body;
  } catch (error) {
    throw new UnreachableError(response.status, { cause: error });
  }
  if (typeof body !== 'object' || body === null) throw new UnreachableError(response.status);
  const { success: _, data, ...beside } = body;
  return { text, data, beside, headers: response.headers };
}

async function failureOf(response: Response): Promise<ApiError | UnreachableError> {
  const body = (await response.json().catch(() => null)) as Schema<'Error'> | null;
  if (body === null || typeof body !== 'object' || typeof body.code !== 'string')
    return new UnreachableError(response.status);
  const after = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiError(response.status, body, Number.isFinite(after) ? after : null);
}

/** Seconds to wait before asking again; null when that is of no use. */
function waitAfter(failure: ApiError | UnreachableError, attempt: number): number | null {
  // At least a second: it asks as often as its patience allows.
  if (isInFlight(failure)) return Math.max((failure as ApiError).retryAfter ?? 1, 1);
  if (failure instanceof ApiError)
    return failure.status === 429 || failure.status === 503 ? failure.retryAfter : null;
  const isPassing = failure.status === null || [502, 503, 504].includes(failure.status);
  return isPassing ? (pauseMs / 1_000) * 2 ** (attempt - 1) : null;
}

function fill(path: string, values: Call['path'] = {}): string {
  return path.replace(/\{(\w+)\}/g, (_match, name: string) => {
    const value = values[name];
    if (value === undefined) throw new TypeError(`${path} needs ${name}`);
    return encodeURIComponent(value);
  });
}

function search(query: Call['query'] = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null) given.append(name, String(value));
  return given.size === 0 ? '' : `?${given}`;
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
