import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import type { Installer, Told } from '../../demo/rack/installer.ts';

const changes = watchChanges();

let it_: ArrivingProduct;
beforeAll(async () => {
  it_ = await startArrivingProduct();
});
afterAll(() => it_.product.stop());

const staff = () => it_.product.staff;
const open = () => staff().post('/staff/enrolment/open', { hours: 8 });
const close = () => staff().post('/staff/enrolment/close', {});
/** After its clock has leapt: a network that is not heard of for a minute is served by nobody. */
const openAgain = async () => {
  const isServed = async () =>
    (await staff().get('/staff/enrolment')).body.data.enrolment.networks[0].is_served;
  await until(isServed, Boolean);
  expect((await open()).status).toBe(200);
};
const list = async () => (await staff().get('/staff/enrolment/arrivals?state=waiting')).body.data.arrivals;
const arrivalOf = async (id: number) =>
  (await staff().get(`/staff/enrolment/arrivals/${id}`)).body.data.arrival;
const serverOf = async (id: number) => (await staff().get(`/staff/servers/${id}`)).body.data.server;
const accept = (id: number, body: object) => staff().post(`/staff/enrolment/arrivals/${id}/accept`, body);

let made = 0;
/** A machine starts from the network and tells what it has. */
async function arrived(change: Partial<Told> = {}): Promise<{ id: number; machine: Installer; told: Told }> {
  made += 1;
  const number = String(made).padStart(2, '0');
  const mac = `52:54:00:00:01:${number}`;
  const told = {
    ...{ mac, macs: [mac], serial: `S-${number}`, uuid: `u-${number}`, disks: [`D-${number}`] },
    ...{ bmcAddress: `192.0.2.${made}`, ...change },
  };
  const machine = it_.installer(await it_.starts(told.mac));
  expect(await machine.claim()).toBe(200);
  expect(await machine.tells(told)).toBe(200);
  const [{ id }] = await list();
  return { id, machine, told };
}

/** Does what its installer does with a plan until it is no longer under way, with the BMC at its address. */
async function obeyed(
  id: number,
  { machine, told }: { machine: Installer; told: Told },
  prints = machine.nonce,
) {
  const bmc = it_.bmcAt(told.bmcAddress ?? '');
  const plan = await until(
    () => machine.plan(),
    ({ task }) => task === 'bmc',
  );
  const account = { id: '4', name: plan.bmc.user, password: plan.bmc.password };
  bmc.accounts.push({ ...account, access: 'administrator', isEnabled: true });
  expect(
    (await machine.call('POST', 'report', { kind: 'bmc', address: told.bmcAddress, problem: null })).status,
  ).toBe(200);
  const printing = setInterval(() => bmc.line.print(`\r\nINNKEEPER-PROOF ${prints}\r\n`), 50);
  try {
    return {
      bmc,
      account,
      arrival: await until(
        () => arrivalOf(id),
        ({ state }) => state !== 'accepted',
        80_000,
      ),
    };
  } finally {
    clearInterval(printing);
  }
}

describe('while enrolment is closed', () => {
  it('a machine that nobody knows gets no address from us, and is to start its disk', async () => {
    expect(it_.addresses.strangers).toBe(false);
    expect(await it_.starts('52:54:00:00:02:01')).toContain('sanboot');
    await open();
    await until(async () => it_.addresses.strangers, Boolean);
    expect(await it_.starts('52:54:00:00:02:01')).toContain('innkeeper.token=');
    await close();
    await until(async () => !it_.addresses.strangers, Boolean);
    expect(await it_.starts('52:54:00:00:02:01')).toContain('sanboot');
  });

  it('ends by itself at its time', async () => {
    await open();
    it_.product.clock.travel(9 * 3_600_000);
    expect((await staff().get('/staff/enrolment')).body.data.enrolment).toMatchObject({
      is_open: false,
      open_until: null,
    });
    expect(await it_.starts('52:54:00:00:02:01')).toContain('sanboot');
  });
});

