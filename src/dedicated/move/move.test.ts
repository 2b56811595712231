import { describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { until } from '../../../test/product.ts';
import { later } from '../../../test/rack/later.ts';
import { type Another, movingBed } from '../../../test/rack/moving.ts';
import type { RentedPlayed } from '../../../test/rack/stocked.ts';
import { settled, sql } from '../../../test/sql.ts';

const changes = watchChanges();

const bed = movingBed();
const { staff, serverOf, moveOf, another, ask, asked, readAction, ended, isFree, plugged, rented } = bed;
const overview = async ({ path }: RentedPlayed) =>
  (await bed.customer.get(`${path}/overview`)).body.data.dedicated;

describe('a service that staff moves to another server', () => {
  it('is there with its addresses, system, hostname and keys, and the server before is wiped with proof', async () => {
    const server = await rented();
    const to = await another(server);
    await bed.customer.patch(`${server.path}/ips`, { address: server.ip, dns_name: 'metal.example.org' });
    const before = (await bed.customer.get(`${server.path}/ips`)).body.data.ips;
    const seen: unknown[] = [];
    to.does = {
      at: async (step) => {
        if (step !== 'write') return;
        to.does = {};
        // Its customer goes on, and nobody changes anything meanwhile.
        const { state, locked, actions } = await overview(server);
        seen.push(state, locked, actions.restart.code, server.bmc.power, bed.world.greets.has(server.ip));
        seen.push((await bed.customer.post(`${server.path}/stop`, {})).body.code);
        seen.push((await ask(server, { confirm: (await serverOf(server.id)).name })).body.code);
        seen.push((await staff().post(`/staff/servers/${server.id}/stop`, { force: true })).body.code);
        const { action, possible, last } = await moveOf(server.id);
        seen.push([action.command, action.note, possible, last.to, last.moved]);
        const { installations } = (await staff().get('/staff/installations')).body.data;
        seen.push(
          installations.map((it: Record<string, unknown>) => [it.server, it.job, it.step, it.waits_for]),
        );
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
      [[to.name, 'dedicated.move', 'write', 'installer']],
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
    // Its BMC was never asked for its power before.
    const moved = await until(
      () => overview(server),
      ({ state }) => state !== 'error',
    );
    expect(moved).toMatchObject({ state: 'running', locked: false, os: { slug: 'tiny' } });
    expect(await serverOf(to.id)).toMatchObject({ state: 'rented', service_id: server.serviceId });
    const ips = (await bed.customer.get(`${server.path}/ips`)).body.data.ips;
    expect(ips).toEqual(before.map((ip: object) => ({ ...ip, mac: to.mac })));
    expect(ips[0].dns_name).toBe('metal.example.org');
    const shown = await bed.customer.post(`${server.path}/credentials`, {});
    expect(shown.body.data.credentials).toMatchObject({ username: 'root', password: expect.any(String) });

    expect(await isFree(server.id)).toMatchObject({ service_id: null, move_service_id: null });
    await settled(bed.world.product);
    expect([server.bmc.power, server.wipes, server.system]).toEqual(['off', 2, null]);
    expect([to.bmc.power, bed.world.greets.has(server.ip)]).toEqual(['on', true]);
    const proof = await bed.customer.get(`${server.path}/erasure`);
    expect(proof.body.data.erasure.disks.map(({ serial }: { serial: string }) => serial)).toEqual(
      server.disks,
    );
    // Staff finds each disk by its serial number, and reads the same.
    const found = await staff().get(`/staff/erasures?search=${server.disks[1]?.toLowerCase()}`);
    expect(found.body.data.disks).toMatchObject([
      { serial: server.disks[1], server_id: server.id, service_id: server.serviceId, method: 'overwrite' },
    ]);
    const [{ proof_id: proofId }] = found.body.data.disks;
    expect((await staff().get(`/staff/erasures/${proofId}`)).body.data).toEqual(proof.body.data);
    const pdf = await staff().get(`/staff/erasures/${proofId}/pdf?language=de`);
    expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    expect((await staff().get('/staff/erasures/4242')).status).toBe(404);
    expect((await staff().get(`/staff/erasures?server_id=${to.id}`)).body.data.disks).toEqual([]);
    expect((await staff().get('/staff/installations')).body.data.installations).toEqual([]);
    expect((await bed.customer.get('/staff/erasures')).status).toBe(403);
    const [mail] = await sql<{ subject: string }>(
      bed.world.product,
      `select subject from mails where subject like '%is another server now' order by id desc limit 1`,
    );
    expect(mail?.subject).toBe('metal1.example.com is another server now');
    expect((await moveOf(to.id)).last).toMatchObject({ from_server_id: server.id, moved: true });
    // Nothing of how it was let in is kept, and none of it was told to anybody.
    expect(await sql(bed.world.product, 'select 1 from dedicated_moves where password is not null')).toEqual(
      [],
    );
    expect(await sql(bed.world.product, 'select 1 from server_assignments where plan is not null')).toEqual(
      [],
    );
    expect(
      await sql(
        bed.world.product,
        'select 1 from server_assignments where server_id = $1 and keys is not null',
        server.id,
      ),
    ).toEqual([]);
  }, 180_000);
});

/** Waits until a condition is there, and lets so many minutes pass then. */
async function laterThan(minutes: number, ready: () => boolean | Promise<boolean>): Promise<void> {
  await until(async () => ready(), Boolean, 60_000);
  await later(bed.world.product, minutes);
}

const isSaid = async (what: string) =>
  (
    await sql(
      bed.world.product,
      `select 1 from jobs where state <> 'done' and error_message like $1 || '%'`,
      what,
    )
  ).length > 0;
const stays = 'Your server was to be replaced by another one, which could not be done: it stays as it was';
const publicKey = `ssh-ed25519 ${Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from('ssh-ed25519'), Buffer.from([0, 0, 0, 32]), Buffer.alloc(32, 7)]).toString('base64')} mine`;

describe('where that fails, the service is where it was', () => {
  it.each<[string, (to: Another) => void, RegExp]>([
    [
      'before anything is switched off, as of one that refuses to erase a disk',
      (to) => {
        to.does = { keeps: to.disks[1] ?? '' };
      },
      /could not be wiped/,
    ],
    [
      'of one whose BMC says yes and does nothing',
      (to) => {
        to.bmc.failing = { saysYes: true };
      },
      /./,
    ],
  ])(
    '%s',
    async (_, breaks, reason) => {
      const server = await rented();
      const to = await another(server);
      breaks(to);
      const [starts, offs] = [server.bmc.starts.length, server.told.length];
      expect(await ended(server, await asked(server))).toMatchObject({
        status: 'error',
        error: { message: stays },
      });
      expect(await serverOf(to.id)).toMatchObject({
        ...{
          state: 'quarantined',
          service_id: null,
          move_service_id: null,
          reason: expect.stringMatching(reason),
        },
      });
      // Nobody has touched it.
      expect([server.bmc.starts.length, server.told.length, server.wipes]).toEqual([starts, offs, 1]);
      expect(await overview(server)).toMatchObject({ state: 'running', locked: false });
      expect((await bed.customer.get(`${server.path}/credentials`)).body.data).toEqual({ credentials: null });
      expect(await moveOf(server.id)).toMatchObject({
        action: null,
        last: { moved: false, problem: expect.stringMatching(reason) },
      });
    },
    120_000,
  );

  it('also after it was off: its disks start again once the other one is off that does not greet', async () => {
    const server = await rented();
    const to = await another(server);
    to.does = { isMute: true };
    const id = await asked(server);
    await laterThan(21, () => isSaid('the server starts what was installed'));
    expect(await ended(server, id)).toMatchObject({
      status: 'error',
      error: { code: 'server_unfit', message: `${stays}, and is switched on again where it was on` },
    });
    await settled(bed.world.product);
    expect([to.bmc.power, server.bmc.power, server.wipes]).toEqual(['off', 'on', 1]);
    expect(server.told.at(-1)).toBe('disk');
    await until(
      async () => bed.world.greets.has(server.ip),
      (greets) => greets,
    );
    expect((await serverOf(to.id)).reason).toMatch(/did not greet by SSH/);
    await bed.world.product.periodic('fleet.askBmcs');
    await settled(bed.world.product);
    expect(await overview(server)).toMatchObject({ state: 'running', locked: false });
  }, 120_000);

  it('when its service ends once the other one was on: that one is not sold before somebody has looked at it', async () => {
    const server = await rented();
    const to = await another(server);
    to.does = { isMute: true };
    const id = await asked(server);
    await until(
      async () => [to.bmc.power, (await readAction(server, id)).progress],
      ([power, progress]) => power === 'on' && progress >= 90,
      60_000,
    );
    const ends = await bed.customer.post(`/dashboard/services/${server.serviceId}/cancel`, {
      type: 'immediate',
    });
    expect(ends.status, JSON.stringify(ends.body)).toBe(200);
    expect(await isFree(to.id, 'quarantined')).toMatchObject({
      ...{ service_id: null, move_service_id: null },
      reason: expect.stringMatching(/ran for a moment with the keys of a service/),
    });
    expect(to.bmc.power).toBe('off');
  }, 120_000);

  it('of a server that cannot be switched off, unless staff has pulled its power', async () => {
    const server = await rented();
    const to = await another(server);
    server.bmc.failing = { silent: 'before' };
    expect(await ended(server, await asked(server))).toMatchObject({
      status: 'error',
      error: { message: stays },
    });
    expect(await serverOf(to.id)).toMatchObject({ state: 'ready' });
    expect(to.plans).toEqual([]);
    server.bmc.power = 'off';
    server.bmc.changed?.('off', null);
    expect(await ended(server, await asked(server, { unplugged: true }))).toMatchObject({
      status: 'success',
    });
    expect(await serverOf(to.id)).toMatchObject({ state: 'rented', service_id: server.serviceId });
    // What is on it nobody can wipe: it is set aside.
    for (let tries = 0; tries < 8 && (await serverOf(server.id)).state === 'returning'; tries += 1) {
      bed.world.product.clock.travel(20 * 60_000);
      // Others answer meanwhile, so it is its own fault.
      await bed.world.product.periodic('fleet.askBmcs');
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
    expect(await isFree(server.id, 'quarantined')).toMatchObject({
      ...{
        service_id: null,
        move_service_id: null,
        reason: expect.stringMatching(/^it came back and could not be wiped/),
      },
    });
    // The addresses went along, and rest with nobody.
    expect((await bed.customer.get(`${server.path}/ips`)).body.data.ips).toMatchObject([
      { address: server.ip },
    ]);
  }, 180_000);

  it.each([
    [
      'suspended',
      async (id: number) => staff().post(`/staff/services/${id}/suspend`, { reason: 'It attacks others' }),
    ],
    [
      'ended',
      async (id: number) => bed.customer.post(`/dashboard/services/${id}/cancel`, { type: 'immediate' }),
    ],
  ] as const)(
    'when it is %s meanwhile',
    async (what, does) => {
      const server = await rented();
      const to = await another(server);
      to.does = {
        at: async (step) => {
          if (step !== 'write') return;
          to.does = {};
          const answer = await does(server.serviceId);
          expect(answer.status, JSON.stringify(answer.body)).toBe(200);
        },
      };
      await ended(server, await asked(server));
      expect((await isFree(to.id)).service_id).toBeNull();
      await settled(bed.world.product);
      expect([to.bmc.power, server.bmc.power]).toEqual(['off', 'off']);
      expect((await serverOf(server.id)).state).toBe(what === 'suspended' ? 'rented' : 'ready');
      expect(server.wipes).toBe(what === 'suspended' ? 1 : 2);
      if (what === 'ended') return;
      await staff().post(`/staff/services/${server.serviceId}/unsuspend`);
      await settled(bed.world.product);
      expect([server.bmc.power, (await overview(server)).state]).toEqual(['on', 'running']);
    },
    120_000,
  );
});

describe('a move is refused and changes nothing', () => {
  it('with what is wrong', async () => {
    const server = await rented();
    const { name } = await serverOf(server.id);
    const refused = async (body: object = {}, id = server.id) => {
      const answer = await staff().post(`/staff/servers/${id}/move`, {
        reason: 'It hangs',
        confirm: name,
        ...body,
      });
      const [detail] = answer.body.details ?? [];
      return [answer.status, answer.body.code, detail?.field ?? answer.body.message];
    };
    expect(await refused()).toEqual([400, 'insufficient_stock', 'Not enough stock available']);
    const away = await another(server, { location: 'FRA' });
    expect(await refused()).toEqual([400, 'insufficient_stock', 'Not enough stock available']);
    expect(await refused({ to_server_id: away.id })).toEqual([400, 'invalid_request', 'to_server_id']);
    const to = await another(server);
    expect((await moveOf(server.id)).servers).toMatchObject([{ id: to.id, name: to.name }]);
    expect(await refused({ confirm: 'another' })).toEqual([400, 'invalid_request', 'confirm']);
    expect((await refused({ reason: '' })).slice(0, 2)).toEqual([400, 'invalid_request']);
    expect((await refused({}, to.id))[1]).toBe('conflict');
    expect((await refused({}, 4_242))[1]).toBe('not_found');
    const rescue = await bed.customer.post(`${server.path}/rescue`, {
      enabled: true,
      password: 'Good-Pass-1',
    });
    expect((await refused())[1]).toBe('locked');
    await ended(server, rescue.body.data.action.id);
    expect(await refused()).toEqual([409, 'action_not_allowed', expect.stringContaining('rescue system')]);
    const over = await bed.customer.post(`${server.path}/rescue`, { enabled: false });
    await ended(server, over.body.data.action.id);
    await staff().post(`/staff/services/${server.serviceId}/suspend`, { reason: 'It attacks others' });
    expect(await refused()).toEqual([409, 'action_not_allowed', 'The service is suspended']);
    expect(await moveOf(server.id)).toMatchObject({
      possible: false,
      reason: 'The service is suspended',
      last: null,
    });
    expect(await serverOf(to.id)).toMatchObject({ state: 'ready' });
    expect(
      (await bed.customer.post(`/staff/servers/${server.id}/move`, { reason: 'x', confirm: name })).status,
    ).toBe(403);
  }, 120_000);

  it('of several that ask at once, but for one', async () => {
    const server = await rented();
    for (let count = 0; count < 3; count += 1) await another(server);
    const { name } = await serverOf(server.id);
    const answers = await Promise.all([1, 2, 3].map(() => ask(server, { confirm: name })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const done = answers.find(({ status }) => status === 200);
    expect(await ended(server, done?.body.data.action.id)).toMatchObject({ status: 'success' });
    const held = await sql(
      bed.world.product,
      `select 1 from servers where move_service_id = $1 and state = 'held'`,
      server.serviceId,
    );
    expect(held).toEqual([]);
  }, 120_000);
});

it('keys of a reinstallation, a system on one disk, and no password go along as they are', async () => {
  const server = await rented();
  const key = await bed.customer.post('/dashboard/account/ssh-keys', { name: 'mine', public_key: publicKey });
  const again = await bed.customer.post(`${server.path}/reinstall`, {
    ...{
      os: 'tiny',
      confirm: 'metal1.example.com',
      hostname: 'other.example.com',
      disks: { layout: 'single' },
    },
  });
  expect(await ended(server, again.body.data.action.id)).toMatchObject({ status: 'success' });
  await bed.customer.delete(`/dashboard/account/ssh-keys/${key.body.data.ssh_key.id}`);
  const to = await another(server);
  const chosen = await another(server);
  expect(await ended(server, await asked(server, { to_server_id: chosen.id }))).toMatchObject({
    status: 'success',
  });
  expect(to.plans).toEqual([]);
  expect(chosen.plans[0]).toMatchObject({
    layout: { kind: 'single', serials: [chosen.disks[0]] },
    identity: {
      ...{ hostname: 'other.example.com', passwordHash: null },
      keys: [expect.stringContaining(publicKey.split(' ')[1] ?? '')],
    },
  });
  expect((await bed.customer.get(`${server.path}/credentials`)).body.data).toEqual({ credentials: null });
}, 120_000);

describe('where the switch knows VLANs', () => {
  const vlansOf = (it: { ports: { vlan: number | null }[] }) => it.ports.map(({ vlan }) => vlan);

  it('the ports take each other’s, and have their own again when it fails', async () => {
    const server = await rented();
    const to = await another(server);
    const found = await plugged(server, to, [101, 102]);
    to.does = { isMute: true };
    const id = await asked(server);
    await laterThan(21, () => isSaid('the server starts what was installed'));
    expect(vlansOf(found)).toEqual([102, 101]);
    await ended(server, id);
    expect(vlansOf(found)).toEqual([101, 102]);
    to.does = {};
    await sql(bed.world.product, `update servers set state = 'ready', reason = null where id = $1`, to.id);
    expect(await ended(server, await asked(server))).toMatchObject({ status: 'success' });
    expect(vlansOf(found)).toEqual([102, 101]);
  }, 180_000);

  it('and one cannot follow, nothing is switched off', async () => {
    const server = await rented();
    const to = await another(server);
    const found = await plugged(server, to, [101, null]);
    expect(await ended(server, await asked(server))).toMatchObject({
      status: 'error',
      error: { code: 'vlan_stays' },
    });
    expect([vlansOf(found), server.bmc.power]).toEqual([[101, null], 'on']);
    expect((await serverOf(to.id)).state).toBe('ready');
  }, 120_000);
});

describe('a change', () => changes.leaveEntries(() => bed.world.product, ['moveServer']));
