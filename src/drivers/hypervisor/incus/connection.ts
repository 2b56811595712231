import type { IncomingMessage } from 'node:http';
import { Agent, type AgentOptions, type RequestOptions, request } from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { WebSocket } from 'ws';
import type { HypervisorError } from '../failure.ts';
import { unreachable } from './failure.ts';
import type { IncusOptions } from './options.ts';

/** What is sent along with a request: JSON, or a stream of a known length. */
export type Body = { json: object } | { stream: () => Readable; bytes: number };

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query. */
  path: string;
  body?: Body;
  headers?: Record<string, string>;
  /** For the whole answer, from all endpoints together. */
  timeoutMs: number;
  /** What an answer may hold at most. */
  mostBytes: number;
}

export interface RawAnswer {
  status: number;
  /** What HTTP's first line says beside the status. */
  reason: string;
  type: string;
  body: Buffer;
}

export interface Connection {
  /** The answer of the first endpoint that gives one; `host_not_ready` when none does in time. */
  send(call: Call): Promise<RawAnswer>;
  /** The answers of all endpoints, and at these further addresses, that give one in time. */
  sendToEach(call: Call, further?: readonly string[]): Promise<RawAnswer[]>;
  /** An open websocket at `path`, of one of these protocols. */
  socket(path: string, protocols?: string[]): Promise<WebSocket>;
  close(): void;
}

/** An endpoint that says nothing leaves the others this much of the time. */
const connectMs = 1_500;

/**
 * Requests to a cluster with our certificate, at whichever endpoint answers. The certificate presented is held against the pinned one
 * while the connection is made, before anything of ours is sent.
 */
export function openConnection(options: IncusOptions): Connection {
  const tls = {
    key: options.key,
    cert: options.certificate,
    ca: options.serverCertificate,
    allowPartialTrustChain: true,
    // It names no host that we would know it by: which certificate it is says it all.
    checkServerIdentity: () => undefined,
  };
  return connectionThrough({ endpoints: options.endpoints, agent: (more) => new Agent({ ...tls, ...more }) });
}

/** How a cluster is spoken to. */
export interface Wire {
  endpoints: readonly string[];
  /** Makes connections, and none to somebody else. */
  agent(more: AgentOptions): Agent;
  /** Sent with every request. */
  headers?: Record<string, string>;
}

export function connectionThrough({ endpoints, agent: agentWith, headers = {} }: Wire): Connection {
  const urls = endpoints.map(checkedEndpoint);
  if (urls.length === 0) throw new Error('a cluster has at least one endpoint');
  const kept = agentWith({ keepAlive: true, maxSockets: 16 });
  const withHeaders = (call: Call): Call => ({ ...call, headers: { ...headers, ...call.headers } });
  let last = 0;

  /** Tries them in turn, from the one that answered last. `false`: this failure is not for another to mend. */
  async function atAny<T>(deadlineMs: number, ask: (url: URL, leftMs: number) => Promise<T>): Promise<T> {
    const until = Date.now() + deadlineMs;
    let failure: HypervisorError | null = null;
    for (let nth = 0; nth < urls.length; nth += 1) {
      const at = (last + nth) % urls.length;
      const leftMs = until - Date.now();
      if (leftMs <= 0) break;
      try {
        const answer = await ask(urls[at] as URL, leftMs);
        last = at;
        return answer;
      } catch (error) {
        if (!(error instanceof NotConnected)) throw error;
        failure ??= unreachable(`the cluster cannot be reached: ${error.message}`, error, true);
      }
    }
    throw failure ?? unreachable('the cluster did not answer in time', undefined, true);
  }

  return {
    async send(call) {
      let unready: RawAnswer | null = null;
      const asked = atAny(call.timeoutMs, async (url, leftMs) => {
        // A connection that was closed meanwhile looks like an answer that never came: what changes something takes a new one.
        const agent = call.method === 'GET' ? kept : agentWith({});
        const answer = await exchange(url, { ...withHeaders(call), timeoutMs: leftMs }, agent);
        if (call.method !== 'GET' || answer.status !== 503) return answer;
        // A member that is just coming up says so, and the next one may know.
        unready = answer;
        throw new NotConnected(`${url.host} is not ready`);
      });
      return asked.catch((error: unknown) => unready ?? Promise.reject(error));
    },
    async sendToEach(call, further = []) {
      const others = further.filter(isEndpoint).map(checkedEndpoint);
      const each = new Map([...urls, ...others].map((url) => [url.origin, url]));
      const asked = await Promise.allSettled(
        [...each.values()].map((url) => exchange(url, withHeaders(call), kept)),
      );
      return asked.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    },
    socket: (path, protocols = []) =>
      atAny(5_000, (url) => {
        const target = new URL(path, url);
        target.protocol = 'wss:';
        // Through a connection of its own, made as for requests; types of `ws` know no trust in a certificate that is no root.
        const agent = agentWith({});
        const limits = { handshakeTimeout: connectMs, maxPayload: 2 ** 24 };
        return openSocket(new WebSocket(target, protocols, { agent, headers, ...limits }));
      }),
    close: () => kept.destroy(),
  };
}

