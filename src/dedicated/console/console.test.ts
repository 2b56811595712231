import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Child, startChild } from '../../../test/child.ts';
import { apiClient, type Client } from '../../../test/client.ts';
import { removeDataDir } from '../../../test/dataDir.ts';
import { newCustomer, newMember, newStaff, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { newServerProduct, newServers, serverCart } from '../../../test/rack/stock.ts';
import { settled, sql } from '../../../test/sql.ts';
import { openBmcs, type SimulatedBmc, simulatedRack } from '../../drivers/bmc/index.ts';
import { rentServer } from '../../fleet/index.ts';
import { transaction } from '../../platform/index.ts';
import { completeDelivery, requireOrder } from '../../services/index.ts';

const secretKey = Buffer.alloc(32, 9).toString('base64');
const rack = simulatedRack();
let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct({
    env: { HYPERVISOR: 'simulator', NETWORK4: '10.83.0.0/24', SECRET_KEY: secretKey },
    drivers: { bmc: openBmcs({ rack, offForMs: 0 }) },
  });
  customer = await newCustomer(product, { creditMinor: 10_000_000 });
});
afterAll(() => product.stop());

const bmcs: SimulatedBmc[] = [];
const sockets: WebSocket[] = [];
afterEach(() => {
  for (const bmc of bmcs) bmc.failing = {};
  for (const each of sockets.splice(0)) each.terminate();
});

let made = 0;
async function newServer() {
  made += 1;
  const address = `198.51.101.${made}`;
  const bmc = rack.put(address);
  bmc.power = 'on';
  bmcs.push(bmc);
  const productId = await newServerProduct(product);
  const { serverIds } = await newServers(product, productId, 1);
  const serverId = serverIds[0] ?? 0;
  const macs = [`52:54:00:00:2d:${String(made).padStart(2, '0')}`];
  const reached = { kind: 'simulated', address, user: 'root', password: 'factory-1' };
  await product.staff.patch(`/staff/servers/${serverId}`, { macs, bmc: reached });
  return { serverId, bmc, address, productId };
}

/** A server that the customer has. */
async function rented() {
  const server = await newServer();
  const order = await customer.post('/cart/checkout/invoice', serverCart(server.productId, { option5: 1 }));
  const id = order.body.data.service_ids[0] as number;
  await transaction(product.ctx, 'test.deliver', async (tx) => {
    const wanted = await requireOrder(tx, id);
    await completeDelivery(tx, wanted, { hostname: wanted.domain, primaryIp: null });
    await rentServer(tx, id);
  });
  await product.periodic('fleet.askBmcs');
  await settled(product);
  return { ...server, id, path: `/dashboard/service/${id}/dedicated` };
}

type Rented = Awaited<ReturnType<typeof rented>>;

/** The way to a console as this test reaches the product: its public URL does not know the port. */
const ownUrl = (url: string) => product.url.replace('http', 'ws') + new URL(url).pathname;
async function ticket({ path }: Rented, as: Client = customer): Promise<string> {
  const answer = await as.get(`${path}/console`);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.body.data.type).toBe('serial');
  return ownUrl(answer.body.data.wss_url);
}
async function staffTicket({ serverId }: { serverId: number }, as: Client = product.staff): Promise<string> {
  const answer = await as.post(`/staff/servers/${serverId}/console`, { reason: 'It does not start' });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return ownUrl(answer.body.data.wss_url);
}

/** Somebody who looks at a serial line. */
async function look(url: string, origin?: string) {
  const socket = new WebSocket(url, origin === undefined ? {} : { origin });
  sockets.push(socket);
  const seen = { text: '', end: null as [number, string] | null, refused: 0 };
  socket.on('message', (data) => {
    seen.text += String(data);
  });
  socket.on('error', () => undefined);
  socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
    seen.refused = statusCode;
    socket.terminate();
  });
  socket.on('close', (code, reason) => {
    seen.end = [code, String(reason)];
  });
  await new Promise((resolve) => socket.once('open', resolve).once('close', resolve));
  return {
    seen,
    type: (keys: string) => socket.send(Buffer.from(keys)),
    ended: () =>
      until(
        async () => seen.end,
        (end) => end !== null,
        6_000,
      ),
  };
}

