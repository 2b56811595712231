import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { later } from '../../../test/rack/later.ts';
import { rentPlayed, type StockedPlayed, stockPlayed } from '../../../test/rack/stocked.ts';
import { settled, sql } from '../../../test/sql.ts';

const changes = watchChanges();

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
const serverOf = async (id: number) => (await staff().get(`/staff/servers/${id}`)).body.data.server;
const ask = (id: number, body: object) => staff().post(`/staff/servers/${id}/rescue`, body);
const told = (id: number) =>
  sql<{ action: string; data: { on: boolean; problem?: string | null } }>(
    world.product,
    `select action, data from journal where subject_type = 'server' and subject_id = $1 and action like 'server.rescue%' order by id`,
    String(id),
  );
const ended = (id: number, times: number) =>
  until(
    async () => (await told(id)).filter(({ action }) => action === 'server.rescue_ended'),
    (seen) => seen.length === times,
    60_000,
  );

/** One that is kept out of stock. */
async function aside(): Promise<StockedPlayed> {
  const { first } = await stockPlayed(world);
  const set = await staff().post(`/staff/servers/${first.id}/quarantine`, { reason: 'Is looked at' });
  expect(set.status).toBe(200);
  return first;
}

it('a server that is nobody’s starts the rescue system with a password that is shown once, and is off again afterwards', async () => {
  const server = await aside();
  const answer = await ask(server.id, { enabled: true, ssh_key_ids: [], reason: 'Memory test' });
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const { password, server: begun } = answer.body.data;
  expect(password).toMatch(/^\S{20}$/);
  expect(begun).toMatchObject({ in_rescue: true, actions: { rescue_off: { code: 'locked' } } });
  const twice = await ask(server.id, { enabled: true });
  expect([twice.status, twice.body.code]).toEqual([409, 'locked']);
  const power = await staff().post(`/staff/servers/${server.id}/restart`, { force: true });
  expect([power.status, power.body.code]).toEqual([409, 'locked']);

  await ended(server.id, 1);
  await settled(world.product);
  expect(server.plans).toEqual([
    {
      ...{ task: 'rescue', hostname: `server-${server.id}`, keys: [], addresses: [], mac: server.mac },
      nameservers: ['9.9.9.9', '149.112.112.112', '2620:fe::fe'],
      passwordHash: expect.stringMatching(/^\$6\$/),
    },
  ]);
  expect([server.bmc.power, server.wipes]).toEqual(['on', 0]);
  const shown = await serverOf(server.id);
  expect(shown).toMatchObject({
    ...{ state: 'quarantined', in_rescue: true },
    actions: { rescue_off: { allowed: true }, restart: { allowed: true }, retire: { allowed: false } },
  });
  expect(JSON.stringify([shown, await told(server.id)])).not.toContain(password);

  const off = await ask(server.id, { enabled: false });
  expect([off.status, off.body.data?.password]).toEqual([200, null]);
  await ended(server.id, 2);
  await settled(world.product);
  expect(server.bmc.power).toBe('off');
  expect(await serverOf(server.id)).toMatchObject({
    ...{ state: 'quarantined', in_rescue: false },
    actions: { rescue: { allowed: true }, retire: { allowed: true } },
  });
  expect(await world.starts(server.mac)).toContain('sanboot');
  expect((await told(server.id)).map(({ action, data: { on, problem } }) => [action, on, problem])).toEqual([
    ['server.rescue_asked', true, undefined],
    ['server.rescue_ended', true, null],
    ['server.rescue_asked', false, undefined],
    ['server.rescue_ended', false, null],
  ]);
});

it('is not of one in stock, which somebody might buy, nor of one that a customer has, who does it themselves', async () => {
  const { first: ready } = await stockPlayed(world);
  const inStock = await ask(ready.id, { enabled: true });
  expect([inStock.status, inStock.body.code]).toEqual([409, 'conflict']);
  expect(inStock.body.message).toMatch(/put it into quarantine first/);
  const rented = await rentPlayed(world, customer);
  const theirs = await ask(rented.id, { enabled: true });
  expect([theirs.status, theirs.body.code]).toEqual([409, 'conflict']);
  expect(theirs.body.message).toMatch(/is rented: its customer takes it into the rescue system/);
  expect(rented.bmc.power).toBe('on');
});

it('one that does not start it is off again, and staff reads why', async () => {
  const server = await aside();
  server.does.startsNothing = true;
  expect((await ask(server.id, { enabled: true })).status).toBe(200);
  // It is begun once more for what may pass.
  for (const times of [1, 2]) {
    await until(
      async () => server.bmc.starts.length,
      (starts) => starts >= times,
      30_000,
    );
    await until(
      () =>
        sql<{ n: number }>(
          world.product,
          `select count(*)::int as n from server_assignments where server_id = $1 and powered_at is not null and tries = $2`,
          ...[server.id, times],
        ),
      ([row]) => row?.n === 1,
      30_000,
    );
    await later(world.product, 21);
  }
  const [end] = await ended(server.id, 1);
  expect(end?.data).toMatchObject({
    on: true,
    problem: expect.stringMatching(/did not start our installer/),
  });
  await settled(world.product);
  expect([server.bmc.power, (await serverOf(server.id)).in_rescue]).toEqual(['off', false]);
});

describe('a change', () => changes.leaveEntries(() => world.product, ['rescueServer']));
