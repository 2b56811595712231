import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { pinnedAgent } from '../../pinned.ts';
import { type Body, type Call, connectionThrough, type RawAnswer } from '../incus/connection.ts';
import { unreachable } from '../incus/failure.ts';
import { asList, asRecord, asText, notProxmox, short } from './answers.ts';
import { ProxmoxRefusal } from './failure.ts';
import type { ProxmoxOptions } from './options.ts';

/** Parameters of a call: yes and no are 1 and 0 there, a list is its name several times. */
export type Parameters = Record<string, string | number | boolean | readonly string[]>;

export interface ProxmoxClient {
  /** What a GET tells, below `/api2/json`. */
  read(path: string, query?: Parameters): Promise<unknown>;
  /** Changes something at once, and returns what that tells. */
  change(method: Change, path: string, parameters?: Parameters): Promise<unknown>;
  /** Changes something by a task, and waits for the task's end, so long at most; default: ten minutes. */
  run(method: Change, path: string, parameters?: Parameters, timeoutMs?: number): Promise<void>;
  /** Sends a file, and waits until it is in its place. */
  upload(path: string, body: Body, type: string): Promise<void>;
  socket(path: string, query: Parameters): Promise<WebSocket>;
  /** Waits for what somebody has begun with a machine, such as a process of ours that is gone; of one kind, where it is named. */
  settled(node: string, vmid: number, type?: string): Promise<void>;
  /** Ends the tasks that are under way with a machine, where they are ours. */
  cancel(node: string, vmid: number): Promise<void>;
  close(): void;
}

export type Change = 'POST' | 'PUT' | 'DELETE';

const root = '/api2/json';
const readMs = 5_000;
const changeMs = 30_000;
const uploadMs = 3_600_000;
const longMs = 600_000;
const quietMs = 60_000;
const mostBytes = 64 * 2 ** 20;
/** Tasks that last for as long as somebody looks at a console. */
const consoles = ['vncproxy', 'vncshell', 'spiceproxy'];

/** The API of Proxmox VE as far as we use it: its published schema is the API viewer of its documentation. */
export function proxmoxClient(options: ProxmoxOptions): ProxmoxClient {
  const connection = connectionThrough({
    endpoints: options.endpoints,
    agent: (more) => pinnedAgent(options.fingerprints, more),
    headers: { authorization: `PVEAPIToken=${options.tokenId}=${options.tokenSecret}` },
  });

  async function ask(call: Omit<Call, 'mostBytes'>): Promise<Record<string, unknown>> {
    const answer = await connection.send({ ...call, mostBytes });
    try {
      return checkedAnswer(answer);
    } catch (error) {
      // Whatever an answer repeats of what it was sent, our secret is not told on.
      if (error instanceof Error) error.message = error.message.replaceAll(options.tokenSecret, '(secret)');
      throw error;
    }
  }

  async function get(path: string, query: Parameters = {}): Promise<Record<string, unknown>> {
    const form = formOf(query);
    return ask({ method: 'GET', path: `${root}${path}${form && `?${form}`}`, timeoutMs: readMs });
  }

  async function change(method: Change, path: string, parameters: Parameters = {}): Promise<unknown> {
    const form = Buffer.from(formOf(parameters));
    // A DELETE takes its parameters where a GET does.
    if (method === 'DELETE')
      return (
        await ask({ method, path: `${root}${path}${form.length ? `?${form}` : ''}`, timeoutMs: changeMs })
      ).data;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = { stream: () => Readable.from([form]), bytes: form.length };
    return (await ask({ method, path: `${root}${path}`, body, headers, timeoutMs: changeMs })).data;
  }

  /** Asks until the task has ended. One that nobody knows any more has ended, and how is to be seen at its object. */
  async function ended(upid: string, timeoutMs: number): Promise<void> {
    const until = Date.now() + timeoutMs;
    const path = `/nodes/${nodeOf(upid)}/tasks/${encodeURIComponent(upid)}`;
    let heardAt = Date.now();
    for (let pauseMs = 20; ; pauseMs = Math.min(1_000, pauseMs * 2)) {
      const state = await get(`${path}/status`).catch((error: unknown) => {
        if (error instanceof ProxmoxRefusal && error.status === 400) return { data: { status: 'stopped' } };
        return null; // we shall know at the next try
      });
      if (state !== null) {
        heardAt = Date.now();
        const { status, exitstatus = 'OK' } = asRecord(state.data, 'a task');
        if (status === 'stopped') {
          const exit = asText(exitstatus, 'the end of a task');
          if (exit === 'OK' || exit.startsWith('WARNINGS')) return;
          throw new ProxmoxRefusal(500, (await lastWord(path)) ?? short(exit));
        }
      }
      if (Date.now() >= until) throw unreachable('the cluster did not end in time what it had begun');
      // Whoever asked is not kept for as long as a disk may take: it looks again when its node is heard of.
      if (Date.now() - heardAt >= (options.quietMs ?? quietMs))
        throw unreachable('the cluster does not tell what became of what it had begun', undefined, true);
      await delay(pauseMs);
    }
  }

  /** Why a task failed stands in the last line of its log, whole. */
  async function lastWord(path: string): Promise<string | null> {
    try {
      const { total } = await get(`${path}/log`, { start: 0, limit: 1 });
      const start = typeof total === 'number' && total > 1 ? total - 1 : 0;
      const lines = asList((await get(`${path}/log`, { start, limit: 5 })).data, 'lines of a log');
      const last = asText(lines.at(-1)?.t, 'a line of a log').replace(/^TASK ERROR:\s*/, '');
      return short(last) || null;
    } catch {
      return null; // then its end says so, shorter
    }
  }

  async function active(node: string, vmid: number, type?: string): Promise<string[]> {
    const filter: Parameters = type === undefined ? {} : { typefilter: type };
    const { data } = await get(`/nodes/${node}/tasks`, { source: 'active', vmid, ...filter });
    return asList(data, 'tasks')
      .filter(({ type, status }) => !consoles.includes(String(type)) && (status ?? 'RUNNING') === 'RUNNING')
      .map(({ upid }) => asText(upid, 'a task'));
  }

  async function begun(answer: unknown, timeoutMs: number): Promise<void> {
    if (answer === null || answer === undefined) return; // it was done at once
    await ended(asText(answer, 'a task'), timeoutMs);
  }

  return {
    read: async (path, query) => (await get(path, query)).data,
    change,
    async run(method, path, parameters, timeoutMs = longMs) {
      await begun(await change(method, path, parameters), timeoutMs);
    },
    async upload(path, body, type) {
      const headers = { 'content-type': type };
      const call = { method: 'POST', path: `${root}${path}`, body, headers, timeoutMs: uploadMs } as const;
      await begun((await ask(call)).data, longMs);
    },
    socket: (path, query) => connection.socket(`${root}${path}?${formOf(query)}`, ['binary']),
    async settled(node, vmid, type) {
      for (const upid of await active(node, vmid, type))
        await ended(upid, longMs).catch((error: unknown) => {
          if (!(error instanceof ProxmoxRefusal)) throw error; // how it ended is to be seen at its object
        });
    },
    async cancel(node, vmid) {
      for (const upid of await active(node, vmid)) {
        const path = `/nodes/${node}/tasks/${encodeURIComponent(upid)}`;
        await change('DELETE', path).catch(() => undefined); // somebody else's
        await ended(upid, changeMs).catch(() => undefined);
      }
    },
    close: () => connection.close(),
  };
}

