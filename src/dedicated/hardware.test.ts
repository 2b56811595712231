import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../test/people.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../test/rack/arriving.ts';
import { type RentedPlayed, rentPlayed } from '../../test/rack/stocked.ts';
import { settled, sql } from '../../test/sql.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const hardware = async ({ path }: RentedPlayed) => (await customer.get(`${path}/hardware`)).body.data;
const staffs = async ({ id }: RentedPlayed) =>
  (await world.product.staff.get(`/staff/servers/${id}`)).body.data.server;

/** A server that somebody has and of which was measured exactly what its installer said. */
async function measured(): Promise<RentedPlayed> {
  const server = await rentPlayed(world, customer);
  await sql(world.product, 'update servers set hardware = seen_hardware where id = $1', server.id);
  return server;
}

/** It starts the rescue system, which says what the server has. */
async function inRescue({ path }: RentedPlayed): Promise<void> {
  const asked = await customer.post(`${path}/rescue`, { enabled: true });
  expect(asked.status, JSON.stringify(asked.body)).toBe(200);
  await settled(world.product);
  expect((await customer.get(`${path}/overview`)).body.data.dedicated.state).toBe('rescue');
}

it('a server that is as it was measured differs in nothing, and says when it was looked at', async () => {
  const server = await measured();
  expect(await hardware(server)).toMatchObject({ differences: [], seen_at: expect.any(String) });
  expect((await staffs(server)).hardware_differences).toEqual([]);
});

it('a disk that went, one that came and a port more are told by the next start, to the customer and to staff', async () => {
  const server = await measured();
  const [first = '', gone = ''] = server.disks;
  const before = await hardware(server);
  world.product.clock.travel(60_000);
  server.does.hasDisks = [first, 'CAME-1'];
  server.does.says = { macs: [server.mac, '52:54:00:97:00:01'] };
  await inRescue(server);
  const { differences, seen_at: seenAt, ...rest } = await hardware(server);
  const nothing = { mib: null, type: null, sockets: null, cores: null, threads: null };
  const drive = expect.objectContaining({ kind: 'nvme', ...nothing });
  expect(differences).toEqual([
    {
      ...{ part: 'disk', name: gone, was: expect.stringContaining('960 GB'), is: null, seen_at: seenAt },
      ...{
        before: {
          ...nothing,
          model: 'SAMSUNG MZQL2960HCJR',
          kind: 'nvme',
          bytes: 960_197_124_096,
          healthy: true,
        },
      },
      after: null,
    },
    {
      ...{ part: 'disk', name: 'CAME-1', was: null, is: expect.stringContaining('nvme'), seen_at: seenAt },
      ...{ before: null, after: drive },
    },
    {
      ...{ part: 'port', name: '52:54:00:97:00:01', was: null, is: '52:54:00:97:00:01', seen_at: seenAt },
      ...{ before: null, after: { ...nothing, model: null, kind: null, bytes: null, healthy: null } },
    },
  ]);
  expect(Date.parse(seenAt)).toBeGreaterThan(Date.parse(before.seen_at));
  // What was measured stays what it was.
  expect(rest).toMatchObject({ hardware: before.hardware, measured_at: before.measured_at });
  const shown = await staffs(server);
  expect([shown.hardware_differences, shown.seen_at]).toEqual([differences, seenAt]);
});

it('a disk that staff wrote down as changed is told at once', async () => {
  const server = await measured();
  const [, gone = ''] = server.disks;
  world.product.clock.travel(60_000);
  const written = await world.product.staff.post(`/staff/servers/${server.id}/disks`, {
    ...{ removed: gone, installed: 'NEW-97', model: 'PM9A3' },
  });
  expect(written.status).toBe(200);
  expect((await hardware(server)).differences).toMatchObject([
    { part: 'disk', name: gone, is: null },
    { part: 'disk', name: 'NEW-97', was: null, is: 'PM9A3', after: { model: 'PM9A3', bytes: null } },
  ]);
});

it('whoever is not proved to be the server says nothing of what it has', async () => {
  const server = await measured();
  const before = await hardware(server);
  server.does.prints = 'nothing of ours';
  server.does.hasDisks = ['STRANGE-1'];
  const asked = await customer.post(`${server.path}/rescue`, { enabled: true });
  expect(asked.status).toBe(200);
  await expect
    .poll(
      async () =>
        (
          await sql(
            world.product,
            `select t.id from server_starts t join server_assignments g on g.id = t.assignment_id
             where g.server_id = $1 and t.inventory is not null and not t.proved`,
            server.id,
          )
        ).length,
      { timeout: 20_000 },
    )
    .toBe(1);
  expect(await hardware(server)).toEqual(before);
});