describe('a machine that nobody knows', () => {
  beforeAll(async () => {
    await openAgain();
  });

  it('waits in the list with what it has, and is told to do nothing', async () => {
    const { id, machine, told } = await arrived();
    expect(await arrivalOf(id)).toMatchObject({
      ...{ state: 'waiting', mac: told.mac, serial: told.serial, is_there: true, alike: [], server_id: null },
      hardware: {
        ...{ firmware: { boot: 'uefi' }, memory_mib: 64_300, processor: { cores: 8, threads: 16 } },
        disks: [{ serial: told.disks[0], bytes: 960_197_124_096, kind: 'nvme', healthy: true }],
        ...{ ports: [{ mac: told.mac, linked: true }], bmc: { address: told.bmcAddress } },
      },
    });
    expect(await machine.plan()).toEqual({ task: 'wait' });
    expect((await machine.call('GET', 'image')).status).toBe(403);
  });

  it('is a server that is ready, and known by its profile, once it gave its BMC our password and is proved to be behind it', async () => {
    const profile = { name: 'one of 960', threads: 16, disks: [{ kind: 'nvme', gb: 960, count: 1 }] };
    expect((await staff().post('/staff/server-profiles', profile)).status).toBe(200);
    const arrival = await arrived({
      macs: ['52:54:00:00:03:01', '52:54:00:00:03:02'],
      mac: '52:54:00:00:03:01',
    });
    const { status, body } = await accept(arrival.id, { name: 'ams2-01' });
    expect([status, body.data?.arrival.state], JSON.stringify(body)).toEqual([200, 'accepted']);
    const { bmc, account, arrival: after } = await obeyed(arrival.id, arrival);
    expect(after).toMatchObject({ state: 'enrolled', server: 'ams2-01', problem: null });
    expect(account).toMatchObject({ name: 'innkeeper', password: expect.stringMatching(/^[!-~]{16}$/) });
    expect(await serverOf(after.server_id)).toMatchObject({
      ...{ name: 'ams2-01', state: 'ready', serial: arrival.told.serial, macs: arrival.told.macs },
      bmc: { kind: 'ipmi', address: arrival.told.bmcAddress, user: 'innkeeper' },
      profile: profile.name,
      ...{ disks: [{ serial: arrival.told.disks[0], removed_at: null }], hardware: { memory_mib: 64_300 } },
    });
    expect(bmc.power).toBe('off');
    expect((await arrival.machine.call('GET', 'plan')).status).toBe(403);
    // Known from now on: its disk, whatever enrolment is, and an address at any time.
    expect(await it_.starts('52:54:00:00:03:02')).toContain('sanboot');
    await until(async () => it_.addresses.reserved.has('52:54:00:00:03:02'), Boolean);
  });

  it('is spoken to by Redfish where staff says so, and by nobody who presents another certificate than then', async () => {
    const arrival = await arrived();
    const address = arrival.told.bmcAddress ?? '';
    const twice = await accept(arrival.id, {
      ...{ name: 'ams2-21', bmc_kind: 'redfish' },
      bmc: { kind: 'redfish', address, user: 'root', password: 'factory-1' },
    });
    expect([twice.status, twice.body.details]).toEqual([
      400,
      [expect.objectContaining({ field: 'bmc_kind' })],
    ]);
    expect((await accept(arrival.id, { name: 'ams2-21', bmc_kind: 'redfish' })).status).toBe(200);
    // Nobody speaks it there yet.
    const { arrival: silent } = await obeyed(arrival.id, arrival);
    expect(silent).toMatchObject({
      state: 'waiting',
      problem: expect.stringContaining('no certificate of Redfish is to be had at https://'),
    });
    it_.certificates.set(address, 'ab'.repeat(32));
    expect((await accept(arrival.id, { server_id: silent.server_id, bmc_kind: 'redfish' })).status).toBe(200);
    const { arrival: after } = await obeyed(arrival.id, arrival);
    expect(after).toMatchObject({ state: 'enrolled', problem: null });
    expect((await serverOf(after.server_id)).bmc).toMatchObject({
      ...{ kind: 'redfish', address, user: 'innkeeper', certificate: 'ab'.repeat(32) },
    });
  }, 120_000);

  it('waits again, and says why, when another machine is behind the BMC that it says is its', async () => {
    const arrival = await arrived();
    await accept(arrival.id, { name: 'ams2-02' });
    const printed = 'f'.repeat(32);
    const plan = obeyed(arrival.id, arrival, printed);
    const { arrival: after } = await plan;
    expect(after).toMatchObject({
      ...{
        state: 'waiting',
        problem: expect.stringContaining('not shown that the machine is the one behind this BMC'),
      },
      server: 'ams2-02',
    });
    // What a stranger says that it has is nowhere: only what is proved is written down.
    expect(await serverOf(after.server_id)).toMatchObject({
      ...{ state: 'waiting', bmc: null, macs: [], disks: [], hardware: null },
    });
  }, 300_000);

  it('waits again when its BMC lets in without a password, with what to do about it', async () => {
    const arrival = await arrived();
    await accept(arrival.id, { name: 'ams2-03' });
    const unsafe = it_.bmcAt(arrival.told.bmcAddress ?? '');
    unsafe.failing.letsInWithoutPassword = true;
    const { accounts, line } = unsafe;
    const plan = await until(
      () => arrival.machine.plan(),
      ({ task }) => task === 'bmc',
    );
    accounts.push({
      id: '4',
      name: plan.bmc.user,
      password: plan.bmc.password,
      access: 'administrator',
      isEnabled: true,
    });
    await arrival.machine.call('POST', 'report', {
      kind: 'bmc',
      address: arrival.told.bmcAddress,
      problem: null,
    });
    const printing = setInterval(() => line.print(`INNKEEPER-PROOF ${arrival.machine.nonce}\n`), 50);
    const after = await until(
      () => arrivalOf(arrival.id),
      ({ state }) => state === 'waiting',
    );
    clearInterval(printing);
    expect(after.problem).toContain('cipher suite 0. Switch it off');
    // Accepted again as the server that it is, with the BMC made safe.
    unsafe.failing.letsInWithoutPassword = false;
    expect((await accept(arrival.id, { server_id: after.server_id })).status).toBe(200);
    expect((await obeyed(arrival.id, arrival)).arrival).toMatchObject({
      state: 'enrolled',
      server: 'ams2-03',
    });
  });

  it('waits again when its BMC does not take our account', async () => {
    const arrival = await arrived();
    await accept(arrival.id, { name: 'ams2-04' });
    await until(
      () => arrival.machine.plan(),
      ({ task }) => task === 'bmc',
    );
    await arrival.machine.call('POST', 'report', {
      kind: 'bmc',
      address: null,
      problem: 'all of its accounts are taken: remove one',
    });
    const after = await until(
      () => arrivalOf(arrival.id),
      ({ state }) => state === 'waiting',
    );
    expect(after.problem).toContain('all of its accounts are taken');
  });

  it('shows at which port of which switch it hangs, and as a server it is plugged in there', async () => {
    const macs = ['52:54:00:00:05:01', '52:54:00:00:05:02', '52:54:00:00:05:03'];
    const port = (name: string, ...heard: string[]) => ({
      ...{ name, label: '', isUp: true, speedMbps: 10_000, counters: null, macs: heard, vlan: null },
    });
    // The second hears through a cable to the first what that hears, of one of them.
    const ports = [
      [port('swp1', macs[0] ?? ''), port('swp2', macs[2] ?? '')],
      [port('uplink', macs[2] ?? '')],
    ];
    for (const [at, those] of ports.entries()) {
      it_.switches.put(`192.0.2.20${at}`, { ports: those });
      const { body } = await staff().post('/staff/switches', {
        ...{ name: `sw${at}`, location: 'AMS', address: `192.0.2.20${at}` },
        credential: {
          ...{ user: 'innkeeper', auth_protocol: 'sha256' },
          ...{ auth_passphrase: 'auth-pass-123', privacy_passphrase: 'priv-pass-123' },
        },
      });
      const path = `/staff/switches/${body.data.switch.id}`;
      await until(
        async () => (await staff().get(path)).body.data.switch.check.state,
        (state) => state === 'ok',
      );
    }
    const arrival = await arrived({ mac: macs[0] ?? '', macs });
    const { plugged } = await until(
      () => arrivalOf(arrival.id),
      (seen) => seen.plugged.length > 0,
    );
    expect(plugged).toMatchObject([{ mac: macs[0], switch: 'sw0', switch_port: 'swp1' }]);
    await accept(arrival.id, { name: 'plugged' });
    const { arrival: after } = await obeyed(arrival.id, arrival);
    const server = await serverOf(after.server_id);
    expect(server.ports).toMatchObject([
      { mac: macs[0], switch: 'sw0', switch_port: 'swp1' },
      { mac: macs[1], switch: null },
      { mac: macs[2], switch: null },
    ]);
    // Its own drivers do not say how fast they are.
    expect(server.hardware.ports.map(({ speed_mbps: mbps }: { speed_mbps: number }) => mbps)).toEqual([
      ...[10_000, null, null],
    ]);
  });

  it('is sold by the speed of the port that it started from, to which its addresses go, whatever faster one it has', async () => {
    const macs = ['52:54:00:00:05:11', '52:54:00:00:05:12'] as const;
    const profiles: Record<string, number> = {};
    for (const mbps of [10_000, 1_000]) {
      const rules = { threads: 16, memory_gib: 64, model: 'R1', port_mbps: mbps };
      const profile = await staff().post('/staff/server-profiles', { name: `${mbps}`, ...rules });
      profiles[mbps] = profile.body.data.profile.id;
    }
    const arrival = await arrived({ mac: macs[1], macs: [...macs], speedsMbps: [10_000, 1_000] });
    await accept(arrival.id, { name: 'two-ports' });
    const { arrival: after } = await obeyed(arrival.id, arrival);
    const server = await serverOf(after.server_id);
    expect(server).toMatchObject({ start_mac: macs[1], port_mbps: 1_000, profile_id: profiles[1_000] });
    for (const id of Object.values(profiles)) await staff().delete(`/staff/server-profiles/${id}`);
  });

  it('that is a server which was written down becomes that one', async () => {
    const { body } = await staff().post('/staff/servers', { name: 'typed', serial: 'S-typed' });
    const { id } = body.data.server;
    const arrival = await arrived({ serial: 'S-typed' });
    expect(await arrivalOf(arrival.id)).toMatchObject({ server_id: id, server: 'typed' });
    expect((await accept(arrival.id, { server_id: id })).status).toBe(200);
    expect((await obeyed(arrival.id, arrival)).arrival.state).toBe('enrolled');
    expect(await serverOf(id)).toMatchObject({ state: 'ready', name: 'typed', macs: [arrival.told.mac] });
  });

  it('that is rejected is heard no more, and is to start its disk until enrolment is opened anew', async () => {
    const { id, machine, told } = await arrived();
    expect(
      (await staff().post(`/staff/enrolment/arrivals/${id}/reject`, {})).body.data.arrival,
    ).toMatchObject({ state: 'rejected' });
    expect((await machine.call('GET', 'plan')).status).toBe(403);
    expect(await it_.starts(told.mac)).toContain('sanboot');
    await close();
    await open();
    expect(await it_.starts(told.mac)).toContain('innkeeper.token=');
  });

  it('that starts anew is there once', async () => {
    const first = await arrived();
    it_.product.clock.travel(120_000);
    expect(await arrivalOf(first.id)).toMatchObject({
      is_there: false,
      actions: { accept: { allowed: false } },
    });
    const before = (await list()).length;
    await arrived(first.told);
    expect((await list()).length).toBe(before);
    expect((await staff().get(`/staff/enrolment/arrivals/${first.id}`)).status).toBe(404);
  });
});

