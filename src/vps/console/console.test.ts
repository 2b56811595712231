import { createServer, request } from 'node:http';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { apiClient, type Client } from '../../../test/client.ts';
import { runningVps } from '../../../test/orders.ts';
import { newMember, type SignedIn, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { serveConsoles } from '../../consoles/index.ts';
import { statement } from '../../platform/index.ts';
import { machineConsoles } from './room.ts';

let product: TestProduct;
let id: number;

beforeAll(async () => {
  product = await startTestProduct();
  ({ serviceId: id } = await runningVps(product, product.customer));
});
afterAll(() => product.stop());

/** The way to a console as this test reaches the product: its public URL does not know the port. */
async function consoleUrl(type: string, as: Client = product.customer): Promise<string> {
  const answer = await as.get(`/dashboard/service/${id}/vps/console?type=${type}`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return product.url.replace('http', 'ws') + new URL(answer.body.data.wss_url).pathname;
}

interface Session {
  socket: WebSocket;
  /** What came first. */
  greeting: Promise<string>;
  closed: Promise<number>;
}

function connect(url: string, origin?: string): Session {
  const socket = new WebSocket(url, origin === undefined ? {} : { origin });
  const greeting = new Promise<string>((resolve) =>
    socket.once('message', (data) => resolve(data.toString())),
  );
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  return { socket, greeting, closed };
}

/** The status with which a connection is refused. */
function refusal(url: string, origin?: string): Promise<number> {
  const { socket } = connect(url, origin);
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    socket.once('open', () => resolve(101));
  });
}

/** The next console that is opened is this one. */
function nextLine(options: ConstructorParameters<typeof Duplex>[0]): Duplex {
  const line = new Duplex({ read: () => undefined, ...options });
  vi.spyOn(product.hypervisor, 'openConsole').mockResolvedValueOnce(line);
  return line;
}

/** A viewer that speaks only as much of the protocol as it likes. */
function rawViewer(url: string): Promise<Socket> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
  };
  return new Promise((resolve) =>
    request(url.replace('ws', 'http'), { headers })
      .on('upgrade', (_response, socket: Socket) => resolve(socket.on('error', () => undefined).resume()))
      .end(),
  );
}

/** Longer than any session lives. */
const longAgo = () => new Date(product.clock.now().getTime() - 365 * 86_400_000);

const typed = (text: string) =>
  Buffer.concat([Buffer.of(0x82, 0x80 | text.length, 0, 0, 0, 0), Buffer.from(text)]);

