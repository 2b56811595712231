import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { watchChanges } from '../../test/noted.ts';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';
import { contents, settledContents, sql } from '../../test/sql.ts';
import { transaction } from '../platform/index.ts';
import {
  freeRestedAddresses,
  holdMoreAddresses,
  listAddresses,
  releaseAddresses,
  reserveAddresses,
  returnHeldAddresses,
  useHeldAddresses,
} from './addresses.ts';

const changes = watchChanges();

let product: TestProduct;
let third = 0;
/** A location and an IPv4 network of each test's own. */
let location: string;
let network: string;

beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());
beforeEach(() => {
  third += 1;
  location = `L${third}`;
  network = `192.168.${third}.0/29`;
});

const add = (change: object = {}) =>
  product.staff.post('/staff/address-pools', { name: `pool ${location}`, location, network, ...change });
const pool = async (change: object = {}) => (await add(change)).body.data.address_pool;
const host = (last: number) => `192.168.${third}.${last}`;
const url = (id: number) => `/staff/address-pools/${id}`;
const take = (serviceId: number, count4: number, count6 = 0) =>
  transaction(product.ctx, 'test.take', (tx) =>
    reserveAddresses(tx, 1, [{ id: serviceId, location, ipv4Count: count4, ipv6Count: count6 }]),
  );
const ofService = async (serviceId: number) =>
  (await listAddresses(product.ctx, serviceId)).map((each) => each.address);
const stateOf = async (address: string) =>
  (await sql<{ state: string }>(product, `select state from addresses where host(address) = $1`, address))[0]
    ?.state;