/** Once it shows what its server says. */
async function looking(server: Pick<Rented, 'bmc'>, url: string) {
  const viewer = await look(url);
  expect(viewer.seen.refused).toBe(0);
  await until(
    async () => {
      server.bmc.line.print('.');
      return viewer.seen.text;
    },
    (text) => text.includes('.'),
  );
  return viewer;
}

const accessEnded = [1008, 'access has ended'];
const takenOver = [4001, 'somebody else has opened this console'];

describe('the console of a rented server', () => {
  it('carries its serial line both ways, says nothing of its BMC, and is on the record', async () => {
    const server = await rented();
    const answer = await customer.get(`${server.path}/console`);
    expect(JSON.stringify(answer.body)).not.toMatch(new RegExp(`${server.address}|factory|bmc`));
    const viewer = await looking(server, await ticket(server));
    server.bmc.line.print('login: ');
    await expect.poll(() => viewer.seen.text).toContain('login: ');
    viewer.type('root\r');
    await expect.poll(() => server.bmc.line.typed).toContain('root\r');
    const [told] = await sql<{ organization_id: number; user_id: number }>(
      product,
      `select organization_id, user_id from journal where action = 'dedicated.console.opened' and subject_id = $1`,
      server.id,
    );
    expect(told).toMatchObject({ organization_id: customer.organizationId, user_id: customer.userId });
  });

  it('is asked for as that of a VPS is, and says in words that there is no screen', async () => {
    const { path } = await rented();
    const serial = await customer.get(`${path}/console?type=serial`);
    expect([serial.status, serial.body.data?.type]).toEqual([200, 'serial']);
    const screen = await customer.get(`${path}/console?type=vnc`);
    expect([screen.status, screen.body.code]).toEqual([400, 'invalid_request']);
    expect(JSON.stringify(screen.body.details)).toContain(
      'a dedicated server shows its serial line, and no screen',
    );
  });

  it('opens once only, not after thirty seconds, and not from the page of another site', async () => {
    const server = await rented();
    const used = await ticket(server);
    await looking(server, used);
    expect((await look(used)).seen.refused).toBe(401);
    const late = await ticket(server);
    product.clock.travel(31_000);
    expect((await look(late)).seen.refused).toBe(401);
    expect((await look(await ticket(server), 'https://evil.example')).seen.refused).toBe(403);
    expect(server.bmc.line.holder()).not.toBeNull(); // none of them took it from who has it
  });

  it('is taken over by whoever opens it next, and the one before is told so', async () => {
    const server = await rented();
    const first = await looking(server, await ticket(server));
    const second = await looking(server, await ticket(server));
    expect(await first.ended()).toEqual(takenOver);
    server.bmc.line.print('for the second');
    await expect.poll(() => second.seen.text).toContain('for the second');
    expect(first.seen.text).not.toContain('second');
    expect(second.seen.end).toBeNull();
    // Also where it is taken at the BMC by whom we do not know, as by a process of ours elsewhere.
    server.bmc.line.take();
    expect(await second.ended()).toEqual(takenOver);
    await looking(server, await ticket(server));
  });

  it('is for those who may manage the server, of its own organization', async () => {
    const server = await rented();
    for (const role of ['billing', 'support', 'viewer'] as const) {
      const member = await newMember(product, customer.organizationId, role);
      const { status, body } = await member.get(`${server.path}/console`);
      expect([role, status, body.code]).toEqual([role, 403, 'permission_denied']);
    }
    const technical = await newMember(product, customer.organizationId, 'technical');
    const viewer = await looking(server, await ticket(server, technical));
    const stranger = await newCustomer(product);
    expect((await stranger.get(`${server.path}/console`)).status).toBe(403);
    const unused = await ticket(server, technical);
    await sql(product, `update memberships set role = 'support' where user_id = $1`, technical.userId);
    expect(await viewer.ended()).toEqual(accessEnded);
    expect((await look(unused)).seen.refused).toBe(401);
  });

  it.each<[string, (server: Rented) => Promise<unknown>]>([
    [
      'its service is suspended',
      ({ id }) => sql(product, `update services set status = 'suspended' where id = $1`, id),
    ],
    [
      'its service is of another organization',
      async ({ id }) => {
        const other = await newCustomer(product);
        await sql(
          product,
          'update services set organization_id = $2 where id = $1',
          id,
          other.organizationId,
        );
      },
    ],
    [
      'it is on its way back',
      ({ serverId }) => sql(product, `update servers set state = 'returning' where id = $1`, serverId),
    ],
    [
      'the customer has another server',
      ({ serverId }) =>
        sql(product, `update servers set state = 'quarantined', service_id = null where id = $1`, serverId),
    ],
    [
      'an installer is about to be started on it',
      ({ serverId }) =>
        sql(
          product,
          `insert into server_assignments (server_id, kind, state, disks, opened_at) values ($1, 'wipe', 'open', '[]', now())`,
          serverId,
        ),
    ],
  ])('ends within five seconds once %s, and its ticket opens nothing', async (_what, happen) => {
    const server = await rented();
    const viewer = await looking(server, await ticket(server));
    const unused = await ticket(server);
    await happen(server);
    expect(await viewer.ended()).toEqual(accessEnded);
    expect(server.bmc.line.holder()).toBeNull();
    expect((await look(unused)).seen.refused).toBe(401);
    expect((await customer.get(`${server.path}/console`)).status).toBeGreaterThanOrEqual(400);
  });

  it('is not shown while the serial line is the proof’s, and the overview says why', async () => {
    const server = await rented();
    const assign = async (state: string, kind: string) => {
      await sql(product, 'delete from server_assignments where server_id = $1', server.serverId);
      await sql(
        product,
        `insert into server_assignments (server_id, kind, state, disks, opened_at) values ($1, $3, $2, '[]', now())`,
        ...[server.serverId, state, kind],
      );
    };
    const now = async () =>
      (await customer.get(`${server.path}/overview`)).body.data.dedicated.actions.console;
    expect(await now()).toMatchObject({ allowed: true });
    for (const [state, kind] of [
      ['open', 'install'],
      ['working', 'install'],
      ['working', 'wipe'],
      ['open', 'rescue'],
    ] as const) {
      await assign(state, kind);
      expect(await now()).toMatchObject({ allowed: false, reason: expect.stringContaining('Our installer') });
      const { status, body } = await customer.get(`${server.path}/console`);
      expect([state, kind, status, body.code]).toEqual([state, kind, 409, 'action_not_allowed']);
      const staffs = await product.staff.post(`/staff/servers/${server.serverId}/console`, {
        reason: 'To look',
      });
      expect([state, kind, staffs.status, staffs.body.code]).toEqual([state, kind, 409, 'locked']);
    }
    // In the rescue system it is the customer's own.
    await assign('working', 'rescue');
    expect(await now()).toMatchObject({ allowed: true });
    await sql(
      product,
      `insert into server_starts (mac, assignment_id, token_hash, secret_hash, nonce, opened_at)
       select p.mac, a.id, 'of ' || a.id, 'secret of ' || a.id, 'n', now() from server_assignments a join server_ports p on p.server_id = a.server_id
       where a.server_id = $1`,
      server.serverId,
    );
    expect(await now()).toMatchObject({ allowed: false });
    // Whoever copies its MAC has claimed it so, and says nothing on its line.
    await sql(product, `update server_starts set claimed_at = now() - interval '21 minutes'`);
    expect(await now()).toMatchObject({ allowed: true });
  });

  it('of a BMC that is silent, or shows no line, is refused in words', async () => {
    const server = await rented();
    const given = await ticket(server);
    server.bmc.failing.noSerial = true;
    expect(await (await look(given)).ended()).toEqual([
      1011,
      'the controller of this server shows no serial line',
    ]);
    product.clock.travel(15 * 60_000);
    await product.periodic('fleet.readBmcs');
    await settled(product);
    const without = await customer.get(`${server.path}/console`);
    expect([without.status, without.body.message]).toEqual([
      409,
      'The controller of this server shows no serial line',
    ]);
    server.bmc.failing = { silent: 'before' };
    await sql(product, 'update server_bmcs set shows_line = null where server_id = $1', server.serverId);
    product.clock.travel(6 * 60_000);
    await product.periodic('fleet.askBmcs');
    await settled(product);
    const silent = await customer.get(`${server.path}/console`);
    expect(silent.status).toBe(409);
    expect(silent.body.message).toContain('does not answer');
  });
});