describe('a machine that starts anew while it is enrolled', () => {
  beforeAll(() => openAgain());
  const rows = async ({ mac }: Told) =>
    (await list()).filter((arrival: { mac: string }) => arrival.mac === mac);
  /** Its BMC takes no account of ours from whoever calls with its first start, which ends that. */
  async function refused(id: number, { machine, told }: { machine: Installer; told: Told }) {
    await until(
      () => machine.plan(),
      ({ task }) => task === 'bmc',
    );
    const report = { kind: 'bmc', address: told.bmcAddress, problem: 'no room' };
    await machine.call('POST', 'report', report);
    await until(
      async () => (await staff().get(`/staff/enrolment/arrivals/${id}`)).body.data?.arrival?.state,
      (state) => state !== 'accepted',
    );
  }

  it('is there once, as the server that it was accepted as, when what it was before has come to nothing', async () => {
    const first = await arrived();
    expect((await accept(first.id, { name: 'anew-1', serial: 'by hand 1' })).status).toBe(200);
    const { server_id: serverId } = await arrivalOf(first.id);
    it_.product.clock.travel(60_000);
    const second = await arrived(first.told);
    expect(await rows(first.told)).toMatchObject([{ id: second.id, server_id: null }]);
    // A minute is over since anybody heard of the first, which is asked for what it is to do only in this test.
    await sql(it_.product, `update server_arrivals set problem = 'no room' where id = $1`, first.id);
    await until(
      async () => (await staff().get(`/staff/enrolment/arrivals/${first.id}`)).status,
      (status) => status === 404,
    );
    expect(await rows(first.told)).toMatchObject([
      { id: second.id, server_id: serverId, problem: expect.stringContaining('no room') },
    ]);
    expect((await accept(second.id, { server_id: serverId })).status).toBe(200);
    expect((await obeyed(second.id, second)).arrival).toMatchObject({ state: 'enrolled', server: 'anew-1' });
  });

  it('is there once also where that had come to nothing a moment before it was back', async () => {
    const first = await arrived();
    expect((await accept(first.id, { name: 'anew-2' })).status).toBe(200);
    await refused(first.id, first);
    const second = await arrived(first.told);
    expect(await rows(first.told)).toHaveLength(2);
    it_.product.clock.travel(60_000);
    await second.machine.plan();
    expect(await rows(first.told)).toMatchObject([{ id: second.id, server: 'anew-2' }]);
  });

  it('and one that says the same while the first is there takes nothing of it', async () => {
    const first = await arrived();
    expect((await accept(first.id, { name: 'anew-3' })).status).toBe(200);
    await refused(first.id, first);
    const second = await arrived(first.told);
    it_.product.clock.travel(20_000);
    await first.machine.plan();
    it_.product.clock.travel(30_000);
    await second.machine.plan();
    expect(await rows(first.told)).toHaveLength(2);
  });
});

