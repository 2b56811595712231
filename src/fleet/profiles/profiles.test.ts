import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { newServerProduct, newServers } from '../../../test/rack/stock.ts';
import { sql } from '../../../test/sql.ts';

let bed: ArrivingProduct;
beforeAll(async () => {
  bed = await startArrivingProduct();
});
afterAll(() => bed.product.stop());

const staff = () => bed.product.staff;
const profiles = '/staff/server-profiles';
const disks = [{ kind: 'nvme', gb: 960, count: 2 }];
let made = 0;
async function newProfile(rules: object): Promise<number> {
  made += 1;
  const { status, body } = await staff().post(profiles, { name: `profile ${made}`, ...rules });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.profile.id;
}
const profileOf = async (id: number) => (await staff().get(`${profiles}/${id}`)).body.data.profile;
const serverOf = async (id: number) => (await staff().get(`/staff/servers/${id}`)).body.data.server;

/** One that was measured: of a maker of its own, so that it is nobody else's. */
async function newServer(maker: string, threads = 16, state = 'ready'): Promise<number> {
  made += 1;
  const { body } = await staff().post('/staff/servers', { name: `s${made}`, serial: `S/N ${made}` });
  const { id } = body.data.server;
  const hardware = {
    ...{
      system: { uuid: 'u', vendor: 'V', product: maker, serial: 's' },
      memoryMib: 64_300,
      memoryModules: [],
    },
    ...{ firmware: { version: '1', boot: 'uefi' }, ports: [], bmc: null },
    processor: { model: 'EPYC', sockets: 1, cores: 8, threads },
    disks: [1, 2].map((nth) => ({
      ...{
        serial: `${made}-${nth}`,
        model: 'M',
        firmware: '1',
        bytes: 960_197_124_096,
        kind: 'nvme',
        healthy: true,
      },
    })),
  };
  await sql(
    bed.product,
    'update servers set hardware = $2::jsonb, measured_at = now(), state = $3 where id = $1',
    ...[String(id), JSON.stringify(hardware), state],
  );
  return id;
}

describe('a profile of servers', () => {
  it('is what every server is that fits it, and counts those that are in stock', async () => {
    const [one, other, away] = [
      await newServer('A1'),
      await newServer('A1', 16, 'quarantined'),
      await newServer('A1', 32),
    ];
    const id = await newProfile({ model: 'a1', threads: 16, memory_gib: 64, disks });
    expect(await profileOf(id)).toMatchObject({ servers: 2, ready: 1, threads: 16, disks });
    expect((await serverOf(one)).profile_id).toBe(id);
    expect(await serverOf(away)).toMatchObject({ profile_id: null, profile: null });
    const listed = (await staff().get(`/staff/servers?profile_id=${id}`)).body.data.servers;
    expect(listed.map((server: { id: number }) => server.id).sort()).toEqual([one, other].sort());
  });

  it('is the one with the most rules of those that a server fits, and another one when that is gone', async () => {
    const server = await newServer('B1');
    const wide = await newProfile({ model: 'B1' });
    const narrow = await newProfile({ model: 'B1', threads: 16 });
    expect((await serverOf(server)).profile_id).toBe(narrow);
    await staff().patch(`${profiles}/${narrow}`, { threads: 32 });
    expect((await serverOf(server)).profile_id).toBe(wide);
    await staff().patch(`${profiles}/${narrow}`, { threads: 16 });
    expect((await serverOf(server)).profile_id).toBe(narrow);
    expect((await staff().delete(`${profiles}/${narrow}`)).status).toBe(200);
    expect((await serverOf(server)).profile_id).toBe(wide);
    expect((await staff().delete(`${profiles}/${wide}`)).status).toBe(200);
    expect((await serverOf(server)).profile_id).toBeNull();
  });

  it('is refused in words where it says nothing, or one thing twice, and changes nothing', async () => {
    const bad: [object, string, RegExp][] = [
      [{}, 'threads', /another rule must be given/],
      [{ disks: [...disks, ...disks] }, 'disks', /each kind and size once/],
      [{ threads: 0 }, 'threads', /./],
      [{ disks: [{ kind: 'tape', gb: 1, count: 1 }] }, 'disks[0].kind', /./],
    ];
    const before = (await staff().get(profiles)).body.data;
    for (const [rules, field, message] of bad) {
      const { status, body } = await staff().post(profiles, { name: 'bad', ...rules });
      expect(status).toBe(400);
      expect(body.details).toEqual([{ field, message: expect.stringMatching(message) }]);
    }
    const id = await newProfile({ threads: 3 });
    expect((await staff().patch(`${profiles}/${id}`, { threads: null })).status).toBe(400);
    const same = await staff().post(profiles, { name: `profile ${made}`, threads: 4 });
    expect([same.status, same.body.message]).toEqual([
      409,
      `There is a profile called profile ${made} already`,
    ]);
    await staff().delete(`${profiles}/${id}`);
    expect((await staff().get(profiles)).body.data).toEqual(before);
  });
});

