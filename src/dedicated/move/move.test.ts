import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { type RentedPlayed, rentPlayed, stockServer } from '../../../test/rack/stocked.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type PlayedServer, playServer } from '../../demo/rack/played.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
const serverOf = async (id: number) => (await staff().get(`/staff/servers/${id}`)).body.data.server;
const moveOf = async (id: number) => (await staff().get(`/staff/servers/${id}/move`)).body.data.move;
const overview = async ({ path }: RentedPlayed) =>
  (await customer.get(`${path}/overview`)).body.data.dedicated;

type Another = PlayedServer & { id: number; name: string; mac: string; disks: string[]; address: string };

let others = 0;
/** One more server of the product that somebody has, in stock. */
async function another({ productId }: RentedPlayed, change: { location?: string } = {}): Promise<Another> {
  others += 1;
  const [{ model = '' } = {}] = await sql<{ model: string }>(
    world.product,
    'select model from server_profiles where product_id = $1',
    productId,
  );
  const name = `M-${others}`;
  const mac = `52:54:00:1f:${String(others).padStart(2, '0')}:01`;
  const address = `198.51.101.${others}`;
  const bmc = world.bmcAt(address);
  bmc.power = 'off';
  const drive = { kind: 'nvme' as const, bytes: 960_197_124_096 };
  const disks = [`${name}-A`, `${name}-B`];
  const id = await stockServer(world.product, model, {
    ...{ name, mac, bmc: { address, user: 'root', password: 'factory-1' }, ...change },
    disks: disks.map((serial) => ({ ...drive, serial })),
  });
  const played = playServer(world, { mac, disks, bmc, drives: Object.fromEntries(disks.map((it) => [it, drive])) });
  return Object.assign(played, { id, name, mac, disks, address });
}

const ask = ({ id }: RentedPlayed, body: object = {}) =>
  staff().post(`/staff/servers/${id}/move`, { reason: 'It restarts by itself', ...body });
async function asked(server: RentedPlayed, body: object = {}): Promise<number> {
  const { name } = await serverOf(server.id);
  const answer = await ask(server, { confirm: name, ...body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.action.id;
}
const readAction = async ({ path }: RentedPlayed, id: number) =>
  (await customer.get(`${path}/history/${id}`)).body.data.action;
const ended = (server: RentedPlayed, id: number) =>
  until(
    () => readAction(server, id),
    ({ status }) => status === 'success' || status === 'error',
    90_000,
  );
const isFree = (id: number, state = 'ready') =>
  until(
    () => serverOf(id),
    (server) => server.state === state,
    60_000,
  );

describe('a service that staff moves to another server', () => {
  it('is there with its addresses, system, hostname and keys, and the server before is wiped with proof', async () => {
    const server = await rentPlayed(world, customer);
    const to = await another(server);
    await customer.patch(`${server.path}/ips`, { address: server.ip, dns_name: 'metal.example.org' });
    const before = (await customer.get(`${server.path}/ips`)).body.data.ips;
    const seen: unknown[] = [];
    to.does = {
      at: async (step) => {
        if (step !== 'write') return;
        to.does = {};
        // Its customer goes on, and nobody changes anything meanwhile.
        const { state, locked, actions } = await overview(server);
        seen.push(state, locked, actions.restart.code, server.bmc.power, world.greets.has(server.ip));
        seen.push((await customer.post(`${server.path}/stop`, {})).body.code);
        seen.push((await ask(server, { confirm: (await serverOf(server.id)).name })).body.code);
        seen.push((await staff().post(`/staff/servers/${server.id}/stop`, { force: true })).body.code);
        const { action, possible, last } = await moveOf(server.id);
        seen.push([action.command, action.note, possible, last.to, last.moved]);
        expect((await serverOf(to.id)).state).toBe('held');
        expect((await serverOf(to.id)).move_service_id).toBe(server.serviceId);
      },
    };
    const id = await asked(server);
    const action = await ended(server, id);
    expect(action).toMatchObject({
      ...{ command: 'move', status: 'success', progress: 100, error: null, initiator: { type: 'staff' } },
    });
    expect(seen).toEqual([
      ...['running', true, 'locked', 'on', true, 'locked', 'locked', 'locked'],
      ['move', expect.stringMatching(/^The new server: /), false, to.name, null],
    ]);
    expect(to.plans[0]).toMatchObject({
      ...{ task: 'install', after: 'off', wipe: to.disks, layout: { kind: 'raid1', serials: to.disks } },
      identity: {
        ...{ hostname: 'metal1.example.com', passwordHash: expect.stringMatching(/^\$6\$/), mac: to.mac },
        addresses: [{ address: server.ip }],
      },
    });
    // Off between the installer and its own disks.
    expect(to.told).toEqual(['installer', 'disk']);
    expect(await overview(server)).toMatchObject({ state: 'running', locked: false, os: { slug: 'tiny' } });
    expect(await serverOf(to.id)).toMatchObject({ state: 'rented', service_id: server.serviceId });
    const ips = (await customer.get(`${server.path}/ips`)).body.data.ips;
    expect(ips).toEqual(before.map((ip: object) => ({ ...ip, mac: to.mac })));
    expect(ips[0].dns_name).toBe('metal.example.org');
    const shown = await customer.post(`${server.path}/credentials`, {});
    expect(shown.body.data.credentials).toMatchObject({ username: 'root', password: expect.any(String) });

    expect(await isFree(server.id)).toMatchObject({ service_id: null, move_service_id: null });
    await settled(world.product);
    expect([server.bmc.power, server.wipes, server.system]).toEqual(['off', 2, null]);
    expect([to.bmc.power, world.greets.has(server.ip)]).toEqual(['on', true]);
    const proof = await customer.get(`${server.path}/erasure`);
    expect(proof.body.data.erasure.disks.map(({ serial }: { serial: string }) => serial)).toEqual(server.disks);
    const [mail] = await sql<{ subject: string }>(
      world.product,
      `select subject from mails where subject like '%is another server now' order by id desc limit 1`,
    );
    expect(mail?.subject).toBe('metal1.example.com is another server now');
    expect((await moveOf(to.id)).last).toMatchObject({ from_server_id: server.id, moved: true });
    // Nothing of how it was let in is kept, and none of it was told to anybody.
    expect(await sql(world.product, 'select 1 from dedicated_moves where password is not null')).toEqual([]);
    expect(await sql(world.product, 'select 1 from server_assignments where plan is not null')).toEqual([]);
    expect(
      await sql(world.product, 'select 1 from server_assignments where server_id = $1 and keys is not null', server.id),
    ).toEqual([]);
  }, 180_000);
});