describe('the console for staff', () => {
  it('is of any server that has a BMC, with a reason, and takes the line from its customer', async () => {
    const server = await rented();
    const viewer = await looking(server, await ticket(server));
    const staffs = await looking(server, await staffTicket(server));
    expect(await viewer.ended()).toEqual(takenOver);
    staffs.type('ls\r');
    await expect.poll(() => server.bmc.line.typed).toContain('ls\r');
    const [told] = await sql<{ data: unknown }>(
      product,
      `select data from journal where action = 'server.console_opened' and subject_id = $1`,
      server.serverId,
    );
    expect(told?.data).toMatchObject({ reason: 'It does not start', service_id: server.id });
    await settled(product);
    const activity = await customer.get(`/dashboard/organizations/${customer.organizationId}/activity`);
    expect(activity.body.data.activity).toContainEqual(
      expect.objectContaining({
        action: 'dedicated_console_opened_by_staff',
        values: expect.objectContaining({ reason: 'It does not start' }),
      }),
    );

    const aside = await newServer();
    await product.staff.post(`/staff/servers/${aside.serverId}/quarantine`, { reason: 'Restarts by itself' });
    await looking(aside, await staffTicket(aside));
    await product.staff.patch(`/staff/servers/${aside.serverId}`, { bmc: null });
    const without = await product.staff.post(`/staff/servers/${aside.serverId}/console`, {
      reason: 'To look',
    });
    expect([without.status, without.body.code]).toEqual([409, 'conflict']);
    expect((await product.staff.post(`/staff/servers/${server.serverId}/console`, {})).status).toBe(400);
  });

  it('ends within five seconds with the role that opened it, and others of staff have none', async () => {
    const server = await newServer();
    const operator = await newStaff(product, 'operator');
    const viewer = await looking(server, await staffTicket(server, operator));
    const support = await newStaff(product, 'support');
    expect((await support.post(`/staff/servers/${server.serverId}/console`, { reason: 'x' })).status).toBe(
      403,
    );
    await sql(product, `update users set staff_role = 'support' where id = $1`, operator.userId);
    expect(await viewer.ended()).toEqual(accessEnded);
  });
});