describe('what servers are sold as', () => {
  const stockOf = async (productId: number) =>
    (await bed.product.nobody.get(`/products/${productId}`)).body.data.product.stock;
  const nameOf = async (id: number | undefined) => (await serverOf(id ?? 0)).name as string;

  it('is taken from them by no change of profiles before staff has read which ones and confirmed it by the name of the profile', async () => {
    const productId = await newServerProduct(bed.product, { name: 'Metal' });
    const { profileId, serverIds } = await newServers(bed.product, productId, 2);
    const [one, other] = [await nameOf(serverIds[0]), await nameOf(serverIds[1])];
    await sql(bed.product, `update servers set state = 'quarantined' where id = $1`, serverIds[1]);
    const path = `${profiles}/${profileId}`;
    const { name, model } = await profileOf(profileId);
    const lost = `${one}, ${other} (quarantined) would not be sold as Metal any more, which has 1 in stock now, and 0 then`;
    made += 1;
    const taking = { name: `taking ${made}`, model, memory_gib: 64, disks, threads: 16 };
    const changes: [string, () => ReturnType<ReturnType<typeof staff>['patch']>, string][] = [
      ['a speed', () => staff().patch(path, { port_mbps: 1_000 }), name],
      ['another rule', () => staff().patch(path, { threads: 1_000 }), name],
      ['another product', () => staff().patch(path, { product_id: null }), name],
      ['another name besides', () => staff().patch(path, { product_id: null, name: 'other' }), name],
      ['a profile that says more', () => staff().post(profiles, taking), taking.name],
      ['no profile', () => staff().delete(path), name],
    ];
    const before = await profileOf(profileId);
    for (const [what, change, confirmed] of changes) {
      const { status, body } = await change();
      expect([what, status, body.code]).toEqual([what, 409, 'conflict']);
      expect(body.message).toContain(lost);
      expect(body.message).toMatch(
        new RegExp(`stays theirs. Where you want that, confirm with ${confirmed}$`),
      );
    }
    expect([await profileOf(profileId), await stockOf(productId)]).toEqual([before, 1]);
    const speed = await staff().patch(path, { port_mbps: 1_000 });
    expect(speed.body.message).toContain(
      `Nobody knows how fast the port of ${one}, ${other} is before it is enrolled anew`,
    );
    const wrong = await staff().patch(path, { port_mbps: 1_000, confirm: 'another' });
    expect([wrong.status, wrong.body.details]).toEqual([
      400,
      [{ field: 'confirm', message: `must be the name of the profile, ${name}` }],
    ]);
    // What takes nothing from anybody asks for nothing.
    expect((await staff().patch(path, { note: 'One', confirm: 'whatever' })).status).toBe(200);
    expect((await staff().patch(path, { port_mbps: 1_000, confirm: name })).status).toBe(200);
    expect([(await profileOf(profileId)).servers, await stockOf(productId)]).toEqual([0, 0]);
    const [entry] = await sql<{ data: object }>(
      bed.product,
      `select data from journal where action = 'server_profile.updated' and subject_id = $1 order by id desc limit 1`,
      profileId,
    );
    expect(entry?.data).toEqual({ name, change: { port_mbps: 1_000 } });
  });

  it('is taken from those of another profile, too, that nobody could order any more', async () => {
    const productId = await newServerProduct(bed.product, { name: 'Mixed' });
    const silent = await newServers(bed.product, productId, 1);
    const { profileId, serverIds } = await newServers(bed.product, null, 1, { portMbps: 1_000 });
    const path = `${profiles}/${profileId}`;
    const { status, body } = await staff().patch(path, { product_id: productId });
    expect([status, body.message]).toEqual([
      409,
      expect.stringContaining(`${await nameOf(silent.serverIds[0])} would not be sold as Mixed any more`),
    ]);
    expect(body.message).not.toContain(await nameOf(serverIds[0]));
    const { name } = await profileOf(profileId);
    expect((await staff().patch(path, { product_id: productId, confirm: name })).status).toBe(200);
  });
});