describe('an address pool', () => {
  it('gives out every host but the gateway, the network and the broadcast address, each once', async () => {
    const made = await pool();
    expect(made).toMatchObject({
      family: 4,
      gateway: host(1),
      rest_hours: 24,
      addresses: { free: 5, taken: 0 },
    });
    await Promise.all([1, 2, 3, 4, 5].map((id) => take(id, 1)));
    const taken = await sql<{ a: string }>(
      product,
      'select host(address) a from addresses where pool_id = $1 order by address',
      made.id,
    );
    expect(taken.map((row) => row.a)).toEqual([2, 3, 4, 5, 6].map(host));
    await expect(take(6, 1)).rejects.toMatchObject({ code: 'insufficient_stock' });
    const [address] = await listAddresses(product.ctx, 1);
    expect(address).toMatchObject({ prefix: 29, gateway: host(1), family: 4 });
  });

  it('has the gateway that staff names, and never gives it out', async () => {
    const made = await pool({ gateway: host(6) });
    await take(1_000 + third, 5);
    expect(await ofService(1_000 + third)).toHaveLength(5);
    expect(made.gateway).toBe(host(6));
    expect(await stateOf(host(6))).toBeUndefined();
    expect(await stateOf(host(1))).toBe('taken');
  });

  it('of IPv6 draws hosts of its network', async () => {
    await pool({ network: `2001:db8:${third}::/64` });
    await take(1_000 + third, 0, 2);
    const given = await ofService(1_000 + third);
    expect(new Set(given).size).toBe(2);
    for (const address of given) expect(address.startsWith(`2001:db8:${third}:`)).toBe(true);
  });

  it('goes on with the next IPv6 pool when one is used up', async () => {
    await pool({ name: `small ${location}`, network: `2001:db8:${third}::/120` });
    const next = await pool({ name: `large ${location}`, network: `2001:db8:${third}:1::/64` });
    await sql(
      product,
      `insert into addresses (address, pool_id, state) select ('2001:db8:${third}::'::inet + n), id, 'reserved'
       from address_pools, generate_series(1, 255) n where name = $1 on conflict do nothing`,
      `small ${location}`,
    );
    await take(1_000 + third, 0, 1);
    expect((await ofService(1_000 + third))[0]).toMatch(`2001:db8:${third}:1:`);
    expect((await product.staff.get(url(next.id))).body.data.address_pool.addresses.taken).toBe(1);
  });

  it('refuses what overlaps another pool or has its name, also at the same moment', async () => {
    const answers = await Promise.all([
      add(),
      add({ name: 'another' }),
      add({ name: 'third', network: `192.168.${third}.0/24` }),
    ]);
    expect(answers.map((each) => each.status).sort()).toEqual([200, 409, 409]);
    const again = await add({ network: '172.16.0.0/24' });
    expect(again.status === 200 || again.body.code === 'conflict').toBe(true);
    const seed = await add({ name: 'over the first', network: '10.77.0.128/25' });
    expect(seed.body).toMatchObject({ code: 'conflict', message: expect.stringContaining('AMS IPv4') });
  });

  it('refuses networks that cannot be one, and changes nothing', async () => {
    const before = await settledContents(product);
    const networks = [
      ...[
        '',
        'x',
        '10.9.0.0',
        '10.9.0.0/',
        '10.9.0.0/33',
        '10.9.0.0/31',
        '10.0.0.0/8',
        '10.9.0.1/24',
        '010.9.0.0/24',
      ],
      ...[
        '10.9/24',
        '0x0a090000/24',
        '127.0.0.0/24',
        '169.254.0.0/16',
        '224.0.0.0/24',
        '240.0.0.0/24',
        '0.0.0.0/24',
      ],
      ...[
        'fe80::/64',
        'ff00::/64',
        '::/64',
        '::1/120',
        'fd00::/121',
        'fd00::/16',
        'fd00::1/64',
        'fd00::%eth0/64',
      ],
      ...["10.9.0.0/24'; drop table nodes; --", '10.9.0.0/24\n', '::ffff:10.9.0.0/120', '10.9.0.0/024'],
    ];
    for (const bad of networks) {
      const answer = await add({ network: bad });
      expect([answer.status, answer.body.details?.[0]?.field], JSON.stringify(bad)).toEqual([400, 'network']);
    }
    const rest = [
      { gateway: host(0) },
      { gateway: host(7) },
      { gateway: host(8) },
      { gateway: 'x' },
      { gateway: 'fd00::1' },
    ];
    for (const bad of [
      ...rest,
      { rest_hours: -1 },
      { rest_hours: 9_000 },
      { name: '' },
      { location: 'a b' },
      { more: 1 },
    ])
      expect((await add(bad)).status, JSON.stringify(bad)).toBe(400);
    expect(await contents(product)).toEqual(before);
  });

  it('changes its name and how long addresses rest', async () => {
    const made = await pool();
    const answer = await product.staff.patch(url(made.id), { name: `new ${location}`, rest_hours: 1 });
    expect(answer.body.data.address_pool).toMatchObject({ name: `new ${location}`, rest_hours: 1 });
    const taken = await product.staff.patch(url(made.id), { name: 'AMS IPv4' });
    expect(taken.body.code).toBe('conflict');
  });

  it('goes only when nobody has, had lately, or keeps an address of it', async () => {
    const made = await pool({ rest_hours: 2 });
    const service = 1_000 + third;
    const remove = () => product.staff.delete(url(made.id));
    await take(service, 1);
    expect((await remove()).body.code).toBe('conflict');
    await releaseAddresses(product.ctx, service);
    expect((await remove()).body.message).toContain('1 rest');
    product.clock.travel(2 * 3_600_000 + 1);
    await product.periodic('fleet.freeRestedAddresses');
    await product.staff.patch(`${url(made.id)}/addresses`, { address: host(2), reserved: true });
    expect((await remove()).body.code).toBe('conflict');
    await product.staff.patch(`${url(made.id)}/addresses`, { address: host(2), reserved: false });
    expect((await remove()).status).toBe(200);
    expect((await product.staff.get(url(made.id))).status).toBe(404);
    expect(await sql(product, 'select 1 from addresses where pool_id = $1', made.id)).toEqual([]);
  });

  it('is removed or used, never both, when both are asked for at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const made = await pool({ name: `race ${location} ${round}` });
      const service = third * 1_000 + round;
      const [removed] = await Promise.all([
        product.staff.delete(url(made.id)),
        take(service, 1).catch(() => undefined),
      ]);
      const has = (await ofService(service)).length;
      expect(has === 0 ? 200 : 409).toBe(removed.status);
      await releaseAddresses(product.ctx, service);
      product.clock.travel(25 * 3_600_000);
      await freeRestedAddresses(product.ctx);
      await product.staff.delete(url(made.id));
    }
  });

  it('tells the journal', async () => {
    const made = await pool();
    await product.staff.patch(url(made.id), { rest_hours: 3 });
    await product.staff.patch(`${url(made.id)}/addresses`, { address: host(3), reserved: true, note: 'VIP' });
    await product.staff.patch(`${url(made.id)}/addresses`, { address: host(3), reserved: false });
    await product.staff.delete(url(made.id));
    const rows = await sql<{ action: string }>(
      product,
      `select action from journal where subject_id = $1 and subject_type = 'address_pool' order by id`,
      made.id,
    );
    expect(rows.map((row) => row.action)).toEqual([
      'address_pool.created',
      'address_pool.updated',
      'address.reserved',
      'address.unreserved',
      'address_pool.deleted',
    ]);
  });
});