describe('strangers', () => {
  beforeAll(async () => void (await open()));

  it('who copy a MAC end nobody’s start, and neither is accepted until one was rejected', async () => {
    const mine = await arrived();
    const theirs = await arrived({ ...mine.told, uuid: 'another' });
    expect(await mine.machine.plan()).toEqual({ task: 'wait' });
    for (const { id } of [mine, theirs]) {
      const { status, body } = await accept(id, { name: 'copied' });
      expect([status, body.code], JSON.stringify(body)).toEqual([409, 'conflict']);
    }
    await staff().post(`/staff/enrolment/arrivals/${theirs.id}/reject`, {});
    expect((await accept(mine.id, { name: 'copied' })).status).toBe(200);
    expect((await obeyed(mine.id, mine)).arrival.state).toBe('enrolled');
  });

  it('who stole the token of a script come too late, or are found out by the machine’s own claim', async () => {
    const mine = await arrived();
    const thief = it_.installer(`innkeeper.url=x`);
    for (const [method, path] of [
      ['GET', 'plan'],
      ['GET', 'image'],
      ['POST', 'report'],
    ] as const)
      expect(
        (
          await mine.machine.call(
            method,
            path,
            method === 'POST' ? { kind: 'done' } : undefined,
            mine.machine.token,
          )
        ).status,
      ).toBe(403);
    expect(
      (await mine.machine.call('POST', 'claim', { secret: thief.secret }, mine.machine.token)).status,
    ).toBe(403);
    const machine = it_.installer(await it_.starts('52:54:00:00:04:01'));
    expect((await machine.call('POST', 'claim', { secret: thief.secret }, machine.token)).status).toBe(200);
    expect(await machine.claim()).toBe(403);
  });

  it('are none where two machines have one serial number from their maker: staff gives one of them another', async () => {
    const [one, other] = [await arrived({ serial: 'Default' }), await arrived({ serial: 'Default' })];
    expect(await arrivalOf(other.id)).toMatchObject({ alike: [`machine ${one.id}`] });
    const refused = await accept(one.id, { name: 'twin-1' });
    expect([refused.status, refused.body.details[0].field]).toEqual([400, 'serial']);
    expect((await accept(one.id, { name: 'twin-1', serial: 'D-1' })).status).toBe(200);
    expect((await obeyed(one.id, one)).arrival.state).toBe('enrolled');
    expect((await accept(other.id, { name: 'twin-2', serial: 'D-1' })).status).toBe(409);
    expect((await accept(other.id, { name: 'twin-2', serial: 'D-2' })).status).toBe(200);
    expect((await obeyed(other.id, other)).arrival.state).toBe('enrolled');
  });

  it('who name the BMC of a server as their own are not accepted', async () => {
    const mine = await arrived();
    expect((await accept(mine.id, { name: 'owner' })).status).toBe(200);
    expect((await obeyed(mine.id, mine)).arrival.state).toBe('enrolled');
    const theirs = await arrived({ bmcAddress: mine.told.bmcAddress });
    const { status, body } = await accept(theirs.id, { name: 'thief' });
    expect([status, body.details[0].message]).toEqual([
      400,
      expect.stringContaining('is that of owner already'),
    ]);
    expect((await staff().get('/staff/servers?search=thief')).body.data.servers).toEqual([]);
  });

  it.each([
    ['our own', '127.0.0.1'],
    ['one of whoever is on the cable', '169.254.1.1'],
    ['one of many', '224.0.0.1'],
    ['that of another server', 'another'],
  ])('who then say that the address of their BMC is %s are not believed', async (_, said) => {
    const mine = await arrived();
    expect((await accept(mine.id, { name: `owner-${made}` })).status).toBe(200);
    await obeyed(mine.id, mine);
    const theirs = await arrived();
    expect((await accept(theirs.id, { name: `liar-${made}` })).status).toBe(200);
    await until(
      () => theirs.machine.plan(),
      ({ task }) => task === 'bmc',
    );
    const address = said === 'another' ? mine.told.bmcAddress : said;
    await theirs.machine.call('POST', 'report', { kind: 'bmc', address, problem: null });
    const after = await until(
      () => arrivalOf(theirs.id),
      ({ state }) => state !== 'accepted',
    );
    expect(after).toMatchObject({ state: 'waiting', problem: expect.stringContaining('its address is') });
  });

  it('are enrolled as no server that another machine is being enrolled as', async () => {
    const { body } = await staff().post('/staff/servers', { name: 'wanted-twice', serial: 'S-twice' });
    const { id: serverId } = body.data.server;
    const mine = await arrived({ serial: 'S-twice' });
    expect((await accept(mine.id, { server_id: serverId })).status).toBe(200);
    await sql(it_.product, `update server_arrivals set serial = 'S-once' where id = $1`, mine.id);
    const theirs = await arrived({ serial: 'S-twice' });
    const refused = await accept(theirs.id, { server_id: serverId });
    expect([refused.status, refused.body.code], JSON.stringify(refused.body)).toEqual([409, 'conflict']);
    expect(refused.body.message).toContain('is being enrolled');
    expect((await obeyed(mine.id, mine)).arrival.state).toBe('enrolled');
  });

  it('nor anybody become a server that staff has put away meanwhile', async () => {
    const { id, ...rest } = await arrived();
    expect((await accept(id, { name: 'put-away' })).status).toBe(200);
    const { server_id: serverId } = await arrivalOf(id);
    await staff().post(`/staff/servers/${serverId}/quarantine`, { reason: 'smoke' });
    const { arrival } = await obeyed(id, rest);
    expect(arrival).toMatchObject({ state: 'waiting', problem: expect.stringContaining('quarantined') });
    expect(await serverOf(serverId)).toMatchObject({ state: 'quarantined', bmc: null, macs: [] });
  });

  it('who are heard where a server is plugged in do not take its place there, as behind a switch that nobody reads', async () => {
    const mac = '52:54:00:00:08:01';
    it_.switches.put('192.0.2.200', {
      ports: [
        ...[
          { name: 'swp1', label: '', isUp: true, speedMbps: 10_000, counters: null, macs: [mac], vlan: null },
        ],
      ],
    });
    const { id, ...rest } = await arrived({ mac, macs: [mac] });
    await until(
      () => arrivalOf(id),
      (seen) => seen.plugged.length > 0,
    );
    expect((await accept(id, { name: 'beside' })).status).toBe(200);
    const { arrival } = await obeyed(id, rest);
    expect(arrival).toMatchObject({ state: 'enrolled' });
    expect((await serverOf(arrival.server_id)).ports).toMatchObject([
      { mac, switch: null, switch_port: null },
    ]);
    const plugged = await sql(
      it_.product,
      `select s.name from server_ports p join servers s on s.id = p.server_id where p.switch_port = 'swp1'`,
    );
    expect(plugged).toEqual([{ name: 'plugged' }]);
  });

  it('who make up MACs fill no table, and from then on nobody new is looked at until they are forgotten', async () => {
    for (let n = 0; n < 25; n++) await it_.starts('52:54:00:00:06:01');
    const [{ open: left } = { open: 0 }] = await sql<{ open: number }>(
      it_.product,
      `select count(*)::int as open from server_starts where mac = '52:54:00:00:06:01'`,
    );
    expect(left).toBe(20);
    await sql(
      it_.product,
      `insert into server_starts (mac, token_hash, nonce, opened_at)
       select '52:54:00:00:07:01', 't' || n, 'n' || n, $1 from generate_series(1, 2000) n`,
      it_.product.clock.now(),
    );
    expect(await it_.starts('52:54:00:00:06:02')).toContain('sanboot');
    it_.product.clock.travel(40 * 60_000);
    await it_.product.periodic('fleet.forgetStarts');
    expect(await it_.starts('52:54:00:00:06:02')).toContain('innkeeper.token=');
    // Switches are due by then, too: no row of theirs changes during another test.
    await it_.product.periodic('fleet.readSwitches');
    await settled(it_.product);
  });

  it('with the MAC of a server that is ready get "your disk", and none of its calls', async () => {
    expect(await it_.starts('52:54:00:00:03:01')).toContain('sanboot');
  });

  it.each<[string, object]>([
    ['no name', {}],
    ['a server that is none', { server_id: 4_503_599_627_370_000 }],
    ['a server and a name', { server_id: 1, name: 'x' }],
    [
      'a BMC that is nowhere',
      { name: 'x1', bmc: { kind: 'ipmi', address: 'bmc.example.com', user: 'u', password: 'password' } },
    ],
    ['an unknown field', { name: 'x1', colour: 'red' }],
    ['a place that is none', { name: 'x1', rack_id: 4_503_599_627_370_000, unit: 1 }],
  ])('nor anything is accepted with %s', async (_, body) => {
    const { id } = await arrived();
    // Switches are asked where it is.
    await settled(it_.product);
    const before = await contents(it_.product);
    const { status } = await accept(id, body);
    expect([400, 404]).toContain(status);
    expect(await contents(it_.product)).toEqual(before);
  });
});

