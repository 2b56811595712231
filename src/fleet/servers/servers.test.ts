import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents, sql } from '../../../test/sql.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const secret = 'Kx7vR2mNq9Tz4WbY';
let made = 0;
const wantedServer = (more: object = {}) => {
  made += 1;
  return { name: `s${made}`, serial: `S/N ${made}`, ...more };
};
async function newServer(more: object = {}) {
  const { status, body } = await product.staff.post('/staff/servers', wantedServer(more));
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.server;
}
const bmcAt = (address: string) => ({ kind: 'ipmi', address, user: 'innkeeper', password: secret });
const read = async (id: number) => (await product.staff.get(`/staff/servers/${id}`)).body.data.server;
const post = (id: number, what: string, body?: object) =>
  product.staff.post(`/staff/servers/${id}/${what}`, body);

describe('a server', () => {
  it('that is added by hand waits, and shows all that was said of it but the password of its BMC', async () => {
    const added = await newServer({
      macs: ['52-54-00-AB-00-01', '52:54:00:ab:00:02'],
      bmc: bmcAt('192.0.2.7'),
      note: 'first',
    });
    expect(added).toMatchObject({
      ...{ state: 'waiting', reason: null, macs: ['52:54:00:ab:00:01', '52:54:00:ab:00:02'], note: 'first' },
      bmc: { kind: 'ipmi', address: '192.0.2.7', port: null, user: 'innkeeper', certificate: null },
    });
    const answers = [
      await product.staff.get('/staff/servers'),
      await product.staff.get('/staff/audit'),
      await product.staff.patch(`/staff/servers/${added.id}`, { bmc: { ...bmcAt('192.0.2.8'), port: 1623 } }),
    ];
    expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain(secret);
    expect(JSON.stringify(await contents(product))).not.toContain(secret);
    expect(await read(added.id)).toMatchObject({ bmc: { address: '192.0.2.8', port: 1623 } });
  });

  it.each<[string, object, string, string]>([
    ['a BMC at a name', { bmc: bmcAt('bmc.example.com') }, 'bmc.address', 'must be an IP address'],
    [
      'a BMC at everybody',
      { bmc: bmcAt('255.255.255.255') },
      'bmc.address',
      'is no address of a single host in your network',
    ],
    [
      'a password that IPMI would cut',
      { bmc: { ...bmcAt('192.0.2.9'), password: 'x'.repeat(21) } },
      'bmc.password',
      'must be 1 to 20 printable characters without spaces',
    ],
    [
      'a BMC that lacks its password',
      { bmc: { kind: 'redfish', address: '192.0.2.9', user: 'a' } },
      'bmc.password',
      'is missing',
    ],
    [
      'Redfish that anybody may answer for',
      { bmc: { ...bmcAt('192.0.2.9'), kind: 'redfish' } },
      'bmc.certificate',
      'must be given for Redfish',
    ],
    [
      'a certificate that IPMI never presents',
      { bmc: { ...bmcAt('192.0.2.9'), certificate: '5f'.repeat(32) } },
      'bmc.certificate',
      'has no meaning for ipmi',
    ],
    ['a MAC of many', { macs: ['01:00:5e:00:00:01'] }, 'macs[0]', 'is no address of a single port'],
    ['a MAC twice', { macs: ['52:54:00:00:00:0a', '52-54-00-00-00-0A'] }, 'macs[1]', 'is there twice'],
    ['nonsense for a MAC', { macs: ['52:54'] }, 'macs[0]', 'must be a MAC such as 52:54:00:12:34:56'],
    ['two lines for a serial', { serial: 'a\nb' }, 'serial', 'must be one line of text, and not blank'],
    [
      'a field that is none',
      { owner: 'me' },
      'owner',
      'is not a field of this request; there are name, serial, rack_id, unit, height, macs, bmc, note',
    ],
  ])('is refused with %s, and changes nothing', async (_what, more, field, message) => {
    const before = await contents(product);
    const { status, body } = await product.staff.post('/staff/servers', wantedServer(more));
    expect([status, body.details]).toEqual([400, [{ field, message }]]);
    expect(await contents(product)).toEqual(before);
  });

  it('is there once by its name, its serial, its ports and its BMC', async () => {
    const { name, serial } = await newServer({ macs: ['52:54:00:ab:01:01'], bmc: bmcAt('192.0.2.20') });
    const refused = async (more: object) => {
      const { status, body } = await product.staff.post('/staff/servers', wantedServer(more));
      expect([status, body.code]).toEqual([409, 'conflict']);
      return body.message;
    };
    expect(await refused({ name })).toBe(`There is a server called ${name} already`);
    expect(await refused({ serial })).toBe(`There is a server with the serial ${serial} already`);
    expect(await refused({ macs: ['52:54:00:AB:01:01'] })).toBe(
      `52:54:00:ab:01:01 is a port of ${name} already`,
    );
    expect(await refused({ bmc: bmcAt('192.0.2.20') })).toBe(
      'The BMC at this address is that of another server',
    );
  });

  it('is found by the beginning of its name or its serial, and listed by state and rack', async () => {
    const { id } = await newServer({ name: 'findable-1', serial: 'XYZ-77' });
    const { rack } = (await product.staff.post('/staff/racks', { name: 'F1', location: 'FRA', units: 4 }))
      .body.data;
    await product.staff.patch(`/staff/servers/${id}`, { rack_id: rack.id, unit: 2 });
    for (const query of [
      'search=FINDABLE',
      'search=xyz-7',
      `rack_id=${rack.id}`,
      `rack_id=${rack.id}&state=waiting`,
    ]) {
      const { body } = await product.staff.get(`/staff/servers?${query}`);
      expect(
        body.data.servers.map((each: { id: number }) => each.id),
        query,
      ).toEqual([id]);
    }
    const none = await product.staff.get(`/staff/servers?rack_id=${rack.id}&state=retired`);
    expect(none.body.data.servers).toEqual([]);
  });
});

