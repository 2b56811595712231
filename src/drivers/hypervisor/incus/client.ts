import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { type Body, type Call, openConnection, type RawAnswer } from './connection.ts';
import { IncusForbids, IncusRefusal, unlessAbsent, unreachable } from './failure.ts';
import type { IncusOptions } from './options.ts';

/** Values of a query. The project is always ours. */
export type Query = Record<string, string>;

/** Asks for a member, where there are several. */
export function onMember(member: string | null): Query {
  return member === null ? {} : { target: member };
}

export interface IncusClient {
  /** What a GET tells. `IncusRefusal` with 404 where there is nothing. */
  read(path: string, query?: Query): Promise<unknown>;
  /** The same; null where there is nothing. */
  find(path: string, query?: Query): Promise<unknown | null>;
  /** What is no JSON: logs, metrics, exported volumes. */
  bytes(path: string, query?: Query): Promise<Buffer>;
  /** The same of every endpoint that answers, and of who answers at these further addresses, each for itself. */
  fromEach(path: string, further?: readonly string[]): Promise<Buffer[]>;
  /** Changes something, and waits for the end of what that begins. Returns what it tells. */
  change(method: Change, path: string, body?: object, more?: ChangeOptions): Promise<unknown>;
  /** Sends a stream, and waits for the end of what that begins. */
  upload(path: string, body: Body, headers: Record<string, string>, query?: Query): Promise<unknown>;
  /** Begins what goes on for as long as websockets are open: returns its path and what it tells of them. */
  begin(path: string, body: object): Promise<{ operation: string; metadata: unknown }>;
  socket(path: string, query?: Query): Promise<WebSocket>;
  /** Waits for what somebody has begun with an instance, such as a process of ours that is gone. */
  settled(instance: string, timeoutMs?: number): Promise<void>;
  close(): void;
}

export type Change = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface ChangeOptions {
  query?: Query;
  /** How long it may take until it has ended. Default: ten minutes, in which a large disk is copied. */
  timeoutMs?: number;
}

const readMs = 5_000;
const stumbleMs = 3_000;
const changeMs = 30_000;
const uploadMs = 3_600_000;
const longMs = 600_000;
/** One `wait` of the engine, which we ask again and again. */
const waitSeconds = 10;
const mostBytes = 64 * 2 ** 20;

/** The REST API of Incus as far as we use it, in one project: `doc/rest-api.md` of its sources. */
export function incusClient(options: IncusOptions): IncusClient {
  const connection = openConnection(options);
  const at = (path: string, query: Query = {}) =>
    `${path}?${new URLSearchParams({ project: options.project, ...query })}`;

  async function ask(call: Omit<Call, 'mostBytes'>): Promise<Answer> {
    return checkedAnswer(await connection.send({ ...call, mostBytes }));
  }

  /** The engine stumbles over a machine that is just about to end, and knows a moment later. */
  async function read(path: string, query?: Query): Promise<unknown> {
    const until = Date.now() + stumbleMs;
    for (;;) {
      try {
        return (await ask({ method: 'GET', path: at(path, query), timeoutMs: readMs })).metadata;
      } catch (error) {
        if (!(error instanceof IncusRefusal) || error.status < 500 || Date.now() >= until) throw error;
      }
      await delay(100);
    }
  }

  /**
   * `wait` answers at once and *running* when the operation is another member's, and may not answer at all: it is asked until there
   * is an end. One that is not known any more has ended, and how is to be seen at its object.
   */
  async function ended(operation: string, timeoutMs: number): Promise<unknown> {
    const until = Date.now() + timeoutMs;
    let pauseMs = 20;
    for (;;) {
      const path = at(`${operation}/wait`, { timeout: String(waitSeconds) });
      const asked = ask({ method: 'GET', path, timeoutMs: (waitSeconds + 5) * 1_000 });
      const answer = await unlessAbsent(asked).catch((error: unknown) => {
        if (error instanceof IncusRefusal) throw error;
        return undefined; // we shall know at the next try
      });
      if (answer === null) return null;
      const state = answer && operationState(answer.metadata);
      if (state && state.status >= 400) throw new IncusRefusal(state.status, state.error);
      if (state && state.status >= 200) return state.metadata;
      if (Date.now() >= until) throw unreachable('the cluster did not end in time what it had begun');
      await delay(pauseMs);
      pauseMs = Math.min(500, pauseMs * 2);
    }
  }

  async function end(answer: Answer, timeoutMs: number): Promise<unknown> {
    return answer.operation === null ? answer.metadata : ended(answer.operation, timeoutMs);
  }

  return {
    read,
    find: (path, query) => unlessAbsent(read(path, query)),
    async bytes(path, query) {
      const call = { method: 'GET', path: at(path, query), timeoutMs: readMs, mostBytes } as const;
      const answer = await connection.send(call);
      if (answer.status === 200) return answer.body;
      checkedAnswer(answer);
      throw unreachable(`the cluster answers ${answer.status}`);
    },
    async fromEach(path, further) {
      const call = { method: 'GET', path: at(path), timeoutMs: readMs, mostBytes } as const;
      const answers = await connection.sendToEach(call, further);
      return answers.filter(({ status }) => status === 200).map(({ body }) => body);
    },
    async change(method, path, body, { query, timeoutMs = longMs } = {}) {
      const call = { method, path: at(path, query), timeoutMs: changeMs } as const;
      return end(await ask(body ? { ...call, body: { json: body } } : call), timeoutMs);
    },
    async upload(path, body, headers, query) {
      const call = { method: 'POST', path: at(path, query), body, headers, timeoutMs: uploadMs } as const;
      return end(await ask(call), longMs);
    },
    async begin(path, body) {
      const answer = await ask({ method: 'POST', path: at(path), body: { json: body }, timeoutMs: changeMs });
      if (answer.operation === null) throw unreachable('the cluster began nothing');
      return { operation: answer.operation, metadata: answer.metadata };
    },
    socket: (path, query) => connection.socket(at(path, query)),
    async settled(instance, timeoutMs = longMs) {
      const groups = asRecord((await read('/1.0/operations', { recursion: '1' })) ?? {}, 'operations');
      for (const operation of Object.values(groups).flatMap((each) => asList(each, 'operations'))) {
        const { instances } = asRecord(operation.resources ?? {}, 'what an operation is about');
        const names = Array.isArray(instances) ? instances.map((each) => String(each).split('?')[0]) : [];
        // Websockets are operations too, and go on for as long as somebody looks at a console.
        if (operation.class !== 'task' || !names.includes(`/1.0/instances/${instance}`)) continue;
        await ended(`/1.0/operations/${asText(operation.id, 'an operation')}`, timeoutMs).catch(
          (error: unknown) => {
            if (!(error instanceof IncusRefusal)) throw error; // how it ended is to be seen at its object
          },
        );
      }
    },
    close: () => connection.close(),
  };
}