describe('room that strangers take up', () => {
  beforeAll(() => openAgain());

  const address = '127.99.0.1';
  const hours = (count: number) => count * 3_600_000;
  /** A machine that starts there, with a MAC that is made up. */
  const madeUp = async (n: number) =>
    it_.installer(await it_.starts(`52:54:00:00:09:${n.toString(16).padStart(2, '0')}`, address));
  const countOf = async (table: string, where: string) =>
    (await sql<{ count: number }>(it_.product, `select count(*)::int from ${table} where ${where}`))[0]
      ?.count;
  /** As many machines as that in the list, as if each had arrived and gone on asking; their ids. */
  const fill = (count: number, change = {}) => {
    const columns = { state: 'waiting', seen_at: it_.product.clock.now(), decided_at: null, ...change };
    return sql<{ id: number }>(
      it_.product,
      `insert into server_arrivals (state, mac, serial, inventory, arrived_at, seen_at, decided_at)
       select $2, '52:54:00:00:0a:01', 'made-up-' || n || '-' || gen_random_uuid(), (select inventory from server_arrivals limit 1), $3, $3, $4
       from generate_series(1, $1::int) n returning id`,
      ...[count, columns.state, columns.seen_at, columns.decided_at],
    );
  };
  const left = async (ids: readonly number[]) =>
    (
      await sql<{ id: number }>(
        it_.product,
        'select id from server_arrivals where id = any($1) order by id',
        ids,
      )
    ).map(({ id }) => id);

  it('at one address is that of twenty starts, claimed or not: the oldest are forgotten, and nobody else’s', async () => {
    const [server] = await sql<{ id: number }>(it_.product, `select id from servers where name = 'ams2-01'`);
    const [work] = await sql<{ id: number }>(
      it_.product,
      `insert into server_assignments (server_id, kind, state, disks, opened_at) values ($1, 'wipe', 'open', '[]', $2) returning id`,
      ...[server?.id, it_.product.clock.now()],
    );
    const elsewhere = it_.installer(await it_.starts('52:54:00:00:09:fe'));
    const ofServer = it_.installer(await it_.starts('52:54:00:00:03:01', address));
    const listed = it_.installer(await it_.starts('52:54:00:00:09:fd', address));
    await listed.claim();
    await listed.tells({ mac: '52:54:00:00:09:fd', serial: 'listed' });
    const machines: Installer[] = [];
    for (let n = 0; n < 30; n += 1) {
      const machine = await madeUp(n);
      machines.push(machine);
      if (n % 2 === 0) expect(await machine.claim()).toBe(200);
    }
    const answers = [];
    for (const machine of machines) answers.push(await machine.claim());
    expect(answers).toEqual([...Array(10).fill(403), ...Array(20).fill(200)]);
    expect(await elsewhere.claim()).toBe(200);
    expect(await ofServer.claim()).toBe(200);
    expect(await listed.plan()).toEqual({ task: 'wait' });
    await sql(it_.product, 'delete from server_assignments where id = $1', work?.id);
  });

  it('is theirs for ten minutes when they claimed a start and say nothing: who has said what it has, and a server at work, stay', async () => {
    const [server] = await sql<{ id: number }>(it_.product, `select id from servers where name = 'ams2-01'`);
    const [work] = await sql<{ id: number }>(
      it_.product,
      `insert into server_assignments (server_id, kind, state, disks, opened_at) values ($1, 'wipe', 'open', '[]', $2) returning id`,
      ...[server?.id, it_.product.clock.now()],
    );
    const silent = await madeUp(1);
    const atWork = it_.installer(await it_.starts('52:54:00:00:03:01'));
    expect([await silent.claim(), await atWork.claim()]).toEqual([200, 200]);
    const { machine: mine } = await arrived();
    const soon = async (minutes: number) => {
      it_.product.clock.travel(minutes * 60_000);
      await it_.product.periodic('fleet.forgetStarts');
      return Promise.all([silent, atWork, mine].map(async ({ call }) => (await call('GET', 'plan')).status));
    };
    expect(await soon(9)).toEqual([200, 200, 200]);
    expect(await soon(2)).toEqual([403, 200, 200]);
    await sql(it_.product, 'delete from server_assignments where id = $1', work?.id);
  });

  it('in the list is that of five hundred: the silent give way, but for those that staff decided on', async () => {
    const warned = vi.spyOn(it_.product.ctx.log, 'warn');
    const full = () => warned.mock.calls.filter((call) => String(call[1]).includes('nobody new is listed'));
    const gone = new Date(it_.product.clock.now().getTime() - 60_000);
    const silent = await fill(2, { seen_at: gone });
    const decided = await fill(1, { seen_at: gone, decided_at: gone });
    await sql(
      it_.product,
      `update server_arrivals set seen_at = $1 where state = 'waiting' and serial not like 'made-up-%'`,
      it_.product.clock.now(),
    );
    await fill(500 - ((await countOf('server_arrivals', `state = 'waiting'`)) ?? 0));
    const came = async (n: number) => {
      const machine = await madeUp(n);
      expect(await machine.claim()).toBe(200);
      expect(await machine.tells({ mac: '52:54:00:00:0b:01', serial: `came-${n}` })).toBe(200);
      expect(await machine.plan()).toEqual({ task: 'wait' });
      return countOf('server_arrivals', `serial = 'came-${n}'`);
    };
    expect([await came(1), await came(2), full().length]).toEqual([1, 1, 0]);
    expect([await came(3), await came(4)]).toEqual([0, 0]);
    expect(full()).toHaveLength(1);
    expect(await countOf('server_arrivals', `state = 'waiting'`)).toBe(500);
    expect(await left([...silent, ...decided].map(({ id }) => id))).toEqual(decided.map(({ id }) => id));
    warned.mockRestore();
    await sql(it_.product, `delete from server_arrivals where serial like 'made-up-%'`);
  });

  it('is theirs for a day once they are silent, and for a week once they are rejected, or as long as that counts', async () => {
    const ago = (ms: number) => new Date(it_.product.clock.now().getTime() - ms);
    const one = async (change: object) => (await fill(1, change))[0]?.id ?? 0;
    const { id, machine } = await arrived();
    const silent = await one({ seen_at: ago(hours(1)) });
    const decided = await one({ seen_at: ago(hours(1)), decided_at: ago(hours(1)) });
    const enrolled = await one({ state: 'enrolled', seen_at: ago(hours(1)), decided_at: ago(hours(1)) });
    const rejected = await one({ state: 'rejected', decided_at: it_.product.clock.now() });
    // As one whose BMC is slow for a very long time.
    await sql(it_.product, `update server_arrivals set state = 'accepted' where id = $1`, id);
    const leftIn = async (count: number) => {
      it_.product.clock.travel(hours(count));
      await it_.product.periodic('fleet.forgetStarts');
      await it_.product.periodic('fleet.forgetArrivals');
      return left([id, silent, decided, enrolled, rejected]);
    };
    expect(await leftIn(22)).toEqual([id, silent, decided, enrolled, rejected]);
    expect(await leftIn(4)).toEqual([id, decided, enrolled, rejected]);
    expect((await machine.call('GET', 'plan')).status).toBe(200);
    expect(await leftIn(6 * 24)).toEqual([id, decided, enrolled]);
    // While enrolment that was open then is open still, it counts.
    await openAgain();
    const counting = await one({ state: 'rejected', decided_at: it_.product.clock.now() });
    await sql(it_.product, `update server_enrolment set open_until = open_until + interval '30 days'`);
    it_.product.clock.travel(hours(8 * 24));
    await it_.product.periodic('fleet.forgetArrivals');
    expect(await left([counting])).toEqual([counting]);
    await close();
    await it_.product.periodic('fleet.forgetArrivals');
    expect(await left([counting])).toEqual([]);
    await sql(it_.product, `update server_arrivals set state = 'waiting' where id = $1`, id);
  });
});

it('nothing of it is opened where no process serves a network', async () => {
  await close();
  await sql(it_.product, 'delete from server_networks');
  const { status, body } = await open();
  expect([status, body.code]).toEqual([409, 'conflict']);
  expect(body.message).toContain('RACK_INTERFACE');
});

describe('every change', () =>
  changes.leaveEntries(
    () => it_.product,
    ['openEnrolment', 'closeEnrolment', 'acceptArrival', 'rejectArrival'],
  ));