describe('a console', () => {
  it('carries the bytes of the screen and of the serial line', async () => {
    const screen = connect(await consoleUrl('vnc'));
    expect(await screen.greeting).toMatch(/^RFB 003\./);
    screen.socket.close();
    const serial = connect(await consoleUrl('serial'));
    expect(await serial.greeting).toMatch(/login/);
    serial.socket.close();
  });

  it('opens once only, not after thirty seconds, and not from the page of another site', async () => {
    const url = await consoleUrl('vnc');
    const first = connect(url);
    await first.greeting;
    expect(await refusal(url)).toBe(401);
    first.socket.close();

    const late = await consoleUrl('vnc');
    product.clock.travel(31_000);
    expect(await refusal(late)).toBe(401);
    expect(await refusal(await consoleUrl('vnc'), 'https://evil.example')).toBe(403);
    expect(await refusal(`${product.url.replace('http', 'ws')}/api/console/guess`)).toBe(404);
  });

  it('closes within five seconds when the member is removed', async () => {
    const session = connect(await consoleUrl('serial'));
    await session.greeting;
    const remove = statement<never, { organizationId: number }>(
      'test.removeMember',
      'delete from memberships where organization_id = :organizationId',
    );
    await product.ctx.db.run(remove, { organizationId: product.demo.customer.organization_id });
    const began = Date.now();
    expect(await session.closed).toBe(1008);
    expect(Date.now() - began).toBeLessThan(5_000);
    const restore = statement<never, { organizationId: number; id: number }>(
      'test.restoreMember',
      `insert into memberships (organization_id, user_id, role, joined_at)
       select :organizationId, user_id, 'owner', now() from services where id = :id`,
    );
    await product.ctx.db.run(restore, { organizationId: product.demo.customer.organization_id, id });
    await new Promise((resolve) => setTimeout(resolve, 1_100)); // the membership may be remembered for a second
  });

  it('is closed to a member whose new role may not open one, also one who does not take leave', async () => {
    const member = await newMember(product, product.demo.customer.organization_id, 'technical');
    let received = 0;
    const line = nextLine({
      write: (chunk: Buffer, _encoding, done) => {
        received += chunk.length;
        done();
      },
    });
    const viewer = await rawViewer(await consoleUrl('serial', member));
    const typing = setInterval(() => viewer.write(typed('x')), 10);
    await expect.poll(() => received).toBeGreaterThan(3);
    await sql(product, `update memberships set role = 'support' where user_id = $1`, member.userId);
    const began = Date.now();
    await expect.poll(() => line.destroyed).toBe(true);
    const atEnd = received;
    await expect.poll(() => viewer.closed).toBe(true);
    clearInterval(typing);
    expect(Date.now() - began).toBeLessThan(5_000);
    expect(received).toBe(atEnd);
  });

  /** Each is open, and has a ticket more, when what opened it ends; then neither is good any longer. */
  async function allEnd(ends: [why: string, opener: Client, end: () => Promise<unknown>][]): Promise<void> {
    const open: [string, Session, string][] = [];
    for (const [why, opener] of ends) {
      const session = connect(await consoleUrl('serial', opener));
      await session.greeting;
      open.push([why, session, await consoleUrl('vnc', opener)]);
    }
    const began = Date.now();
    for (const [, , end] of ends) await end();
    for (const [why, , ticket] of open) expect([why, await refusal(ticket)]).toEqual([why, 401]);
    for (const [why, { closed }] of open) expect([why, await closed]).toEqual([why, 1008]);
    expect(Date.now() - began).toBeLessThan(5_000);
  }

  it('ends within five seconds with the session that opened it, however that ended', async () => {
    const { organization_id: organizationId } = product.demo.customer;
    const member = { ...(await newMember(product, organizationId, 'technical')), organizationId };
    const here = () => signedIn(product, member);
    const [out, ended, idle] = [await here(), await here(), await here()];
    const [old, other, left] = [await here(), await here(), await here()];
    const age = (what: string, { sessionId }: SignedIn) =>
      sql(product, `update sessions set ${what} = $2 where id = $1`, sessionId, longAgo());
    const change = { current_password: member.password, password: 'Another-Pass-Word-7' };
    await allEnd([
      ['signed out', out, () => out.post('/auth/logout')],
      ['ended elsewhere', ended, () => left.delete(`/dashboard/account/sessions/${ended.sessionId}`)],
      ['idle', idle, () => age('last_seen_at', idle)],
      ['too old', old, () => age('expires_at', old)],
      ['another password', other, () => left.patch('/dashboard/account', change)],
    ]);

    // Where a second factor is wanted, who came without one is locked out.
    const weak = await signedIn(product, { ...member, password: change.password });
    const wanted = (is: boolean) =>
      sql(product, 'update organizations set require_2fa = $2 where id = $1', organizationId, is);
    await allEnd([['a second factor wanted', weak, () => wanted(true)]]);
    await wanted(false);
    await delay(1_100); // who lacks it may be remembered for a second
  });

  it('ends within five seconds with the key that opened it, or with what that was for; another goes on', async () => {
    const { organization_id: organizationId } = product.demo.customer;
    const member = await newMember(product, organizationId, 'technical');
    const person = await signedIn(product, { ...member, organizationId });
    const keys = '/dashboard/account/api-keys';
    const newKey = async (terms: object = {}) => {
      const { api_key, token } = (await person.post(keys, { name: 'Console', ...terms })).body.data;
      return { id: api_key.id, ...apiClient(`${product.url}/api`, { token, organizationId }) };
    };
    const [revoked, expired, moved] = [await newKey(), await newKey(), await newKey()];
    const [elsewhere, narrowed] = [await newKey(), await newKey()];
    const kept = connect(await consoleUrl('serial', await newKey({ ip_allowlist: ['127.0.0.0/8', '::1'] })));
    await kept.greeting;
    const change = ({ id: key }: { id: number }, terms: object) => person.patch(`${keys}/${key}`, terms);
    const expire = 'update api_keys set expires_at = $2 where id = $1';
    const own = (await person.post('/dashboard/organizations', { name: 'Own' })).body.data.organization.id;
    await allEnd([
      ['revoked', revoked, () => person.delete(`${keys}/${revoked.id}`)],
      ['expired', expired, () => sql(product, expire, expired.id, longAgo())],
      ['other addresses', moved, () => change(moved, { ip_allowlist: ['192.0.2.0/24'] })],
      ['other organizations', elsewhere, () => change(elsewhere, { organization_ids: [own] })],
      ['other scopes', narrowed, () => change(narrowed, { scopes: ['vps.read'] })],
    ]);
    expect(kept.socket.readyState).toBe(WebSocket.OPEN);
    kept.socket.close();
  });

  it('takes no more from its viewer than the guest reads', async () => {
    let received = 0;
    let read: () => void = () => undefined;
    let isReading = false;
    const line = nextLine({
      write: (chunk: Buffer, _encoding, done) => {
        received += chunk.length;
        read = done;
        if (isReading) done();
      },
    });
    const { socket } = connect(await consoleUrl('serial'));
    await new Promise((resolve) => socket.once('open', resolve));
    const [messages, bytes] = [1_024, 65_536];
    for (let nth = 0; nth < messages; nth++) socket.send(Buffer.alloc(bytes));
    await delay(1_000);
    expect(line.writableLength).toBeLessThan(4 * bytes);
    expect(socket.bufferedAmount).toBeGreaterThan(messages * bytes * 0.5);
    isReading = true;
    read();
    await expect.poll(() => received, { timeout: 20_000 }).toBe(messages * bytes);
    socket.close();
  });

  it('takes no more from the guest than its viewer reads', async () => {
    let sent = 0;
    nextLine({
      read() {
        sent += 65_536;
        setImmediate(() => this.push(Buffer.alloc(65_536)));
      },
      write: (_chunk, _encoding, done) => done(),
    });
    const { socket } = connect(await consoleUrl('serial'));
    await new Promise((resolve) => socket.once('message', resolve));
    socket.pause();
    await delay(1_500);
    const before = sent;
    await delay(500);
    expect(sent).toBe(before);
    socket.resume();
    await expect.poll(() => sent).toBeGreaterThan(before + 16 * 1_048_576);
    socket.terminate();
  });

  it('is one of eight at most, and the ninth is told so', async () => {
    const urls = await Promise.all(Array.from({ length: 9 }, () => consoleUrl('vnc')));
    const open = urls.slice(1).map((url) => connect(url));
    await Promise.all(open.map(({ greeting }) => greeting));
    const ninth = connect(urls[0] ?? '');
    const reason = new Promise((resolve) => ninth.socket.once('close', (_code, text) => resolve(`${text}`)));
    expect(await ninth.closed).toBe(1013);
    expect(await reason).toContain('8 open consoles');
    open[0]?.socket.close();
    await open[0]?.closed;
    expect(await connect(await consoleUrl('vnc')).greeting).toMatch(/^RFB/);
    for (const { socket } of open) socket.close();
  });

  it('ends for a viewer who has fallen silent, not for one whose guest does not read', async () => {
    const server = createServer();
    const { room, forOthers } = machineConsoles(product.ctx, server, () => product.hypervisor);
    const stop = serveConsoles(product.ctx, server, [room], forOthers, 100);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const here = async () => {
      const { pathname } = new URL(await consoleUrl('serial'));
      return `ws://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`;
    };
    const answering = connect(await here());
    await answering.greeting;
    nextLine({ write: () => undefined }); // never done with what it got
    const unread = connect(await here());
    await new Promise((resolve) => unread.socket.once('open', resolve));
    for (let nth = 0; nth < 8; nth++) unread.socket.send(Buffer.alloc(65_536));
    const silent = new WebSocket(await here(), { autoPong: false });
    await new Promise((resolve) => silent.once('close', resolve));
    await delay(500);
    for (const { socket } of [answering, unread]) expect(socket.readyState).toBe(WebSocket.OPEN);
    stop();
    expect(await Promise.all([answering.closed, unread.closed])).toEqual([1001, 1001]);
    server.close();
  });

  it('is asked for by somebody who is gone before the answer, and nothing else happens', async () => {
    const crashes: unknown[] = [];
    const note = (error: unknown) => crashes.push(error);
    process.on('uncaughtException', note);
    const database = new pg.Client({ connectionString: product.databaseUrl });
    await database.connect();
    await database.query('begin; lock table console_tickets in access exclusive mode');
    const { port } = new URL(product.url);
    const lines = [`GET /api/console/${'x'.repeat(43)} HTTP/1.1`, 'Host: x', 'Connection: Upgrade'];
    const socket = connectTcp(Number(port), '127.0.0.1');
    socket.write(`${[...lines, 'Upgrade: websocket'].join('\r\n')}\r\n\r\n`);
    await delay(200);
    socket.resetAndDestroy();
    await delay(200);
    await database.query('commit');
    await database.end();
    expect((await product.nobody.get('/health')).status).toBeLessThan(500);
    process.off('uncaughtException', note);
    expect(crashes).toEqual([]);
  });

  it('closes when the machine stops, and a stopped machine has none', async () => {
    const session = connect(await consoleUrl('vnc'));
    await session.greeting;
    await product.customer.post(`/dashboard/service/${id}/vps/stop`, { force: true });
    expect(await session.closed).toBe(1001);
    await expect
      .poll(async () => (await product.customer.get(`/dashboard/service/${id}/vps/console`)).body.code)
      .toBe('action_not_allowed');
  });
});
