import { afterAll, beforeAll, expect } from 'vitest';
import { type PlayedServer, playServer } from '../../src/demo/rack/played.ts';
import type { SimulatedSwitch } from '../../src/drivers/switch/index.ts';
import { newCustomer, type Person } from '../people.ts';
import { until } from '../product.ts';
import { settled, sql } from '../sql.ts';
import { type ArrivingProduct, startArrivingProduct } from './arriving.ts';
import { type RentedPlayed, rentPlayed, stockServer } from './stocked.ts';

export type Another = PlayedServer & {
  id: number;
  name: string;
  mac: string;
  disks: string[];
  address: string;
};

/** What the tests of one file do with services that staff moves, on a product of their own. Its BMCs are waited for only briefly. */
export function movingBed() {
  let world: ArrivingProduct;
  let customer: Person;
  beforeAll(async () => {
    world = await startArrivingProduct({}, 2_500);
    customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
  });
  afterAll(() => world.product.stop());
  const moves = movesIn(
    () => world,
    () => customer,
  );

  /** Once the other server of a move was started, and does not greet. */
  const isStarted = ({ serviceId }: RentedPlayed) =>
    until(
      () =>
        sql(
          world.product,
          `select 1 from jobs where name = 'dedicated.move' and state <> 'done' and payload ->> 'serviceId' = $1
             and error_message like 'the server starts what was installed%'`,
          String(serviceId),
        ),
      (rows) => rows.length > 0,
      60_000,
    );

  return {
    ...moves,
    get world() {
      return world;
    },
    get customer() {
      return customer;
    },
    staff: () => world.product.staff,
    /** A server that the customer has. */
    rented: () => rentPlayed(world, customer),
    /** Begins a move whose other server does not greet, and waits until that was started. Gives its action. */
    async startedMute(server: RentedPlayed, to: Another): Promise<number> {
      to.does = { ...to.does, isMute: true };
      const id = await moves.asked(server);
      await isStarted(server);
      return id;
    },
    waitsTooLong: () => world.product.clock.travel(21 * 60_000),
  };
}

/** What tests do with services that staff moves from one played server to another. */
export function movesIn(world: () => ArrivingProduct, customer: () => Person) {
  const staff = () => world().product.staff;
  const serverOf = async (id: number) => (await staff().get(`/staff/servers/${id}`)).body.data.server;
  const moveOf = async (id: number) => (await staff().get(`/staff/servers/${id}/move`)).body.data.move;

  let others = 0;
  /** One more server of the product that somebody has, in stock. */
  async function another(
    { productId }: RentedPlayed,
    change: { location?: string; portMbps?: number } = {},
  ): Promise<Another> {
    others += 1;
    const [{ model = '' } = {}] = await sql<{ model: string }>(
      world().product,
      'select model from server_profiles where product_id = $1',
      productId,
    );
    const name = `M-${others}`;
    const mac = `52:54:00:1f:${String(others).padStart(2, '0')}:01`;
    const address = `198.51.101.${others}`;
    const bmc = world().bmcAt(address);
    bmc.power = 'off';
    const drive = { kind: 'nvme' as const, bytes: 960_197_124_096 };
    const disks = [`${name}-A`, `${name}-B`];
    const id = await stockServer(world().product, model, {
      ...{ name, mac, bmc: { address, user: 'root', password: 'factory-1' } },
      ...change,
      disks: disks.map((serial) => ({ ...drive, serial })),
    });
    const played = playServer(world(), {
      mac,
      disks,
      bmc,
      drives: Object.fromEntries(disks.map((it) => [it, drive])),
    });
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
    (await customer().get(`${path}/history/${id}`)).body.data.action;
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

  /** Plugs both into a switch of their own, with their ports in these VLANs. */
  async function plugged(
    server: RentedPlayed,
    to: Another,
    vlans: [number | null, number | null],
  ): Promise<SimulatedSwitch & { id: number }> {
    const address = `198.51.102.${others}`;
    const port = { label: '', isUp: true, speedMbps: 10_000, counters: { in: 0n, out: 0n } };
    const ports = [
      { ...port, name: 'eth1', macs: [server.mac], vlan: vlans[0] },
      { ...port, name: 'eth2', macs: [to.mac], vlan: vlans[1] },
    ];
    const it = world().switches.put(address, { ports });
    const answer = await staff().post('/staff/switches', {
      ...{ name: `sw-${others}`, location: 'AMS', address },
      credential: {
        user: it.user,
        auth_protocol: 'sha256',
        auth_passphrase: it.authPassphrase,
        privacy_passphrase: it.privacyPassphrase,
      },
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const { id } = answer.body.data.switch;
    await settled(world().product);
    for (const { name, macs } of ports) {
      const plug = await staff().post(`/staff/switches/${id}/plug`, { port: name, mac: macs[0] });
      expect(plug.status, JSON.stringify(plug.body)).toBe(200);
    }
    return Object.assign(it, { id });
  }

  return { serverOf, moveOf, another, ask, asked, readAction, ended, isFree, plugged };
}
