/** Consoles of machines in clusters through several processes: a line that takes one viewer is opened once, and shared. */
import { mkdtempSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { linesTo } from '../src/drivers/hypervisor/proxmox/standIn/consoles.testbed.ts';
import { tokenId, tokenSecret } from '../src/drivers/hypervisor/proxmox/standIn/state.testbed.ts';
import {
  makeImage,
  type ProxmoxBed,
  proxmoxBed,
  reasonWithoutGuests,
} from '../src/drivers/hypervisor/proxmox/testbed.ts';
import { type Child, startChild } from './child.ts';
import { apiClient } from './client.ts';
import { removeDataDir } from './dataDir.ts';
import { runningVps } from './orders.ts';
import { newCustomer, type Person } from './people.ts';
import { startTestProduct, type TestProduct, until } from './product.ts';
import { settled, sql } from './sql.ts';

const reason = await reasonWithoutGuests();
if (reason !== null) console.warn(`Consoles through several processes are not tested: ${reason}`);
const network = 52;
const secretKey = Buffer.alloc(32, 7).toString('base64');

let bed: ProxmoxBed;
let product: TestProduct;
let customer: Person;
let id: number;
const dirs: string[] = [];
const children: Child[] = [];
const viewers: Viewer[] = [];

/** A process that serves the API alone. */
async function startApi(env: Record<string, string> = {}): Promise<Child> {
  const dir = mkdtempSync(join(tmpdir(), 'innkeeper-consoles-'));
  dirs.push(dir);
  const child = await startChild(dir, {
    ...{ DATABASE_URL: product.databaseUrl, SECRET_KEY: secretKey, ROLE: 'api', DEMO: 'off' },
    ...{ CLUSTER_ALLOW: '127.0.0.1', IMAGES_DIR: bed.options.imagesDir, ...env },
  });
  children.push(child);
  return child;
}

interface Viewer {
  socket: WebSocket;
  text(): string;
  type(keys: string): void;
  /** Code and reason. */
  closed: Promise<[number, string]>;
  isClosed(): boolean;
}

/** What a process answers whoever asks it for a ticket to the serial line. */
const asksFor = (child: Child) => {
  const who = { token: customer.key, organizationId: customer.organizationId };
  const ask = () =>
    apiClient(`${child.url}/api`, who).get(`/dashboard/service/${id}/vps/console?type=serial`);
  // A process that has just started does not drive the cluster yet.
  return until(ask, ({ body }) => !/does not reach the host|has no hypervisor/.test(body.message ?? ''));
};

async function ticketOf(child: Child): Promise<string> {
  const answer = await asksFor(child);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return new URL(answer.body.data.wss_url).pathname;
}

/** Somebody who looks at the serial line through a process. */
async function look(child: Child, ticket?: string): Promise<Viewer> {
  const path = ticket ?? (await ticketOf(child));
  const socket = new WebSocket(child.url.replace('http', 'ws') + path);
  let text = '';
  socket.on('message', (data) => {
    text += String(data);
  });
  socket.on('error', () => undefined);
  const closed = new Promise<[number, string]>((resolve) =>
    socket.once('close', (code, why) => resolve([code, String(why)])),
  );
  await new Promise((resolve) => socket.once('open', resolve).once('close', resolve));
  const viewer: Viewer = {
    ...{ socket, text: () => text, type: (keys: string) => socket.send(Buffer.from(keys)), closed },
    isClosed: () => socket.readyState === WebSocket.CLOSED,
  };
  viewers.push(viewer);
  return viewer;
}

const sees = (viewer: Viewer, what: string, timeout = 15_000) =>
  expect.poll(viewer.text, { timeout }).toContain(what);
const vmid = () => bed.vm(`vps-${id}`)?.vmid ?? 0;
const atEngine = () => linesTo(bed.state, vmid());
const rows = () => sql<{ holder: string; address: string }>(product, 'select * from console_lines');

describe.skipIf(reason !== null)('the serial line of a machine in a cluster', () => {
  let one: Child;
  let two: Child;

  beforeAll(async () => {
    bed = await proxmoxBed(network);
    bed.state.nodes.push({ name: 'n2', isOnline: true, bridges: ['vmbr0'] });
    await makeImage(bed.options.imagesDir, { slug: 'tiny', kind: 'build', recipe: 'tiny' });
    await makeImage(bed.options.imagesDir, { slug: 'debian', kind: 'build', recipe: 'debian-12' });
    product = await startTestProduct({
      env: {
        ...{ CLUSTER_ALLOW: '127.0.0.1', SECRET_KEY: secretKey },
        ...{ NETWORK4: `10.77.${network}.0/24`, IMAGES_DIR: bed.options.imagesDir },
      },
    });
    // Guests that stand in answer SSH on addresses of this host, which nobody may have as a pool.
    await sql(
      product,
      `update addresses set address = '127.0.0.0'::inet + (address - '10.0.0.0'::inet) where family(address) = 4`,
    );
    await sql(
      product,
      `update address_pools set network = set_masklen('127.0.0.0'::inet + (host(network)::inet - '10.0.0.0'::inet), 24)::cidr,
       gateway = '127.0.0.0'::inet + (gateway - '10.0.0.0'::inet) where family = 4`,
    );
    customer = await newCustomer(product, { creditMinor: 50_000 });
    await product.staff.post('/staff/clusters', {
      ...{ name: 'pve', engine: 'proxmox', location: 'AMS', endpoints: [bed.stand.url] },
      server_certificate: bed.options.fingerprints.join('\n'),
      credential: { token_id: tokenId, token_secret: tokenSecret },
      ...{ project: 'innkeeper', pool: 'local-lvm', files: 'files', bridge: 'vmbr0' },
    });
    const nodes = await until(
      async () => (await product.staff.get('/staff/nodes?sort=name')).body.data.nodes,
      (all) => all.length === 3,
    );
    await product.staff.patch(`/staff/nodes/${nodes[0].id}`, { state: 'draining' });
    await until(
      async () => (await product.staff.get('/staff/images/tiny')).body.data.image,
      ({ clusters }) => clusters[0]?.state === 'ready',
    );
    ({ serviceId: id } = await runningVps(product, customer, {}, 60_000));
    await settled(product);
    [one, two] = await Promise.all([startApi(), startApi()]);
  }, 300_000);
  afterEach(async () => {
    for (const each of viewers.splice(0)) each.socket.terminate();
    if (product) await until(rows, (held) => held.length === 0, 20_000);
  });
  afterAll(async () => {
    await Promise.all(children.map((each) => each.end('SIGTERM')));
    await product?.stop();
    bed?.remove();
    for (const dir of dirs) await removeDataDir(dir);
  }, 60_000);

  it('is seen and typed into through two processes alike, and who comes later is given what was printed last', async () => {
    const first = await look(one);
    first.type('hello\n');
    await sees(first, 'hello');
    const second = await look(two);
    await sees(second, 'hello\n\r\n');
    second.type('from two\n');
    await sees(first, 'from two');
    first.type('from one\n');
    await sees(second, 'from one');
    await expect.poll(() => second.text() === first.text()).toBe(true);
    const third = await look(two, await ticketOf(one));
    await sees(third, 'from one');
    expect(atEngine()).toBe(1);
    expect(await rows()).toMatchObject([{ address: one.url }]);
    // Who leaves first ends it for nobody else.
    first.socket.close();
    second.type('still\n');
    await sees(third, 'still');
    expect(atEngine()).toBe(1);
  });

  it('has one holder when many open it at the same moment through both', async () => {
    const all = await Promise.all([one, two, one, two, one, two].map((each) => look(each)));
    all[5]?.type('as one\n');
    for (const each of all) await sees(each, 'as one');
    expect(atEngine()).toBe(1);
    expect(await rows()).toHaveLength(1);
  });

  it('is left to another process by one that stops, and what it held there ends', async () => {
    const stopping = await startApi();
    const [first, second] = [await look(stopping), await look(two)];
    first.type('before\n');
    await sees(second, 'before');
    await stopping.end('SIGTERM');
    expect(await second.closed).toEqual([1001, 'the console ended']);
    const again = await look(two);
    again.type('after\n');
    await sees(again, 'after', 2_000);
    expect(await rows()).toMatchObject([{ address: two.url }]);
  });

  it('is taken over within seconds from a process that was killed, by one of those that come', async () => {
    const dying = await startApi();
    const [first, second] = [await look(dying), await look(two)];
    first.type('before\n');
    await sees(second, 'before');
    await dying.end('SIGKILL');
    expect(await second.closed).toEqual([1001, 'the console ended']);
    const began = performance.now();
    const again = await Promise.all([look(one), look(two), look(one), look(two)]);
    again[0]?.type('after\n');
    for (const each of again) await sees(each, 'after');
    expect(performance.now() - began).toBeLessThan(8_000);
    expect(atEngine()).toBe(1);
    expect(await rows()).toHaveLength(1);
  });

  it('is taken over from a process that hangs, and that one passes nothing on when it wakes', async () => {
    const hanging = await startApi();
    const first = await look(hanging);
    first.type('before\n');
    await sees(first, 'before');
    process.kill(hanging.pid, 'SIGSTOP');
    const second = look(two);
    await expect.poll(async () => (await rows())[0]?.address, { timeout: 10_000 }).toBe(two.url);
    process.kill(hanging.pid, 'SIGCONT');
    expect(await first.closed).toEqual([1001, 'the console ended']);
    const viewer = await second;
    viewer.type('after\n');
    await sees(viewer, 'after');
    expect(first.text()).not.toContain('after');
  });

  it('is refused in words where its holder lives and cannot be reached, and goes on there', {
    timeout: 60_000,
  }, async () => {
    const wall = await openWall();
    const behind = await startApi({ PROCESS_URL: wall.url });
    wall.leadTo(behind.url);
    const first = await look(behind);
    first.type('mine\n');
    await sees(first, 'mine');
    const allowed = await look(two);
    await sees(allowed, 'mine');
    const ticket = await ticketOf(two);
    wall.stand(true);
    expect((await allowed.closed)[0]).toBe(1001);
    const { status, body } = await asksFor(two);
    expect([status, body.code, body.message]).toEqual([
      503,
      'driver_absent',
      expect.stringContaining('Another process has the serial line of this machine'),
    ]);
    // Also with a ticket from before.
    const refused = await look(two, ticket);
    const [code, words] = await refused.closed;
    expect([code, words]).toEqual([1011, expect.stringContaining('another process has this console')]);
    first.type('still mine\n');
    await sees(first, 'still mine');
    expect(atEngine()).toBe(1);
    wall.stand(false);
    await sees(await look(two), 'still mine');
    wall.close();
  });

  it('takes nobody without a pass of ours, and none twice', async () => {
    const first = await look(one);
    first.type('x');
    await sees(first, 'x');
    for (const pass of [undefined, 'Line', 'Line AAAA', `Bearer ${customer.key}`])
      expect(await knock(one, pass)).toBe(401);
    const spied = await openWall();
    spied.leadTo(one.url);
    await sql(product, `update console_lines set address = $1`, spied.url);
    await sees(await look(two), 'x');
    const [, pass] = /authorization: (Line \S+)/i.exec(spied.heard()) ?? [];
    expect(pass).toBeDefined();
    expect(await knock(one, pass)).toBe(401);
    expect(spied.heard()).not.toContain(tokenSecret);
    spied.close();
  });

  it('ends when its machine goes to another node, and opens anew there', { timeout: 60_000 }, async () => {
    const [first, second] = [await look(one), await look(two)];
    first.type('here\n');
    await sees(second, 'here');
    const vm = bed.vm(`vps-${id}`);
    if (!vm) throw new Error('there is no machine');
    vm.node = vm.node === 'n1' ? 'n2' : 'n1';
    for (const each of [first, second]) expect(await each.closed).toEqual([1001, 'the console ended']);
    await expect.poll(atEngine).toBe(0);
    const again = await look(two);
    again.type('there\n');
    await sees(again, 'there');
    expect(bed.stand.asked.filter((each) => each.endsWith('/termproxy')).at(-1)).toContain(
      `/nodes/${vm.node}/`,
    );
  });

  it('ends in each process when its machine stops', { timeout: 60_000 }, async () => {
    const [first, second] = [await look(one), await look(two)];
    first.type('here\n');
    await sees(second, 'here');
    await customer.post(`/dashboard/service/${id}/vps/stop`);
    for (const each of [first, second]) expect(await each.closed).toEqual([1001, 'the console ended']);
  });
});

/** The status with which a process answers whoever asks for a line by this pass. */
function knock(child: Child, pass?: string): Promise<number> {
  const headers = pass === undefined ? {} : { authorization: pass };
  const socket = new WebSocket(`${child.url.replace('http', 'ws')}/line`, { headers });
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    socket.once('open', () => resolve(101));
  });
}

interface Wall {
  url: string;
  leadTo(url: string): void;
  /** Whether nothing passes, and nobody is told. */
  stand(stands: boolean): void;
  /** What was sent through it. */
  heard(): string;
  close(): void;
}

/** What stands between two processes, as a firewall that drops what it does not like. */
async function openWall(): Promise<Wall> {
  let target = '';
  let stands = false;
  let heard = '';
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    sockets.add(near.on('error', () => undefined));
    if (stands) return;
    const { hostname, port } = new URL(target);
    const far = connect(Number(port), hostname).on('error', () => near.destroy());
    sockets.add(far);
    near.on('data', (bytes: Buffer) => {
      heard += bytes.toString('latin1');
      if (!stands) far.write(bytes);
    });
    far.on('data', (bytes: Buffer) => void (stands || near.write(bytes)));
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (url) => {
      target = url;
    },
    stand: (now) => {
      stands = now;
    },
    heard: () => heard,
    close: () => {
      for (const each of sockets) each.destroy();
      server.close();
    },
  };
}