function formOf(parameters: Parameters): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    for (const each of Array.isArray(value) ? value : [value])
      form.append(name, typeof each === 'boolean' ? String(Number(each)) : String(each));
  return form.toString();
}

/** The node that a task runs on, as its name says. */
function nodeOf(upid: string): string {
  const [, node] = /^UPID:([a-zA-Z0-9-]+)(:[0-9A-F]+){3}:[^\s/]+$/.exec(upid) ?? [];
  if (node !== undefined) return node;
  throw notProxmox('a task of another kind');
}

/** Takes an answer for what Proxmox VE says only when it is one. */
function checkedAnswer({ status, reason, type, body }: RawAnswer): Record<string, unknown> {
  if (status >= 300 && status < 400)
    throw unreachable('the cluster sends us elsewhere, which we do not follow');
  if (status === 401) throw unreachable('the cluster does not know our token');
  const isJson = type.startsWith('application/json');
  // Errors may come without a body: what is wrong stands in the first line.
  if (status >= 400 && (isJson || body.length === 0)) {
    const answer = body.length === 0 ? {} : parsed(body);
    const message = refusalIn(answer, reason);
    if (status === 403) throw new ProxmoxRefusal(status, `the cluster does not let us: ${message}`);
    throw new ProxmoxRefusal(status, message);
  }
  if (!isJson) throw notProxmox(`${status} ${type || 'without a type'}`);
  const answer = parsed(body);
  if (status !== 200 || !('data' in answer)) throw notProxmox(`${status} without data`);
  return answer;
}

function refusalIn(answer: Record<string, unknown>, reason: string): string {
  const message = typeof answer.message === 'string' && answer.message.trim() ? answer.message : reason;
  const errors = typeof answer.errors === 'object' && answer.errors !== null ? answer.errors : {};
  const each = Object.entries(errors).map(([name, what]) => `${name}: ${what}`);
  return short([message || 'it refuses', ...each].join('; '));
}

function parsed(body: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    throw notProxmox('no JSON');
  }
  return asRecord(value, 'an answer');
}
