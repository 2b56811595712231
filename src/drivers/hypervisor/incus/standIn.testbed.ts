import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import { runProgram } from '../../../platform/host/program.ts';
import { incusHypervisor } from './driver.ts';
import type { IncusOptions } from './options.ts';

export type Answering = (request: IncomingMessage, response: ServerResponse) => void;

/** Whatever stands where a cluster should, behind TLS. */
export interface StandIn {
  url: string;
  /** What was asked of it, `GET /1.0`, in order. */
  asked: string[];
  answer: Answering;
  /** Whether a websocket is opened for this path with its query; none is at first. */
  opens: (target: string) => boolean;
  /** Those that are open. */
  sockets: Set<WebSocket>;
  close(): void;
}

export interface Identity {
  key: string;
  certificate: string;
}

/** Keys and certificates for a test file: of the cluster, of somebody else, and ours. */
export async function certificates(): Promise<Record<'cluster' | 'other' | 'ours', Identity>> {
  const dir = mkdtempSync(join(tmpdir(), 'innkeeper-certificates-'));
  const make = async (name: string): Promise<Identity> => {
    const [key, certificate] = [join(dir, `${name}.key`), join(dir, `${name}.crt`)];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const subject = ['-keyout', key, '-out', certificate, '-days', '2', '-subj', `/CN=${name}`];
    await runProgram(['openssl', 'req', '-x509', ...curve, ...subject]);
    return { key: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8') };
  };
  try {
    return { cluster: await make('cluster'), other: await make('other'), ours: await make('ours') };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** `isDeaf`: its websockets answer nothing, as if their host had lost its power. */
export async function standIn(identity: Identity, answer: Answering, isDeaf = false): Promise<StandIn> {
  const sockets = new Set<WebSocket>();
  const stand: StandIn = { url: '', asked: [], answer, opens: () => false, sockets, close: () => undefined };
  const server: Server = createServer(
    { key: identity.key, cert: identity.certificate, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      stand.asked.push(`${request.method} ${request.url?.split('?')[0]}`);
      request.resume();
      stand.answer(request, response);
    },
  );
  const upgrading = new WebSocketServer({ noServer: true, autoPong: !isDeaf });
  server.on('upgrade', (request, connection, head) => {
    if (!stand.opens(request.url ?? ''))
      return void connection.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
    upgrading.handleUpgrade(request, connection, head, (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  stand.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stand.close = () => {
    for (const socket of sockets) socket.terminate();
    server.closeAllConnections();
    server.close();
  };
  return stand;
}

/** Answers as Incus does, by path; what is not listed is not found. */
export function speaking(paths: Record<string, unknown>): Answering {
  return (request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    const found = `${request.method} ${path}` in paths ? paths[`${request.method} ${path}`] : paths[path];
    response.setHeader('content-type', 'application/json');
    if (found === undefined) {
      response.statusCode = 404;
      return void response.end(JSON.stringify({ type: 'error', error_code: 404, error: 'not found' }));
    }
    const whole =
      typeof found === 'function' ? found(request) : { type: 'sync', status_code: 200, metadata: found };
    if (whole.type === 'error') response.statusCode = whole.error_code;
    response.end(JSON.stringify(whole));
  };
}

export function optionsOf(
  keys: Awaited<ReturnType<typeof certificates>>,
  endpoints: readonly string[],
): IncusOptions {
  return {
    endpoints,
    serverCertificate: keys.cluster.certificate,
    certificate: keys.ours.certificate,
    key: keys.ours.key,
    ...{ project: 'innkeeper', pool: 'local', bridge: 'br0', member: null, imagesDir: tmpdir() },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  };
}

export function driverOf(
  keys: Awaited<ReturnType<typeof certificates>>,
  endpoints: readonly string[],
  more: Partial<IncusOptions> = {},
) {
  return incusHypervisor({ ...optionsOf(keys, endpoints), ...more });
}
