import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { later } from '../../../test/rack/later.ts';
import { type RentedPlayed, rentPlayed } from '../../../test/rack/stocked.ts';
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
const overview = async ({ path }: RentedPlayed) =>
  (await customer.get(`${path}/overview`)).body.data.dedicated;
const ask = ({ path }: RentedPlayed, body: object) => customer.post(`${path}/rescue`, body);
const on = { enabled: true, password: 'Good-Pass-1' };
async function asked(server: RentedPlayed, body: object): Promise<number> {
  const answer = await ask(server, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.action.id;
}
const readAction = async ({ path }: RentedPlayed, id: number) =>
  (await customer.get(`${path}/history/${id}`)).body.data.action;
const over = (server: RentedPlayed, id: number) =>
  until(
    () => readAction(server, id),
    ({ status }) => status === 'success' || status === 'error',
    60_000,
  );
/** The same, and its BMC was asked how it is by now. */
async function ended(server: RentedPlayed, id: number) {
  const action = await over(server, id);
  await settled(world.product);
  return action;
}

/** A server whose customer has it in the rescue system. */
async function inRescue(): Promise<RentedPlayed> {
  const server = await rentPlayed(world, customer);
  expect(await ended(server, await asked(server, on))).toMatchObject({ status: 'success' });
  expect(await overview(server)).toMatchObject({ state: 'rescue' });
  return server;
}

describe('the rescue system', () => {
  it('starts with its customer’s key at the server’s address, touches no disk, and goes again', async () => {
    const server = await rentPlayed(world, customer);
    const answer = await ask(server, { enabled: true });
    const { action, password } = answer.body.data;
    expect(password).toMatch(/^\S{20}$/);
    const seen = await overview(server);
    expect(seen).toMatchObject({ state: 'restarting', locked: true, current_action: { command: 'rescue' } });
    const staffs = await staff().post(`/staff/servers/${server.id}/restart`, { force: true });
    expect([staffs.status, staffs.body.code]).toEqual([409, 'locked']);
    expect(await ended(server, action.id)).toMatchObject({ status: 'success', progress: 100, note: null });
    expect(await overview(server)).toMatchObject({
      ...{ state: 'rescue', locked: false, os: { slug: 'tiny' } },
      actions: { restart: { allowed: true }, rescue_off: { allowed: true }, reinstall: { allowed: true } },
    });
    expect(server.plans[1]).toEqual({
      ...{ task: 'rescue', hostname: 'metal1.example.com', keys: [], mac: server.mac },
      passwordHash: expect.stringMatching(/^\$6\$/),
      addresses: [expect.objectContaining({ family: 4, address: server.ip })],
      nameservers: ['9.9.9.9', '149.112.112.112', '2620:fe::fe'],
    });
    expect(JSON.stringify((await customer.get(`${server.path}/history`)).body)).not.toContain(password);
    // Whoever is root there says what they like in its name.
    const made = { method: 'ata', marks: 1, marks_left: 0, not_zero: 0, seconds: 1, tried: [], drive: {} };
    for (const serial of [...server.disks, 'made-up'])
      await server.installer?.call('POST', 'report', { kind: 'wiped', serial, bytes: 1, ...made });
    expect(
      await sql(
        world.product,
        `select erasures from server_assignments where server_id = $1 and kind = 'rescue'`,
        server.id,
      ),
    ).toEqual([{ erasures: {} }]);
    expect([server.wipes, world.greets.has(server.ip)]).toEqual([1, true]);

    expect(await ended(server, await asked(server, { enabled: false }))).toMatchObject({
      ...{ command: 'rescue_off', status: 'success' },
    });
    expect(await overview(server)).toMatchObject({
      state: 'running',
      actions: { rescue_off: { allowed: false } },
    });
    await expect.poll(() => server.told).toEqual(['installer', 'disk', 'installer', 'disk']);
    expect(server.wipes).toBe(1);
    // Whom it let in is known to nobody afterwards.
    expect(await sql(world.product, 'select 1 from server_assignments where plan is not null')).toEqual([]);
  }, 90_000);

  it('comes again however the server is started anew, proved each time', async () => {
    const server = await inRescue();
    const back = (times: number) =>
      until(
        async () => server.plans.filter(({ task }) => task === 'rescue').length,
        (found) => found === times,
        60_000,
      );
    server.reboot();
    await back(2);
    await ended(server, (await customer.post(`${server.path}/restart`, { force: true })).body.data.action.id);
    await back(3);
    await ended(server, (await customer.post(`${server.path}/stop`, { force: true })).body.data.action.id);
    expect(await overview(server)).toMatchObject({
      state: 'stopped',
      actions: { rescue_off: { allowed: true } },
    });
    await ended(server, (await customer.post(`${server.path}/start`)).body.data.action.id);
    await back(4);
    expect(await overview(server)).toMatchObject({ state: 'rescue' });
    // Who copies its MAC is told nothing, and takes nothing from it.
    const stranger = world.installer(await world.starts(server.mac));
    await stranger.claim();
    await stranger.tells({ mac: server.mac, disks: server.disks });
    expect([await stranger.plan(), (await overview(server)).state]).toEqual([{ task: 'wait' }, 'rescue']);
    await ended(server, await asked(server, { enabled: false }));
    await expect.poll(() => server.told.at(-1)).toBe('disk');
    expect(server.wipes).toBe(1);
  }, 120_000);

  it('is taken anew with another password, and left for a reinstallation', async () => {
    const server = await inRescue();
    await ended(server, await asked(server, on));
    const [, first, second] = server.plans;
    expect(second.passwordHash).not.toBe(first.passwordHash);
    const body = { os: 'tiny', password: 'Good-Pass-1', confirm: 'metal1.example.com' };
    const again = await customer.post(`${server.path}/reinstall`, body);
    expect(await ended(server, again.body.data.action.id)).toMatchObject({ status: 'success' });
    expect(await overview(server)).toMatchObject({ state: 'running' });
    expect(server.told.at(-1)).toBe('disk');
  }, 90_000);

  it('is left by a server whose service ends, which is wiped', async () => {
    const server = await inRescue();
    await customer.post(`/dashboard/services/${server.serviceId}/cancel`, { type: 'immediate' });
    const back = await until(
      async () => (await staff().get(`/staff/servers/${server.id}`)).body.data.server,
      ({ state }) => /ready|broken|quarantined/.test(state),
      60_000,
    );
    expect(back).toMatchObject({ state: 'ready', service_id: null });
    expect(server.plans.at(-1)).toMatchObject({ task: 'wipe', wipe: server.disks });
  }, 90_000);
});

describe('what cannot be', () => {
  it('is refused, and nothing is switched', async () => {
    const server = await rentPlayed(world, customer);
    const refused = async (body: object, who: Person = customer) => {
      const answer = await who.post(`${server.path}/rescue`, body);
      return [answer.status, answer.body.code];
    };
    expect(await refused({ enabled: false })).toEqual([409, 'action_not_allowed']);
    expect(await refused({})).toEqual([400, 'invalid_request']);
    expect(await refused({ enabled: true, ssh_key_ids: [4242] })).toEqual([400, 'invalid_request']);
    expect(await refused({ enabled: true, password: 'short' })).toEqual([400, 'weak_password']);
    expect(await refused({ enabled: false, password: 'Good-Pass-1' })).toEqual([400, 'invalid_request']);
    expect(await refused({ enabled: true, user_data: 'x' })).toEqual([400, 'invalid_request']);
    for (const role of ['support', 'viewer'] as const)
      expect((await refused(on, await newMember(world.product, customer.organizationId, role)))[0]).toBe(403);
    expect((await refused(on, await newCustomer(world.product)))[0]).toBe(403);
    expect(server.bmc).toMatchObject({ power: 'on', starts: ['network'] });
    expect(await overview(server)).toMatchObject({ state: 'running', locked: false });
  }, 90_000);

  it('ends in words, and the server runs as it did: when it starts nothing, and when its BMC is silent', async () => {
    const server = await rentPlayed(world, customer);
    server.bmc.failing = { silent: 'before' };
    const silent = await over(server, await asked(server, on));
    expect(silent).toMatchObject({ status: 'error', error: { code: 'server_failed' } });
    expect(silent.error.message).toMatch(/Its disks are as they were/);
    server.bmc.failing = {};
    server.does = { prints: 'f'.repeat(32) };
    const id = await asked(server, on);
    for (const times of [2, 3]) {
      await until(
        async () => server.told.filter((each) => each === 'installer').length,
        (found) => found === times,
        90_000,
      );
      await later(world.product, 21);
    }
    const action = await ended(server, id);
    expect(action).toMatchObject({ status: 'error', error: { code: 'server_silent' } });
    server.does = {};
    expect(await overview(server)).toMatchObject({ state: 'running', locked: false, problem: null });
    expect([server.told.at(-1), server.bmc.power, server.plans.length]).toEqual(['disk', 'on', 1]);
  }, 180_000);
});

it('a rescue system that starts again before its job has ended is proved', async () => {
  const server = await rentPlayed(world, customer);
  server.does = {
    at: async (step) => {
      if (step !== 'rescue' || server.plans.length !== 2) return;
      // It says that it is there, and does not come to greet.
      await server.installer?.call('POST', 'report', { kind: 'done' });
      setTimeout(() => server.reboot(), 500);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    },
  };
  expect(await ended(server, await asked(server, on))).toMatchObject({ status: 'success' });
  expect(server.plans.filter(({ task }) => task === 'rescue')).toHaveLength(2);
  expect(await overview(server)).toMatchObject({ state: 'rescue' });
}, 90_000);

/** All that there is of the server is of a backup that came back; whether a person has compared, and released it. */
async function restored({ id }: RentedPlayed, isReleased: boolean): Promise<void> {
  await sql(world.product, 'delete from restores');
  await sql(
    world.product,
    `insert into restores (made_at, restored_at, settled_at, released_at)
     select state_since, state_since, state_since, case when $2 then state_since end from servers where id = $1`,
    ...[id, isReleased],
  );
}

it('after a restore nobody is let at the disks of a server that is on: it may be somebody else’s since', async () => {
  const server = await rentPlayed(world, customer);
  await restored(server, true);
  const starts = server.bmc.starts.length;
  const refused = await ended(server, await asked(server, on));
  expect(refused.error).toMatchObject({ code: 'restored_since', message: expect.stringMatching(/stop it/) });
  expect([server.bmc.power, server.bmc.starts.length]).toEqual(['on', starts]);
  await ended(server, (await customer.post(`${server.path}/stop`, { force: true })).body.data.action.id);
  expect(await ended(server, await asked(server, on))).toMatchObject({ status: 'success' });
  await sql(world.product, 'delete from restores');
}, 90_000);

it('after a restore the rescue system is not turned off where that takes the power of a server that is on, or before somebody has compared', async () => {
  const server = await inRescue();
  await restored(server, true);
  const starts = server.bmc.starts.length;
  const off = { enabled: false };
  const refused = await ended(server, await asked(server, off));
  expect(refused.error).toMatchObject({ code: 'restored_since', message: expect.stringMatching(/stop it/) });
  expect([server.bmc.power, server.bmc.starts.length]).toEqual(['on', starts]);
  await ended(server, (await customer.post(`${server.path}/stop`, { force: true })).body.data.action.id);

  await restored(server, false);
  const id = await asked(server, off);
  const isWaiting = `select 1 from jobs where name = 'dedicated.rescueOff' and error_code = 'restore_held' and payload ->> 'actionId' = $1::text`;
  await until(
    () => sql(world.product, isWaiting, id),
    ([job]) => job !== undefined,
    30_000,
  );
  expect(server.bmc).toMatchObject({ power: 'off', starts: { length: starts } });
  await sql(world.product, 'update restores set released_at = restored_at');
  expect(await ended(server, id)).toMatchObject({ status: 'success' });
  expect(server.bmc.power).toBe('on');
  await sql(world.product, 'delete from restores');
}, 90_000);

it('whoever claims starts of a server in the rescue system takes its serial line from its customer for no longer than it is listened to', async () => {
  const server = await inRescue();
  const mayLook = async () => (await overview(server)).actions.console.allowed;
  const again = () => until(mayLook, Boolean, 60_000);
  const stranger = async (remote: string) => world.installer(await world.starts(server.mac, remote));
  expect(await mayLook()).toBe(true);
  const one = await stranger('127.9.9.1');
  expect(await one.claim()).toBe(200);
  expect(await mayLook()).toBe(false);
  await one.tells({ mac: server.mac, disks: server.disks });
  await again();
  // Once more from there is not listened to for a while.
  expect([(await one.call('GET', 'plan')).status, await (await stranger('127.9.9.1')).claim()]).toEqual([
    403, 403,
  ]);
  expect(await mayLook()).toBe(true);
  // The server itself asks from where nobody is doubted.
  const plans = server.plans.length;
  server.reboot();
  await until(
    async () => server.plans.length,
    (found) => found === plans + 1,
    30_000,
  );
  // One that says nothing is waited for as long as the largest server takes.
  const [two, silent] = [await stranger('127.9.9.2'), await stranger('127.9.9.3')];
  expect([await two.claim(), await silent.claim(), await mayLook()]).toEqual([200, 200, false]);
  await two.tells({ mac: server.mac, disks: server.disks });
  world.product.clock.travel(4 * 60_000);
  await again();
  expect(await (await stranger('127.9.9.4')).claim()).toBe(403);
  world.product.clock.travel(11 * 60_000);
  expect(await (await stranger('127.9.9.4')).claim()).toBe(200);
  world.product.clock.travel(4 * 60_000);
  await again();
}, 180_000);

describe('what succeeded stays', () => {
  it.each([['dedicated.rescue', true] as const, ['dedicated.rescueOff', false] as const])(
    'however often %s is lost in the middle of its steps',
    async (name, enabled) => {
      const server = enabled ? await rentPlayed(world, customer) : await inRescue();
      const lost = new Set<number>();
      const lose = setInterval(async () => {
        const [at] = await sql<{ id: number; steps: number }>(
          world.product,
          `select j.id, (select count(*)::int from job_steps s where s.job_id = j.id) as steps from jobs j
           where j.name = $1 and j.state = 'running'`,
          name,
        ).catch(() => []);
        if (at === undefined || lost.has(at.steps)) return;
        lost.add(at.steps);
        await sql(world.product, `update jobs set state = 'ready', worker = null where id = $1`, at.id);
      }, 5);
      try {
        const body = enabled ? on : { enabled };
        expect(await ended(server, await asked(server, body))).toMatchObject({ status: 'success' });
      } finally {
        clearInterval(lose);
      }
      expect(lost.size).toBeGreaterThanOrEqual(1);
      expect(await overview(server)).toMatchObject({ state: enabled ? 'rescue' : 'running' });
      expect(server.wipes).toBe(1);
    },
    90_000,
  );
});

describe('a change', () => changes.leaveEntries(() => world.product, ['rescueDedicatedServer']));