describe('what a profile is sold as', () => {
  it('can be ordered by what the product asks for, whichever of the two is changed', async () => {
    const productId = await newServerProduct(bed.product);
    const servers = [{ kind: 'nvme', gb: 960, count: 2 }];
    const add = (rules: object) => {
      made += 1;
      return staff().post(profiles, { name: `sold ${made}`, model: 'sold', product_id: productId, ...rules });
    };
    const refused: [object, RegExp][] = [
      [{ disks: servers }, /asks for option1, and the profile does not say how many GB of memory/],
      [{ memory_gib: 64 }, /asks for option2, and the profile does not say/],
      [
        { memory_gib: 2_048, disks: servers },
        /nobody can order 2048 GB of memory by option1, which goes from 1 to 1024/,
      ],
    ];
    for (const [rules, message] of refused) {
      const { status, body } = await add(rules);
      expect([status, body.details]).toEqual([
        400,
        [{ field: 'product_id', message: expect.stringMatching(message) }],
      ]);
    }
    const added = await add({ memory_gib: 64, disks: servers });
    expect(added.status, JSON.stringify(added.body)).toBe(200);
    const { id } = added.body.data.profile;
    const changed = await staff().patch(`${profiles}/${id}`, { memory_gib: null });
    expect([changed.status, changed.body.details?.[0]?.field]).toEqual([400, 'product_id']);

    await newServers(bed.product, productId, 1);
    const narrower = await staff().patch(`/staff/products/${productId}`, {
      options: [{ key: 'option1', min: 1, max: 32 }],
    });
    expect([narrower.status, narrower.body.details?.[0]?.message]).toEqual([
      400,
      expect.stringMatching(/nobody can order 64 GB of memory by option1, which goes from 1 to 32/),
    ]);
    const hidden = await staff().patch(`/staff/products/${productId}`, { status: 'hidden' });
    expect(hidden.status, JSON.stringify(hidden.body)).toBe(200);
    expect((await staff().patch(`${profiles}/${id}`, { memory_gib: null })).status).toBe(200);
  });
});

it('what was sold by the speed of a faster port than that of its addresses is so no more after the upgrade', async () => {
  const macs = ['52:54:00:00:0e:01', '52:54:00:00:0e:02'];
  const ports = macs.map((mac, at) => ({
    ...{ name: `eth${at}`, mac, linked: true, speedMbps: at === 0 ? 10_000 : 1_000 },
  }));
  const profileId = await newProfile({ model: 'U1', port_mbps: 10_000 });
  const servers: number[] = [];
  for (const mac of macs) {
    const id = await newServer('U1', 16, 'held');
    servers.push(id);
    await sql(
      bed.product,
      `update servers set hardware = jsonb_set(hardware, '{ports}', $2::jsonb), profile_id = $3, service_id = $1 where id = $1`,
      ...[id, JSON.stringify(ports), profileId],
    );
    await sql(
      bed.product,
      `insert into server_arrivals (state, mac, serial, inventory, server_id, arrived_at, seen_at)
       values ('enrolled', $2, 'x', '{}', $1, now(), now())`,
      ...[id, mac],
    );
  }
  await sql(
    bed.product,
    'alter table servers drop column start_mac, drop column port_mbps, drop column sold_port_mbps',
  );
  await sql(bed.product, 'alter table server_assignments drop column start_mac');
  const file = path.join(import.meta.dirname, '../../../migrations/0214_port_of_addresses.sql');
  await sql(bed.product, readFileSync(file, 'utf8'));
  const found = await sql(
    bed.product,
    `select start_mac::text as mac, port_mbps as mbps, sold_port_mbps as sold, profile_id as profile from servers where id = any($1) order by id`,
    servers,
  );
  expect(found).toEqual([
    { mac: macs[0], mbps: 10_000, sold: 10_000, profile: profileId },
    // An order holds it as what it is not: its installer finds that out, and another one is taken.
    { mac: macs[1], mbps: 1_000, sold: 10_000, profile: null },
  ]);
});