describe('a server that is kept out of stock', () => {
  it('says why, until it is released and waits again', async () => {
    const { id, name } = await newServer();
    const refused = await post(id, 'release');
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `${name} is waiting: nothing keeps it from being used`,
    ]);
    const { body } = await post(id, 'quarantine', { reason: 'Restarts by itself' });
    expect(body.data.server).toMatchObject({
      ...{ state: 'quarantined', reason: 'Restarts by itself' },
      actions: { release: { allowed: true }, quarantine: { allowed: false, code: 'conflict' } },
    });
    expect((await post(id, 'quarantine', { reason: 'again' })).status).toBe(409);
    expect((await post(id, 'release')).body.data.server).toMatchObject({ state: 'waiting', reason: null });
  });

  it.each(['held', 'rented', 'returning'])('is no business of staff alone while it is %s', async (state) => {
    const { id } = await newServer();
    await sql(product, 'update servers set state = $1 where id = $2', state, id);
    for (const [what, body] of [['quarantine', { reason: 'mine' }], ['retire'], ['release']] as const)
      expect((await post(id, what, body)).status, what).toBe(409);
    expect(await read(id)).toMatchObject({ state });
  });

  it('leaves its rack when it is retired, is no longer reached, and may come back', async () => {
    const { rack } = (await product.staff.post('/staff/racks', { name: 'T1', location: 'FRA', units: 4 }))
      .body.data;
    const { id, name } = await newServer({ rack_id: rack.id, unit: 1, bmc: bmcAt('192.0.2.30') });
    const { body } = await post(id, 'retire', { reason: 'Sold' });
    expect(body.data.server).toMatchObject({
      state: 'retired',
      reason: 'Sold',
      rack_id: null,
      unit: null,
      bmc: null,
    });
    const placed = await product.staff.patch(`/staff/servers/${id}`, { rack_id: rack.id, unit: 1 });
    expect([placed.status, placed.body.message]).toEqual([409, `${name} is retired: release it first`]);
    await newServer({ rack_id: rack.id, unit: 1, bmc: bmcAt('192.0.2.30') });
    expect((await post(id, 'release')).body.data.server).toMatchObject({ state: 'waiting' });
  });
});

describe('a disk', () => {
  it('that was changed stays on the record by its serial', async () => {
    const { id, name } = await newServer();
    await post(id, 'disks', { installed: 'D-1', model: 'MZQL2960' });
    const { body } = await post(id, 'disks', { removed: 'D-1', installed: 'D-2' });
    expect(body.data.server.disks).toMatchObject([
      { serial: 'D-1', model: 'MZQL2960', removed_at: expect.any(String) },
      { serial: 'D-2', model: null, removed_at: null },
    ]);
    const gone = await post(id, 'disks', { removed: 'D-1' });
    expect(gone.body.details).toEqual([{ field: 'removed', message: `is the serial of no disk in ${name}` }]);
    const other = await newServer();
    const elsewhere = await post(other.id, 'disks', { installed: 'D-2' });
    expect([elsewhere.status, elsewhere.body.message]).toEqual([409, 'The disk D-2 is in a server already']);
    expect((await post(other.id, 'disks', { installed: 'D-1' })).status).toBe(200);
  });

  it('is named, or nothing is recorded: also not that the old one went when the new one cannot come', async () => {
    const { id } = await newServer();
    await post(id, 'disks', { installed: 'E-1' });
    await post((await newServer()).id, 'disks', { installed: 'E-2' });
    expect((await post(id, 'disks', {})).status).toBe(400);
    expect((await post(id, 'disks', { removed: 'E-1', model: 'x' })).status).toBe(400);
    expect((await post(id, 'disks', { removed: 'E-1', installed: 'E-2' })).status).toBe(409);
    expect((await read(id)).disks).toMatchObject([{ serial: 'E-1', removed_at: null }]);
  });
});
