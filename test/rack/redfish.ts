import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { BmcConnection } from '../../src/drivers/bmc/index.ts';
import { certificates } from '../../src/drivers/hypervisor/incus/standIn.testbed.ts';
import { factory, type RackBmc } from './bmc.ts';
import { changeOf } from './redfishChanges.ts';
import { resourcesOf } from './redfishResources.ts';

/** What a Redfish BMC remembers by itself; its server's power and start are those of the chassis. */
export interface RedfishState {
  accounts: RedfishAccount[];
  /** Path of each session by its token. */
  sessions: Map<string, string>;
  boot: {
    BootSourceOverrideEnabled: string;
    BootSourceOverrideTarget: string;
    BootSourceOverrideMode: string;
  };
  log: { id: string; created: string; message: string }[];
  vendor: string;
  uuid: string;
  ipmiPort: number;
}

export interface RedfishAccount {
  id: string;
  name: string;
  password: string;
  role: string;
  isEnabled: boolean;
}

/** Over the same chassis and beside the same IPMI as a `RackBmc`, as a real one has both. */
export interface RackRedfish {
  connection: BmcConnection & { port: number };
  state: RedfishState;
  /** What was asked of it, `GET /redfish/v1/`, in order. */
  asked: string[];
  /** Answers in its place where it returns true. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
  /** Says yes to everything that is to be done to the server, and does nothing. */
  saysYes: boolean;
  close(): void;
}

/**
 * A stand-in for a BMC's Redfish, held to truth by clients that nobody here wrote (`redfish.test.ts`): there is no program to be had that speaks it.
 * Whom its IPMI lets in it lets in, too: so it knows who was given an account from inside.
 */
export async function startRedfish(
  rack: RackBmc,
  { address = '127.0.0.1', port = 0 }: { address?: string; port?: number } = {},
): Promise<RackRedfish> {
  const { cluster: identity } = await certificates();
  const state: RedfishState = {
    accounts: [
      { id: '2', name: factory.user, password: factory.password, role: 'Administrator', isEnabled: true },
      { id: '3', name: 'guest', password: 'guest-pass-1', role: 'Operator', isEnabled: true },
    ],
    sessions: new Map(),
    boot: {
      BootSourceOverrideEnabled: 'Disabled',
      BootSourceOverrideTarget: 'None',
      BootSourceOverrideMode: 'Legacy',
    },
    log: [],
    vendor: 'Example',
    uuid: 'a1234567-89ab-4def-a123-456789abcdef',
    ipmiPort: rack.connection.port ?? 623,
  };
  const stand: RackRedfish = {
    ...{ state, asked: [], instead: null, saysYes: false, close: () => undefined },
    connection: {
      ...{ kind: 'redfish', address, port, ...factory },
      certificate: new X509Certificate(identity.certificate).fingerprint256,
    },
  };
  const server = createServer({ key: identity.key, cert: identity.certificate }, (request, response) => {
    void answer(stand, rack, request, response).catch((error: Error) =>
      send(response, 500, refusal('InternalError', error.message)),
    );
  });
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  stand.connection.port = (server.address() as AddressInfo).port;
  stand.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return stand;
}

async function answer(stand: RackRedfish, rack: RackBmc, request: IncomingMessage, response: ServerResponse) {
  const { state } = stand;
  const method = request.method ?? 'GET';
  const path = (request.url ?? '').split('?')[0]?.replace(/(.)\/$/, '$1') ?? '';
  stand.asked.push(`${method} ${path}`);
  const text = await bodyOf(request);
  if (stand.instead?.(request, response)) return;
  if (path === '/redfish') return send(response, 200, { v1: '/redfish/v1/' });
  const resources = await resourcesOf(state, rack);
  const isOpenToAll = method === 'GET' && path === '/redfish/v1';
  const sessions = '/redfish/v1/SessionService/Sessions';
  if (method === 'POST' && path === sessions) return signIn(state, rack, response, JSON.parse(text));
  if (!isOpenToAll && !isKnown(state, request))
    return send(response, 401, refusal('NoValidSession', 'sign in first'));
  const found = resources[path];
  if (method === 'GET') {
    if (found === undefined)
      return send(response, 404, refusal('ResourceMissingAtURI', `nothing at ${path}`));
    return send(response, 200, found, { etag: etagOf(found) });
  }
  if (method === 'DELETE' && path.startsWith(`${sessions}/`)) {
    for (const [token, at] of state.sessions) if (at === path) state.sessions.delete(token);
    return send(response, 204);
  }
  const match = request.headers['if-match'];
  if (method === 'PATCH' && found && match !== etagOf(found) && match !== '*')
    return send(
      response,
      match === undefined ? 428 : 412,
      refusal('PreconditionFailed', 'it is another by now'),
    );
  const change = changeOf(method, path, JSON.parse(text || '{}'), stand, rack);
  if (change === null) return send(response, 405, refusal('OperationNotAllowed', `no ${method} of ${path}`));
  const problem = await change();
  if (problem) return send(response, 400, refusal('PropertyValueNotInList', problem));
  return send(response, 204);
}

async function signIn(
  state: RedfishState,
  rack: RackBmc,
  response: ServerResponse,
  body: { UserName?: string; Password?: string },
): Promise<void> {
  const account =
    state.accounts.find(({ name }) => name === body.UserName) ?? (await fromInside(state, rack, body));
  if (!opens(account, body.Password))
    return void send(response, 401, refusal('NoValidSession', 'wrong name or password'));
  const token = randomBytes(16).toString('hex');
  const id = randomBytes(4).toString('hex');
  const path = `/redfish/v1/SessionService/Sessions/${id}`;
  state.sessions.set(token, path);
  const session = { '@odata.id': path, '@odata.type': '#Session.v1_3_0.Session', Id: id, Name: 'session' };
  send(response, 201, { ...session, UserName: body.UserName }, { 'x-auth-token': token, location: path });
}

/** An account that IPMI knows by now. */
async function fromInside(
  { accounts }: RedfishState,
  rack: RackBmc,
  { UserName: name = '', Password: password = '' }: { UserName?: string; Password?: string },
): Promise<RedfishAccount | undefined> {
  const id = await rack.accountOf(name, password);
  if (id === null) return undefined;
  const account = { id, name, password, role: 'Administrator', isEnabled: true };
  accounts.push(account);
  return account;
}

function opens(account: RedfishAccount | undefined, password: string | undefined): boolean {
  return account?.isEnabled === true && account.role !== 'NoAccess' && account.password === password;
}

function isKnown(state: RedfishState, { headers }: IncomingMessage): boolean {
  const token = headers['x-auth-token'];
  if (typeof token === 'string') return state.sessions.has(token);
  const [kind, secret = ''] = (headers.authorization ?? '').split(' ');
  const [name, ...rest] = Buffer.from(secret, 'base64').toString().split(':');
  return (
    kind === 'Basic' &&
    opens(
      state.accounts.find((each) => each.name === name),
      rest.join(':'),
    )
  );
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function etagOf(resource: object): string {
  return `"${createHash('sha256').update(JSON.stringify(resource)).digest('hex').slice(0, 16)}"`;
}

function refusal(code: string, message: string): object {
  const id = `Base.1.8.${code}`;
  const info = [
    { '@odata.type': '#Message.v1_1_1.Message', MessageId: id, Message: message, Severity: 'Warning' },
  ];
  return { error: { code: id, message, '@Message.ExtendedInfo': info } };
}

function send(
  response: ServerResponse,
  status: number,
  body?: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', 'odata-version': '4.0', ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
