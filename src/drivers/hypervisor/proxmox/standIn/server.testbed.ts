import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { Identity } from '../../incus/standIn.testbed.ts';
import { broadcast, type Call, calls, totalOf } from './calls.testbed.ts';
import { serveConsole } from './consoles.testbed.ts';
import { wrongIn } from './rules.testbed.ts';
import { methods } from './schema.testbed.ts';
import { Refused, rightsAt, type State, tokenId, tokenSecret } from './state.testbed.ts';

/** A cluster that answers as Proxmox VE does, behind TLS, with machines that are but a state. */
export interface StandIn {
  url: string;
  state: State;
  /** What was asked of it, `GET /version`, in order. */
  asked: string[];
  /** Calls that the published schema does not allow. */
  refusedBySchema: string[];
  /** Told before each call; true: it answers by itself, or never. */
  meddle: ((what: string, request: IncomingMessage, response: ServerResponse) => boolean) | null;
  close(): void;
}

const root = '/api2/json';
const broadcastMs = 250;
const mostBody = 64 * 2 ** 20;

/** Paths of calls with the names of their parts; `encoded` parts may hold anything. */
const routes = Object.keys(methods).map((what) => {
  const [verb = '', path = ''] = what.split(' ');
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return { what, verb, names, form: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`) };
});

export async function proxmoxStandIn(identity: Identity, state: State): Promise<StandIn> {
  const stand: StandIn = {
    url: '',
    state,
    asked: [],
    refusedBySchema: [],
    meddle: null,
    close: () => undefined,
  };
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (wanted) => (wanted.has('binary') ? 'binary' : false),
  });
  const server = createServer({ key: identity.key, cert: identity.certificate }, (request, response) => {
    void answer(stand, request, response);
  });
  server.on('upgrade', (request, socket, head) => {
    stand.asked.push(`UPGRADE ${request.url}`);
    try {
      const { given } = admitted(stand, request, {});
      const console = state.consoles.get(Number(given.port));
      if (!console || console.ticket !== given.vncticket) throw new Refused(401, 'invalid PVEVNC ticket');
      state.consoles.delete(Number(given.port));
      sockets.handleUpgrade(request, socket, head, (open) => serveConsole(state, console, open));
    } catch (error) {
      const { status = 500 } = error as Refused;
      socket.end(`HTTP/1.1 ${status} refused\r\n\r\n`);
    }
  });
  const timer = setInterval(() => broadcast(state), broadcastMs);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  stand.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stand.close = () => {
    clearInterval(timer);
    for (const vm of state.vms.values()) vm.running?.guest.end();
    for (const each of sockets.clients) each.terminate();
    server.closeAllConnections();
    server.close();
  };
  return stand;
}

async function answer(stand: StandIn, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const what = `${request.method} ${request.url?.split('?')[0]?.replace(root, '')}`;
  stand.asked.push(what);
  if (stand.meddle?.(what, request, response)) return void request.resume();
  try {
    const { fields, lists, file } = await bodyOf(request);
    const call = admitted(stand, request, fields);
    const run = calls[call.what];
    if (!run) throw new Refused(501, `Method '${what}' not implemented`);
    const data =
      (await run({ state: stand.state, given: call.given, lists: { ...call.lists, ...lists }, file })) ??
      null;
    send(response, 200, 'OK', { data, ...(totalOf(data) === undefined ? {} : { total: totalOf(data) }) });
  } catch (error) {
    const { status = 500, message, errors = {} } = error as Refused;
    if (status === 401) return void response.writeHead(401, message).end();
    const more = Object.keys(errors).length > 0 ? { errors } : {};
    send(response, status, message, { data: null, message: `${message}\n`, ...more });
  }
}

function send(response: ServerResponse, status: number, reason: string, body: object): void {
  const type = { 'content-type': 'application/json;charset=UTF-8' };
  response.writeHead(status, reason.replaceAll(/[^ -~]/g, ' '), type).end(JSON.stringify(body));
}

/** Lets a call in whose token, parameters and rights are right, in that order. */
function admitted(stand: StandIn, request: IncomingMessage, fields: Record<string, string | string[]>) {
  const { state } = stand;
  const url = new URL(request.url ?? '', 'https://stand.in');
  const path = url.pathname.startsWith(`${root}/`) ? url.pathname.slice(root.length) : '';
  if (request.headers.authorization !== `PVEAPIToken=${tokenId}=${tokenSecret}`)
    throw new Refused(401, 'invalid token value!');
  const route = routes.find(({ verb, form }) => verb === request.method && form.test(path));
  if (!route) throw new Refused(501, `Method '${request.method} ${path}' not implemented`);
  const values = route.form.exec(path)?.slice(1).map(decodeURIComponent) ?? [];
  const all = {
    ...collected(url.searchParams),
    ...fields,
    ...Object.fromEntries(route.names.map((name, nth) => [name, values[nth] ?? ''])),
  };
  const method = methods[route.what];
  const errors = wrongIn(method?.parameters ?? {}, all);
  if (Object.keys(errors).length > 0) {
    stand.refusedBySchema.push(`${route.what}: ${JSON.stringify(errors)}`);
    throw new Refused(400, 'Parameter verification failed.', errors);
  }
  const lists = Object.fromEntries(Object.entries(all).filter(([, value]) => Array.isArray(value))) as Record<
    string,
    string[]
  >;
  const given = Object.fromEntries(
    Object.entries(all).filter(([, value]) => !Array.isArray(value)),
  ) as Record<string, string>;
  // Whom a node is asked about that does not answer, the one that was asked tells so.
  const node = state.nodes.find(({ name }) => name === given.node);
  if (given.node !== undefined && !node)
    throw new Refused(500, `hostname lookup '${given.node}' failed - failed to get address info`);
  if (node && !node.isOnline) throw new Refused(595, 'No route to host');
  const { rights } = method ?? {};
  if (rights) {
    const place = rights.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => given[name] ?? '');
    const has = rightsAt(state, place);
    if (!rights.anyOf.some((right) => has.includes(right)))
      throw new Refused(403, `Permission check failed (${place}, ${rights.anyOf.join('|')})`);
  }
  return { what: route.what, given, lists };
}

function collected(form: URLSearchParams): Record<string, string | string[]> {
  return Object.fromEntries(
    [...new Set(form.keys())].map((name) => {
      const all = form.getAll(name);
      return [name, all.length > 1 ? all : (all[0] ?? '')];
    }),
  );
}

async function bodyOf(
  request: IncomingMessage,
): Promise<Pick<Call, 'lists' | 'file'> & { fields: Record<string, string | string[]> }> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    bytes += (piece as Buffer).length;
    if (bytes > mostBody) throw new Refused(413, 'too large');
    pieces.push(piece as Buffer);
  }
  const body = Buffer.concat(pieces);
  const type = request.headers['content-type'] ?? '';
  const [, boundary] = /^multipart\/form-data; boundary=(\S+)$/.exec(type) ?? [];
  if (boundary !== undefined) return { lists: {}, ...multipart(body, boundary) };
  if (body.length > 0 && type !== 'application/x-www-form-urlencoded')
    throw new Refused(400, `unsupported content type ${type}`);
  return { lists: {}, file: null, fields: collected(new URLSearchParams(body.toString('utf8'))) };
}

function multipart(body: Buffer, boundary: string) {
  const fields: Record<string, string> = {};
  let file: Buffer | null = null;
  const mark = `--${boundary}`;
  for (let at = body.indexOf(mark); at >= 0; ) {
    const next = body.indexOf(`\r\n${mark}`, at);
    if (next < 0) break;
    const head = body.indexOf('\r\n\r\n', at);
    const lines = body.toString('utf8', at, head);
    const content = body.subarray(head + 4, next);
    const [, name = ''] = / name="([^"]*)"/.exec(lines) ?? [];
    const [, filename] = /; filename="([^"]*)"/.exec(lines) ?? [];
    if (filename === undefined) fields[name] = content.toString('utf8');
    // Nothing that follows the file is read.
    else {
      fields.filename = filename;
      file = Buffer.from(content);
      break;
    }
    at = next + 2;
  }
  return { fields, file };
}
