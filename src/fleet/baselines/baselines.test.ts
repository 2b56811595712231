import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { newDedicated, orderDedicated } from '../../../test/rack/stocked.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type PlayedServer, playServer } from '../../demo/rack/played.ts';

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
const profileOf = async (id: number) => (await staff().get(`/staff/server-profiles/${id}`)).body.data.profile;
const concerns = async () =>
  (await staff().get('/staff/attention')).body.data.concerns.filter(
    ({ kind }: { kind: string }) => kind === 'server.differs',
  );
const accept = (id: number, body: object = {}) =>
  staff().post(`/staff/servers/${id}/differences/accept`, body);
const take = (profileId: number, id: number) =>
  staff().post(`/staff/server-profiles/${profileId}/baseline`, { server_id: id });

/** An entry of UEFI as the kernel shows it, with one node in its path. */
function entry(number: string, node: string): string {
  const length = (node.length / 2 + 4).toString(16).padStart(2, '0');
  return `Boot${number} ${['07000000', '01000000', `${length}00`, '5500', '0000', node, '7fff0400'].join('')}`;
}
/** With a MAC in its path, and with an NVMe disk; which of them is the first is a start's own. */
const network = entry('0001', `030b2500${'00'.repeat(33)}`);
const disk = entry('0002', `03171000${'00'.repeat(12)}`);
const efi = (first: 'network' | 'disk') =>
  [`BootOrder 07000000${first === 'network' ? '01000200' : '02000100'}`, network, disk].join('\n');

type Enrolled = PlayedServer & { id: number; profileId: number; productId: number };

let made = 0;
/** A machine that started from the network, was accepted, and is what its profile says, which no other server is. */
async function enrolled(accepted: object = {}): Promise<Enrolled> {
  made += 1;
  const model = `L-${made}`;
  const productId = await newDedicated(world.product, model);
  const rack = await staff().post('/staff/racks', { name: `rack ${model}`, location: 'AMS', units: 10 });
  const profile = (await staff().get('/staff/server-profiles')).body.data.profiles.find(
    ({ name }: { name: string }) => name === model,
  );
  const disks = [`${model}-A`];
  // All played machines are of one make: each is known by the size of its disk.
  const bytes = made * 100_000_000_000;
  const gb = made * 100;
  const rules = { model: null, threads: 16, disks: [{ kind: 'nvme', gb, count: 1 }], ...accepted };
  const { status, body } = await staff().patch(`/staff/server-profiles/${profile.id}`, rules);
  expect(status, JSON.stringify(body)).toBe(200);
  const mac = `52:54:00:1b:${String(made).padStart(2, '0')}:01`;
  const bmcAddress = `198.51.100.${made}`;
  const bmc = world.bmcAt(bmcAddress);
  bmc.power = 'off';
  const drives = { [disks[0] ?? '']: { kind: 'nvme' as const, bytes } };
  const played = playServer(world, { mac, disks, drives, bmc, bmcAddress, serial: `S-${model}` });
  played.does.says = { efi: efi('network') };
  expect((await staff().post('/staff/enrolment/open', { hours: 8 })).status).toBe(200);
  const id = await enrol(played, `S-${model}`, { name: model, rack_id: rack.body.data.rack.id, unit: 1 });
  return Object.assign(played, { id, profileId: profile.id, productId });
}

/** Has it start from the network, and accepts it. */
async function enrol(played: PlayedServer, serial: string, body: object): Promise<number> {
  played.bmc.power = 'on';
  played.reboot();
  const arrival = await until(
    async () =>
      (await staff().get('/staff/enrolment/arrivals?state=waiting')).body.data.arrivals.find(
        (each: { serial: string; is_there: boolean }) => each.serial === serial && each.is_there,
      ),
    (found) => found !== undefined,
    60_000,
  );
  const answer = await staff().post(`/staff/enrolment/arrivals/${arrival.id}/accept`, body);
  expect(answer.status, answer.body.message).toBe(200);
  const after = await until(
    async () => (await staff().get(`/staff/enrolment/arrivals/${arrival.id}`)).body.data.arrival,
    ({ state }) => state !== 'accepted',
    60_000,
  );
  expect(after).toMatchObject({ state: 'enrolled', problem: null });
  return after.server_id;
}