describe('a freed address', () => {
  it('rests as long as its pool says, nameless, before anybody gets it again', async () => {
    const made = await pool({ rest_hours: 48, network: `192.168.${third}.0/30` });
    const [first, second] = [1_000 + third, 2_000 + third];
    await take(first, 1);
    await sql(product, `update addresses set dns_name = 'old.example.com' where service_id = $1`, first);
    await releaseAddresses(product.ctx, first);
    const resting = (await product.staff.get(`${url(made.id)}/addresses?state=resting`)).body.data.addresses;
    expect(resting).toMatchObject([
      { address: host(2), service_id: null, organization_id: null, dns_name: null },
    ]);
    const hours = (Date.parse(resting[0].rests_until) - product.clock.now().getTime()) / 3_600_000;
    expect(Math.round(hours)).toBe(48);

    product.clock.travel(47 * 3_600_000);
    await product.periodic('fleet.freeRestedAddresses');
    await expect(take(second, 1)).rejects.toMatchObject({ code: 'insufficient_stock' });
    product.clock.travel(3_600_000);
    await product.periodic('fleet.freeRestedAddresses');
    await take(second, 1);
    expect(await ofService(second)).toEqual([host(2)]);
  });

  it('rests no longer than that although the clock was ahead when it was freed', async () => {
    const made = await pool({ rest_hours: 2 });
    const service = 3_000 + third;
    await take(service, 1);
    product.clock.travel(400 * 24 * 3_600_000);
    await releaseAddresses(product.ctx, service);
    product.clock.travel(-400 * 24 * 3_600_000);
    await product.periodic('fleet.freeRestedAddresses');
    product.clock.travel(2 * 3_600_000 + 1);
    await product.periodic('fleet.freeRestedAddresses');
    const { addresses } = (await product.staff.get(`${url(made.id)}/addresses?state=resting`)).body.data;
    expect(addresses).toEqual([]);
  });

  it('has the name server told, in the same transaction', async () => {
    await pool();
    const service = 1_000 + third;
    await take(service, 1);
    const [address] = await ofService(service);
    await releaseAddresses(product.ctx, service);
    await until(
      () =>
        sql(
          product,
          `select 1 from jobs where name = 'dns.reverse' and payload->>'address' = $1 and state = 'done'`,
          address,
        ),
      (rows) => rows.length === 1,
    );
  });
});

describe('an address held for a change', () => {
  it('is on no machine until it is used, and free at once when it is given back', async () => {
    await pool();
    const service = { id: 1_000 + third, location, ipv4Count: 2, ipv6Count: 0 };
    await take(service.id, 1);
    const [primary] = await ofService(service.id);
    const hold = () => transaction(product.ctx, 'test.hold', (tx) => holdMoreAddresses(tx, 1, service));
    await hold();
    expect(await ofService(service.id)).toEqual([primary]);
    await returnHeldAddresses(product.ctx, service.id);
    expect(
      await sql(
        product,
        `select 1 from addresses where state = 'resting' and host(address) like $1`,
        `192.168.${third}.%`,
      ),
    ).toEqual([]);
    await hold();
    await transaction(product.ctx, 'test.use', (tx) => useHeldAddresses(tx, service.id));
    const all = await ofService(service.id);
    expect(all).toHaveLength(3);
    expect(all[0]).toBe(primary);
    await releaseAddresses(product.ctx, service.id, { count4: 2, count6: 0 });
    expect(await ofService(service.id)).toEqual(all.slice(0, 2));
  });
});

describe('a reserved address', () => {
  it('is given to nobody until it is given back', async () => {
    const made = await pool({ network: `192.168.${third}.0/30` });
    const patch = (body: object) => product.staff.patch(`${url(made.id)}/addresses`, body);
    const reserved = await patch({ address: host(2), reserved: true, note: 'VIP' });
    expect(reserved.body.data.address).toMatchObject({ address: host(2), state: 'reserved', note: 'VIP' });
    await expect(take(1_000 + third, 1)).rejects.toMatchObject({ code: 'insufficient_stock' });
    await patch({ address: host(2), reserved: false });
    await take(1_000 + third, 1);
    const inUse = await patch({ address: host(2), reserved: true });
    expect(inUse.body).toMatchObject({ code: 'conflict', message: expect.stringContaining('taken') });
    expect((await patch({ address: host(2), reserved: false })).status).toBe(409);
    expect((await patch({ address: host(1), reserved: true })).status).toBe(409);
    for (const address of ['x', '10.77.0.9', host(3), 'fd00::1'])
      expect((await patch({ address, reserved: true })).status, address).toBe(400);
  });

  it('can be one of an IPv6 network, which is not listed', async () => {
    const made = await pool({ network: `2001:db8:${third}::/64` });
    const address = `2001:db8:${third}::53`;
    const answer = await product.staff.patch(`${url(made.id)}/addresses`, { address, reserved: true });
    expect(answer.body.data.address).toMatchObject({ address, state: 'reserved' });
    const unknown = { address: `2001:db8:${third}::54`, reserved: false };
    expect((await product.staff.patch(`${url(made.id)}/addresses`, unknown)).status).toBe(404);
  });
});

describe('the list of addresses', () => {
  it('goes by cursor in the order of addresses', async () => {
    const made = await pool({ network: `192.168.${third}.0/28` });
    const seen: string[] = [];
    let cursor = '';
    do {
      const { data } = (await product.staff.get(`${url(made.id)}/addresses?limit=5${cursor}`)).body;
      seen.push(...data.addresses.map((each: { address: string }) => each.address));
      cursor = data.next_cursor === null ? '' : `&cursor=${data.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(Array.from({ length: 13 }, (_, index) => host(index + 2)));
    for (const text of ["x'", 'fe80::1%eth0', '192.168.1', '1']) {
      const forged = Buffer.from(JSON.stringify([text])).toString('base64url');
      const answer = await product.staff.get(`${url(made.id)}/addresses?cursor=${forged}`);
      expect(answer.body.code, text).toBe('invalid_cursor');
    }
    expect((await product.staff.get('/staff/address-pools/4242/addresses')).status).toBe(404);
  });
});

describe('a change', () => changes.leaveEntries(() => product, ['removeAddressPool']));