/** No connection came about, so nothing was sent. */
class NotConnected extends Error {}

/** Refuses what is no address of a cluster: anything that is not HTTPS, or says more than where. */
export function checkedEndpoint(endpoint: string): URL {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (url?.protocol !== 'https:') throw new Error(`an endpoint is an https URL: ${endpoint}`);
  if (url.username || url.password || url.pathname !== '/' || url.search || url.hash)
    throw new Error(`an endpoint is a host and a port, nothing more: ${url.origin}`);
  return url;
}

function isEndpoint(endpoint: string): boolean {
  try {
    checkedEndpoint(endpoint);
    return true;
  } catch {
    return false;
  }
}

async function exchange(url: URL, call: Call, agent: Agent): Promise<RawAnswer> {
  const body = call.body && 'json' in call.body ? Buffer.from(JSON.stringify(call.body.json)) : null;
  const length = body?.length ?? (call.body && 'bytes' in call.body ? call.body.bytes : 0);
  const headers = { 'content-type': 'application/json', ...call.headers, 'content-length': String(length) };
  const whole: RequestOptions = { method: call.method, agent, headers };
  let isConnected = false;
  const limit = AbortSignal.timeout(call.timeoutMs);
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const asking = request(new URL(call.path, url), { ...whole, signal: limit });
      const connecting = setTimeout(() => asking.destroy(new Error('no connection in time')), connectMs);
      const connected = () => {
        isConnected = true;
        clearTimeout(connecting);
      };
      asking.once('socket', (socket) => {
        // One that was looked at before it was handed over is past that moment, too; types do not know the word for it.
        const { secureConnecting } = socket as { secureConnecting?: boolean };
        if (asking.reusedSocket || secureConnecting === false) connected();
        else socket.once('secureConnect', connected);
      });
      asking.once('close', () => clearTimeout(connecting));
      asking.once('response', resolve).once('error', reject);
      if (call.body && 'stream' in call.body) pipeline(call.body.stream(), asking).catch(reject);
      else asking.end(body ?? undefined);
    });
    return await wholeAnswer(response, call.mostBytes);
  } catch (error) {
    if (limit.aborted && isConnected) throw unreachable('the cluster did not answer in time', error, true);
    const reason = error instanceof Error ? error.message : String(error);
    if (!isConnected) throw new NotConnected(`${url.host}: ${reason}`, { cause: error });
    throw unreachable(`the cluster broke off: ${reason}`, error, true);
  }
}

async function wholeAnswer(response: IncomingMessage, mostBytes: number): Promise<RawAnswer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response) {
    bytes += (part as Buffer).length;
    if (bytes > mostBytes) {
      response.destroy();
      throw new Error(`an answer of more than ${mostBytes} bytes`);
    }
    parts.push(part as Buffer);
  }
  if (!response.complete) throw new Error('half an answer');
  const type = response.headers['content-type'] ?? '';
  const { statusCode: status = 0, statusMessage: reason = '' } = response;
  return { status, reason, type, body: Buffer.concat(parts) };
}

function openSocket(socket: WebSocket): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    let isOpen = false;
    socket.once('open', () => {
      isOpen = true;
      resolve(socket);
    });
    socket.once('unexpected-response', (_request, response) => {
      response.resume();
      socket.terminate();
      reject(unreachable(`the cluster refuses a connection: ${response.statusCode}`));
    });
    socket.on('error', (error) => {
      if (!isOpen) reject(new NotConnected(error.message, { cause: error }));
      socket.terminate();
    });
  });
}