/** A customer orders it, does something with it, and gives it back. */
async function wentAndCame(server: Enrolled, whatTheyDo: () => void) {
  const { serviceId } = await orderDedicated(customer, server.productId);
  const service = await until(
    async () => (await customer.get(`/dashboard/services/${serviceId}`)).body.data.service,
    ({ provisioning_state: state }) => state === 'done' || state === 'failed',
    60_000,
  );
  expect(service.status).toBe('active');
  whatTheyDo();
  const ended = await customer.post(`/dashboard/services/${serviceId}/cancel`, { type: 'immediate' });
  expect(ended.status, ended.body.message).toBe(200);
  const after = await until(
    () => serverOf(server.id),
    ({ state }) => /ready|broken|quarantined/.test(state),
    60_000,
  );
  return { serviceId, after };
}

/** What a customer who is root can do with what starts the server and with its BMC. */
function tamper({ does, bmc }: PlayedServer): void {
  does.says = { efi: efi('disk'), firmware: '0.9' };
  bmc.accounts.push({
    ...{ id: '9', name: 'theirs', password: 'their-pass-1', access: 'administrator', isEnabled: true },
  });
  bmc.cipherSuites = [1, 3, 17];
  bmc.services = ['HTTPS', 'IPMI', 'Telnet'];
}

const found = [
  'its firmware is 0.9, and the baseline says 1.2',
  'its boot order is disk, network, and the baseline says network, disk',
  'the user theirs could sign in at its BMC as administrator, and is not in the baseline',
  'its BMC opens the cipher suites 1, 3, 17, and the baseline says 3, 17',
  'its BMC offers HTTPS, IPMI, Telnet, and the baseline says HTTPS, IPMI',
];