describe('through a process that reaches no BMC', () => {
  const dir = mkdtempSync(join(tmpdir(), 'innkeeper-console-'));
  let api: Child;
  let there: Client;
  beforeAll(async () => {
    // The other process has the time of the host, and they believe each other for a minute.
    product.clock.travel(Date.now() - product.clock.now().getTime());
    const own = { DATABASE_URL: product.databaseUrl, SECRET_KEY: secretKey, HYPERVISOR: 'simulator' };
    api = await startChild(dir, { ...own, ROLE: 'api', DEMO: 'off' });
    there = apiClient(`${api.url}/api`, { token: customer.key, organizationId: customer.organizationId });
  }, 60_000);
  afterAll(async () => {
    await api?.end('SIGTERM');
    await removeDataDir(dir);
  }, 60_000);

  const ticketThere = async ({ path }: Rented) => {
    const { body } = await there.get(`${path}/console`);
    return api.url.replace('http', 'ws') + new URL(body.data.wss_url).pathname;
  };

  it('it is shown by one that does jobs, and taken over from here and from there', async () => {
    const server = await rented();
    const far = await looking(server, await ticketThere(server));
    far.type('typed there\r');
    await expect.poll(() => server.bmc.line.typed).toContain('typed there\r');
    const near = await looking(server, await ticket(server));
    expect(await far.ended()).toEqual(takenOver);
    const second = await looking(server, await ticketThere(server));
    expect(await near.ended()).toEqual(takenOver);
    server.bmc.line.take();
    expect(await second.ended()).toEqual(takenOver);
    const given = await ticketThere(server);
    server.bmc.failing.noSerial = true;
    expect(await (await look(given)).ended()).toEqual([
      1011,
      'the controller of this server shows no serial line',
    ]);
  });

  it('it is refused in words before a ticket is given where none of those answers', async () => {
    const server = await rented();
    await sql(product, 'delete from console_hosts');
    const { status, body } = await there.get(`${server.path}/console`);
    expect([status, body.code]).toEqual([503, 'driver_absent']);
    expect(body.message).toContain('reaches none of those that speak to servers');
  });
});