interface Answer {
  metadata: unknown;
  /** Path of what it began; null: it has ended. */
  operation: string | null;
}

/** Takes an answer for what Incus says only when it is one. */
function checkedAnswer({ status, type, body }: RawAnswer): Answer {
  if (status >= 300 && status < 400)
    throw unreachable('the cluster sends us elsewhere, which we do not follow');
  if (!type.startsWith('application/json')) throw notIncus(`${status} ${type || 'without a type'}`);
  const answer = parsed(body);
  if (answer.type === 'error') {
    const [code, message] = [answer.error_code, answer.error];
    if (typeof code !== 'number' || typeof message !== 'string') throw notIncus('an error without a code');
    if (code === 401 || code === 403) throw new IncusForbids(short(message));
    throw new IncusRefusal(code, short(message));
  }
  if (status >= 400) throw notIncus(`${status} that is no error`);
  if (answer.type === 'sync') return { metadata: answer.metadata, operation: null };
  if (answer.type !== 'async' || typeof answer.operation !== 'string')
    throw notIncus('neither an end nor a beginning');
  // Another member's comes with a query, of which ours says all.
  const [, operation] = /^(\/1\.0\/operations\/[0-9a-f-]{36})(\?|$)/.exec(answer.operation) ?? [];
  if (operation === undefined) throw notIncus('an operation of another kind');
  return { metadata: answer.metadata, operation };
}

function parsed(body: Buffer): Record<string, unknown> {
  return asRecord(asJson(body.toString('utf8'), 'an answer'), 'an answer');
}

function operationState(metadata: unknown): { status: number; error: string; metadata: unknown } {
  const { status_code, err, metadata: told } = asRecord(metadata, 'an operation');
  if (typeof status_code !== 'number') throw notIncus('an operation without a state');
  return {
    status: status_code,
    error: short(typeof err === 'string' && err ? err : 'it failed'),
    metadata: told,
  };
}

/** What a text says that should be JSON, such as a note of ours that somebody has changed there. */
export function asJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notIncus(`${what} is no JSON`);
  }
}

/** A JSON object, or the failure that the cluster does not answer as one. */
export function asRecord(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw notIncus(`${what} is no object`);
}

export function asList(value: unknown, what: string): Record<string, unknown>[] {
  if (!Array.isArray(value)) throw notIncus(`${what} are no list`);
  return value.map((each) => asRecord(each, what));
}

/** A map of texts, as settings and properties are. */
export function asTexts(value: unknown, what: string): Record<string, string> {
  const map = asRecord(value ?? {}, what);
  if (Object.values(map).some((each) => typeof each !== 'string')) throw notIncus(`${what} are no texts`);
  return map as Record<string, string>;
}

export function asText(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw notIncus(`${what} is no text`);
}

function notIncus(what: string) {
  return unreachable(`what answers is no Incus, or not in order: ${what}`);
}

function short(message: string): string {
  return message.length > 400 ? `${message.slice(0, 400)}…` : message;
}