describe('a baseline', () => {
  it('is taken from a server in stock, and one that comes back as somebody else made it is kept out with what differs', async () => {
    const server = await enrolled();
    const { id, profileId, bmc } = server;
    const { body } = await take(profileId, id);
    expect(body.data?.profile, JSON.stringify(body)).toMatchObject({
      ...{ baseline_from: 'L-1', baseline_at: expect.any(String) },
      baseline: {
        ...{ firmware: '1.2', boot: 'uefi', bmc_firmware: '9.8', boot_order: ['network', 'disk'] },
        disk_firmware: [{ model: 'SAMSUNG MZQL2960HCJR', version: 'GDC5602Q' }],
        ...{ cipher_suites: [3, 17], services: ['HTTPS', 'IPMI'] },
        bmc_users: [
          { name: 'root', access: 'administrator' },
          { name: 'guest', access: 'operator' },
        ],
      },
    });
    // As it was: whoever was shut out meanwhile is no difference.
    expect((await wentAndCame(server, () => undefined)).after).toMatchObject({
      state: 'ready',
      differences: null,
    });

    const { serviceId, after } = await wentAndCame(server, () => tamper(server));
    const reason = `it differs from the baseline of L-1: ${found.join('; ')}`;
    expect(after).toMatchObject({ state: 'quarantined', service_id: null, differences: found, reason });
    expect(after.actions.accept_differences).toMatchObject({ allowed: true });
    // It was wiped all the same, which is proved, and nobody signs in there.
    expect((await customer.get(`/dashboard/service/${serviceId}/dedicated/erasure`)).status).toBe(200);
    expect(bmc.accounts.find(({ name }) => name === 'theirs')).toMatchObject({
      access: 'none',
      isEnabled: false,
    });
    expect(await concerns()).toMatchObject([{ message: `L-1: ${reason}` }]);
    const told = await sql<{ data: { differences: string[]; service_id: number } }>(
      world.product,
      `select data from journal where action = 'server.quarantined' and subject_id = $1`,
      id,
    );
    expect(told).toMatchObject([{ data: { differences: found, service_id: serviceId, by: 'product' } }]);
    expect((await profileOf(profileId)).ready).toBe(0);

    // Others have to be as it is from then on, if staff wants that: without those who were shut out.
    expect((await accept(id, { as_baseline: true })).body.data.server).toMatchObject({
      ...{ state: 'ready', reason: null, differences: null },
    });
    expect((await profileOf(profileId)).baseline).toMatchObject({
      ...{ firmware: '0.9', boot_order: ['disk', 'network'], bmc_users: [], cipher_suites: [1, 3, 17] },
    });
    expect((await accept(id)).status).toBe(409);
    expect(await concerns()).toEqual([]);
  }, 180_000);

  it('is written by hand, and a machine that is enrolled is held against it, too', async () => {
    const server = await enrolled({ baseline: { cipher_suites: [17], firmware: '1.2' } });
    expect(await serverOf(server.id)).toMatchObject({
      ...{ state: 'quarantined', observed: { cipher_suites: [3, 17], boot_order: ['network', 'disk'] } },
      differences: ['its BMC opens the cipher suites 3, 17, and the baseline says 17'],
    });
    // What staff mends, it enrols anew.
    server.bmc.cipherSuites = [17];
    expect((await staff().post(`/staff/servers/${server.id}/release`, {})).body.data.server).toMatchObject({
      ...{ state: 'waiting', differences: null },
    });
    await enrol(server, 'S-L-2', { server_id: server.id });
    expect(await serverOf(server.id)).toMatchObject({ state: 'ready', differences: null });
    // One that says nothing any more compares nothing.
    const path = `/staff/server-profiles/${server.profileId}`;
    expect((await staff().patch(path, { baseline: null })).body.data.profile).toMatchObject({
      baseline: null,
    });
    await staff().post(`/staff/servers/${server.id}/quarantine`, { reason: 'Looked at' });
    await staff().post(`/staff/servers/${server.id}/release`, {});
    server.bmc.cipherSuites = [1];
    await enrol(server, 'S-L-2', { server_id: server.id });
    expect(await serverOf(server.id)).toMatchObject({ state: 'ready', observed: { cipher_suites: [1] } });
  }, 180_000);

  it('cannot say nothing, nor be taken from a server of another profile or one that is not in stock', async () => {
    const server = await enrolled();
    const path = `/staff/server-profiles/${server.profileId}`;
    for (const baseline of [
      {},
      { firmware: null },
      { firmwares: '1' },
      { bmc_users: [{ name: 'a\n', access: 'user' }] },
    ])
      expect((await staff().patch(path, { baseline })).status, JSON.stringify(baseline)).toBe(400);
    expect((await take(server.profileId, 4_711)).body.code).toBe('invalid_request');
    const other = await enrolled();
    expect((await take(server.profileId, other.id)).body).toMatchObject({
      ...{ code: 'conflict', message: expect.stringContaining('L-4 is L-4, not L-3') },
    });
    expect((await accept(server.id)).body).toMatchObject({
      message: 'L-3 is ready: no difference from the baseline of its profile keeps it out of stock',
    });
    await staff().post(`/staff/servers/${server.id}/quarantine`, { reason: 'It smells' });
    expect((await accept(server.id)).body).toMatchObject({
      message: 'L-3 is quarantined: no difference from the baseline of its profile keeps it out of stock',
    });
    expect((await take(server.profileId, server.id)).body.message).toContain(
      'is taken from a server in stock',
    );
    // As before anybody looked.
    await sql(world.product, 'update servers set observed = null where id = $1', other.id);
    expect((await take(other.profileId, other.id)).body.message).toContain('enrol it anew');
  }, 120_000);

  it('keeps what it kept out as of a backup, and measures changed disks first', async () => {
    const server = await enrolled({ baseline: { firmware: '7' } });
    await staff().post(`/staff/servers/${server.id}/disks`, { installed: 'Q-1' });
    await sql(
      world.product,
      `insert into restores (made_at, restored_at, settled_at, released_at)
       select t, t, t, t from (select state_since + interval '1 second' as t from servers where id = $1) s`,
      server.id,
    );
    expect((await accept(server.id)).body).toMatchObject({
      ...{ code: 'conflict', message: expect.stringContaining('may be somebody’s since') },
    });
    await sql(world.product, 'delete from restores');
    expect((await accept(server.id)).body.data.server).toMatchObject({
      ...{ state: 'waiting', differences: null, reason: expect.stringContaining('enrolled again') },
    });
    await settled(world.product);
  }, 120_000);
});

changes.leaveEntries(() => world.product, ['takeServerBaseline', 'acceptServerDifferences']);
