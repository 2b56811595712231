import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { later } from '../../../test/rack/later.ts';
import { type RentedPlayed, rentPlayed } from '../../../test/rack/stocked.ts';
import { settled, sql } from '../../../test/sql.ts';
import { listServerImages } from '../../fleet/index.ts';
import { transaction } from '../../platform/index.ts';
import { ownPassword } from '../credentials/keep.ts';

const changes = watchChanges();

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
const rented = (...kinds: Parameters<typeof rentPlayed>[2][]) => rentPlayed(world, customer, ...kinds);
const serverOf = async (id: number) => (await staff().get(`/staff/servers/${id}`)).body.data.server;
const overview = async ({ path }: RentedPlayed) =>
  (await customer.get(`${path}/overview`)).body.data.dedicated;
const confirm = 'metal1.example.com';
const wanted = { os: 'tiny', password: 'Good-Pass-1', confirm };
const ask = ({ path }: RentedPlayed, body: object = wanted) => customer.post(`${path}/reinstall`, body);

async function asked(server: RentedPlayed, body: object = wanted): Promise<number> {
  const answer = await ask(server, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.action.id;
}

const readAction = async ({ path }: RentedPlayed, id: number) =>
  (await customer.get(`${path}/history/${id}`)).body.data.action;
const ended = (server: RentedPlayed, id: number, timeoutMs = 60_000) =>
  until(
    () => readAction(server, id),
    ({ status }) => status === 'success' || status === 'error',
    timeoutMs,
  );
const jobsOf = (serviceId: number) =>
  sql<{ id: number; state: string; stuck_reason: string | null }>(
    world.product,
    `select id, state, stuck_reason from jobs where name = 'dedicated.reinstall' and payload ->> 'serviceId' = $1::text order by id`,
    serviceId,
  );

/** Waits until a condition is there, and lets so many minutes pass then. */
async function laterThan(minutes: number, ready: () => boolean | Promise<boolean>): Promise<void> {
  await until(async () => ready(), Boolean, 30_000);
  await later(world.product, minutes);
}

const [nvme, hdd] = [
  { kind: 'nvme' as const, bytes: 960_197_124_096 },
  { kind: 'hdd' as const, bytes: 8_000_000_000_000 },
];

describe('a reinstallation', () => {
  it('wipes the disks of its layout and no other, installs, and is done when the server greets', async () => {
    const server = await rented([nvme, nvme, hdd]);
    const [a, b] = server.disks;
    const seen: unknown[] = [];
    server.does = {
      at: async (step) => {
        if (step !== 'write') return;
        server.does = {};
        const { state, locked, current_action: now, actions } = await overview(server);
        seen.push(state, locked, now.command, actions.stop.code, actions.reinstall.code);
        seen.push(actions.console.reason);
        const answers = [await customer.post(`${server.path}/restart`, { force: true }), await ask(server)];
        answers.push(await staff().post(`/staff/servers/${server.id}/stop`, { force: true }));
        seen.push(answers.map(({ status, body }) => [status, body.code]));
        expect(answers[0]?.body.message).toContain('The action reinstall is still running');
        expect(answers[2]?.body.message).toContain('is being reinstalled by its customer');
        expect((await serverOf(server.id)).actions.restart).toMatchObject({ allowed: false, code: 'locked' });
        // How far it has come is read where every action is.
        const action = await until(
          () => readAction(server, now.id),
          ({ progress }) => progress >= 45,
          15_000,
        );
        expect(action.note).toMatch(/^Writing the system/);
      },
    };
    await transaction(world.product.ctx, 'test.make', (tx) =>
      ownPassword(tx, server.serviceId, customer.organizationId),
    );
    const id = await asked(server, { ...wanted, hostname: 'New.example.com' });
    expect(await ended(server, id)).toMatchObject({
      ...{ command: 'reinstall', status: 'success', progress: 100, error: null, note: null },
      initiator: { type: 'api_key' },
    });
    // What its installer called us with is over.
    expect((await server.installer?.call('GET', 'plan'))?.status).toBe(403);
    const locked = [409, 'locked'];
    expect(seen).toEqual([
      ...['reinstalling', true, 'reinstall', 'locked', 'locked'],
      ...[
        'The server is being reinstalled; its console is shown once that is done',
        [locked, locked, locked],
      ],
    ]);
    expect(server.plans[1]).toMatchObject({
      ...{ task: 'install', wipe: [a, b], layout: { kind: 'raid1', serials: [a, b] } },
      identity: {
        ...{ hostname: 'new.example.com', passwordHash: expect.stringMatching(/^\$6\$/), keys: [] },
        ...{ mac: server.mac, addresses: [{ address: server.ip }] },
      },
    });
    expect(server.told).toEqual(['installer', 'disk', 'installer', 'disk']);
    await settled(world.product);
    expect(await overview(server)).toMatchObject({
      ...{
        state: 'running',
        hostname: 'new.example.com',
        os: { slug: 'tiny' },
        locked: false,
        problem: null,
      },
    });
    expect(await serverOf(server.id)).toMatchObject({ state: 'rented', service_id: server.serviceId });
    expect(server.bmc).toMatchObject({ power: 'on', nextBoot: null });
    // What we had made for the system before opens nothing any more.
    const kept = await customer.get(`${server.path}/credentials`);
    expect(kept.body.data).toEqual({ credentials: null });
    // Whom it lets in is known to nobody afterwards, and the next one is confirmed by its new name.
    expect(await sql(world.product, 'select 1 from server_assignments where plan is not null')).toEqual([]);
    expect((await ask(server)).body.details[0]).toMatchObject({ field: 'confirm' });
    const told = await sql<{ action: string }>(
      world.product,
      `select action from journal where subject_type = 'service' and subject_id = $1 and action like 'dedicated.action.%' order by id`,
      server.serviceId,
    );
    expect(told.map(({ action }) => action)).toEqual([
      'dedicated.action.started',
      'dedicated.action.succeeded',
    ]);
  }, 120_000);

  it('goes where its customer says, and gives a password once where there is no other way in', async () => {
    const server = await rented([nvme, nvme, hdd]);
    const [, b, c] = server.disks;
    const first = await ask(server, { os: 'tiny', confirm, disks: { layout: 'single', serials: [c] } });
    expect(first.body.data.password).toMatch(/^\S{20}$/);
    await ended(server, first.body.data.action.id);
    expect(server.plans[1]).toMatchObject({ wipe: [c], layout: { kind: 'single', serials: [c] } });
    await ended(server, await asked(server, { ...wanted, disks: { layout: 'raid1', serials: [c, b] } }));
    expect(server.plans[2]).toMatchObject({ wipe: [c, b], layout: { kind: 'raid1', serials: [c, b] } });
    await ended(server, await asked(server, { ...wanted, disks: { layout: 'single' } }));
    expect(server.plans[3]).toMatchObject({ wipe: [server.disks[0]] });
    const key = await customer.post('/dashboard/account/ssh-keys', { name: 'mine', public_key: publicKey });
    const keyed = await ask(server, { os: 'tiny', confirm });
    expect(keyed.body.data.password).toBeNull();
    await ended(server, keyed.body.data.action.id);
    expect(server.plans[4].identity).toMatchObject({
      ...{ keys: [expect.stringContaining(publicKey.split(' ')[1] ?? '')], passwordHash: null },
    });
    await customer.delete(`/dashboard/account/ssh-keys/${key.body.data.ssh_key.id}`);
  }, 120_000);

  it('goes on although another disk than those of its layout has gone', async () => {
    const server = await rented([nvme, nvme, hdd]);
    server.does = { hasDisks: server.disks.slice(0, 2) };
    expect(await ended(server, await asked(server))).toMatchObject({ status: 'success' });
  }, 90_000);
});

const publicKey = `ssh-ed25519 ${Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from('ssh-ed25519'), Buffer.from([0, 0, 0, 32]), Buffer.alloc(32, 7)]).toString('base64')} mine`;

describe('what cannot be is refused and changes nothing', () => {
  it('with what is wrong, and what there is instead', async () => {
    const server = await rented([nvme, hdd]);
    const [a, b] = server.disks;
    const refused = async (body: object) => {
      const answer = await ask(server, body);
      const [detail] = answer.body.details ?? [];
      return [answer.status, answer.body.code, detail?.field, detail?.message ?? answer.body.message];
    };
    const disks = (layout: string, ...serials: string[]) => ({
      ...wanted,
      disks: { layout, ...(serials.length > 0 && { serials }) },
    });
    const invalid = [400, 'invalid_request'];
    const some = expect.anything();
    expect(await refused({ ...wanted, confirm: 'metal2.example.com' })).toEqual([
      ...[...invalid, 'confirm', expect.stringContaining('metal1.example.com')],
    ]);
    expect(await refused({ ...wanted, os: 'windows' })).toEqual([
      ...[400, 'invalid_configuration', 'os', expect.stringContaining('there are tiny')],
    ]);
    // It can be installed on servers, and is not sold with this one.
    expect((await listServerImages(world.product.ctx)).map(({ slug }) => slug)).toContain('debian');
    expect(await refused({ ...wanted, os: 'debian' })).toEqual([
      ...[
        400,
        'invalid_configuration',
        'os',
        expect.stringMatching(/debian for this server; there are tiny$/),
      ],
    ]);
    expect(await refused(disks('raid1'))).toEqual([
      ...[...invalid, 'disks.layout', expect.stringContaining(`${a} (Disk), ${b} (Disk)`)],
    ]);
    expect(await refused(disks('single', 'ANOTHERS'))).toEqual([
      ...[...invalid, 'disks.serials', expect.stringMatching(/no disk ANOTHERS in this server/)],
    ]);
    expect(await refused(disks('single', a ?? '', b ?? ''))).toEqual([...invalid, 'disks.serials', some]);
    expect(await refused(disks('raid1', a ?? ''))).toEqual([...invalid, 'disks.serials', some]);
    expect(await refused(disks('raid1', a ?? '', a ?? ''))).toEqual([...invalid, 'disks.serials', some]);
    expect((await refused({ ...wanted, ssh_key_ids: [4242] })).slice(0, 3)).toEqual([
      ...[...invalid, 'ssh_key_ids'],
    ]);
    expect((await refused({ ...wanted, password: 'short' }))[1]).toBe('weak_password');
    expect((await refused({ ...wanted, hostname: 'not a name' }))[1]).toBe('invalid_domain');
    expect(await refused({ ...wanted, user_data: '#cloud-config' })).toEqual([
      ...[...invalid, 'user_data', expect.stringContaining('tiny, which has no cloud-init')],
    ]);
    expect((await refused({ os: 'tiny' })).slice(0, 2)).toEqual(invalid);
    expect(await overview(server)).toMatchObject({ state: 'running', locked: false });
    expect([server.wipes, server.bmc.power, await jobsOf(server.serviceId)]).toEqual([1, 'on', []]);
    expect((await customer.get(`${server.path}/history`)).body.data.actions).toEqual([]);
    expect(await world.starts(server.mac)).toContain('sanboot');
  }, 90_000);

  it('of others, of whoever has no right, and of a service that is not active', async () => {
    const server = await rented();
    const [stranger, support, technical] = [
      await newCustomer(world.product),
      await newMember(world.product, customer.organizationId, 'support'),
      await newMember(world.product, customer.organizationId, 'technical'),
    ];
    for (const who of [stranger, support])
      expect((await who.post(`${server.path}/reinstall`, wanted)).status).toBe(403);
    const { actions } = (await support.get(`${server.path}/overview`)).body.data.dedicated;
    expect(actions.reinstall).toMatchObject({ allowed: false, code: 'permission_denied' });
    await staff().post(`/staff/services/${server.serviceId}/suspend`, { reason: 'It attacks others' });
    const suspended = await technical.post(`${server.path}/reinstall`, wanted);
    expect([suspended.status, suspended.body.code]).toEqual([409, 'action_not_allowed']);
    expect(server.wipes).toBe(1);
  }, 90_000);

  it('of several that ask at once, but for one', async () => {
    const server = await rented();
    const answers = await Promise.all([1, 2, 3].map(() => ask(server)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const action = answers.find(({ status }) => status === 200)?.body.data.action;
    expect(await ended(server, action.id)).toMatchObject({ status: 'success' });
    expect(server.wipes).toBe(2);
  }, 90_000);

  it('while staff switches the server', async () => {
    const server = await rented();
    server.bmc.failing.slowMs = 300;
    await staff().post(`/staff/servers/${server.id}/restart`, { force: true });
    const answer = await ask(server);
    expect([answer.status, answer.body.code]).toEqual([409, 'locked']);
    server.bmc.failing = {};
    await settled(world.product);
    expect(server.wipes).toBe(1);
  }, 90_000);
});

describe('one that does not come to its end', () => {
  it('begins anew at the wipe when the power goes in the middle of writing', async () => {
    const server = await rented();
    server.does = {
      at: async (step) => {
        if (step !== 'write') return;
        server.does = {};
        server.cutPower();
      },
    };
    expect(await ended(server, await asked(server))).toMatchObject({ status: 'success' });
    expect([server.told.slice(2), server.wipes]).toEqual([['installer', 'installer', 'disk'], 3]);
  }, 90_000);

  it('because it was called off when it was on the disks already leaves what was installed written down', async () => {
    const server = await rented();
    await sql(
      world.product,
      'update dedicated_systems set hostname = $2 where service_id = $1',
      ...[server.serviceId, 'before.example.com'],
    );
    let id = 0;
    server.does = {
      at: async (step) => {
        if (step !== 'boot') return;
        server.does = {};
        // Its job sees what comes next only once the action has ended.
        await sql(
          world.product,
          `update jobs set run_at = now() + interval '1 hour' where name = 'dedicated.reinstall' and state = 'ready'`,
        );
      },
    };
    const hostname = 'after.example.com';
    id = await asked(server, { ...wanted, hostname, confirm: (await overview(server)).hostname });
    await until(
      () =>
        sql<{ state: string }>(
          world.product,
          'select state from server_assignments where server_id = $1 order by id desc limit 1',
          server.id,
        ),
      ([row]) => row?.state === 'done',
      60_000,
    );
    expect(
      (await staff().post(`/staff/services/${server.serviceId}/suspend`, { reason: 'It attacks others' }))
        .status,
    ).toBe(200);
    expect(await ended(server, id)).toMatchObject({ error: { code: 'called_off' } });
    await sql(
      world.product,
      `update jobs set run_at = now() where name = 'dedicated.reinstall' and state = 'ready'`,
    );
    await until(
      () => jobsOf(server.serviceId),
      (jobs) => jobs.every(({ state }) => state !== 'ready' && state !== 'running'),
      60_000,
    );
    expect(await overview(server)).toMatchObject({ hostname, problem: null });
  }, 120_000);

  it('because its BMC is silent changes nothing, says so, and staff hears of it', async () => {
    const server = await rented();
    server.bmc.failing = { silent: 'before' };
    const action = await ended(server, await asked(server), 90_000);
    expect(action).toMatchObject({ status: 'error', error: { code: 'server_failed' } });
    expect(action.error.message).toMatch(/Nothing was changed on its disks: try again/);
    expect(action.error.message).not.toMatch(/198\.51|bmc/i);
    server.bmc.failing = {};
    await settled(world.product);
    expect(await overview(server)).toMatchObject({ state: 'running', locked: false, problem: null });
    expect((await jobsOf(server.serviceId)).map(({ state }) => state)).toEqual(['failed']);
    expect(server.told).toEqual(['installer', 'disk']);
    expect(await world.starts(server.mac)).toContain('sanboot');
    expect(await ended(server, await asked(server))).toMatchObject({ status: 'success' });
  }, 120_000);

  it('before a disk was touched has the server go on as it was', async () => {
    const server = await rented();
    server.does = { hasDisks: ['X'] };
    const action = await ended(server, await asked(server));
    expect(action.error).toMatchObject({
      code: 'other_disks',
      message: expect.stringMatching(/Nothing was changed/),
    });
    await settled(world.product);
    expect(await overview(server)).toMatchObject({ state: 'running', problem: null });
    expect(server.told.slice(2).filter((each) => each === 'installer')).toHaveLength(1);
    expect([server.told.at(-1), server.wipes, server.bmc.power]).toEqual(['disk', 1, 'on']);
  }, 90_000);

  it('after a disk was touched leaves it off and its customer’s, with what to do, and another one puts it right', async () => {
    const server = await rented();
    server.does = { keeps: server.disks[1] ?? '' };
    const action = await ended(server, await asked(server));
    expect(action.error).toMatchObject({ code: 'disk_not_wiped', message: expect.stringMatching(/is gone/) });
    await settled(world.product);
    expect(await overview(server)).toMatchObject({
      ...{ state: 'error', problem: action.error.message, locked: false },
      actions: { reinstall: { allowed: true }, rescue: { allowed: true }, start: { allowed: true } },
    });
    expect(await serverOf(server.id)).toMatchObject({ state: 'rented', service_id: server.serviceId });
    expect(server.bmc.power).toBe('off');
    const [job] = await jobsOf(server.serviceId);
    expect(job?.state).toBe('failed');
    const started = server.told.length;
    // Staff that has the job tried again touches nothing: its customer may have done something since.
    expect((await staff().post(`/staff/jobs/${job?.id}/retry`)).status).toBe(200);
    await settled(world.product);
    expect([server.told.length, server.bmc.power]).toEqual([started, 'off']);
    server.does = {};
    expect(await ended(server, await asked(server))).toMatchObject({ status: 'success' });
    await settled(world.product);
    expect(await overview(server)).toMatchObject({ state: 'running', problem: null });
  }, 120_000);

  it('that is installed and does not greet stays on, for its customer to look', async () => {
    const server = await rented();
    server.does = { isMute: true };
    const id = await asked(server);
    await laterThan(21, async () => (await readAction(server, id)).progress === 97);
    const action = await ended(server, id);
    expect(action.error).toMatchObject({
      ...{ code: 'server_unfit', message: expect.stringMatching(/does not answer by SSH/) },
    });
    await settled(world.product);
    expect(await overview(server)).toMatchObject({ state: 'running', problem: null });
    expect(server.bmc.power).toBe('on');
  }, 90_000);

  it('is called off by the end of the service, and the server comes back and is wiped whole', async () => {
    for (const at of ['wipe', 'write']) {
      const server = await rented([nvme, nvme, hdd]);
      server.does = {
        at: async (step) => {
          if (!step.startsWith(at)) return;
          server.does = {};
          const cancel = await customer.post(`/dashboard/services/${server.serviceId}/cancel`, {
            type: 'immediate',
          });
          expect(cancel.status, JSON.stringify(cancel.body)).toBe(200);
          // It goes on writing as long as nobody takes its power.
          await new Promise((resolve) => setTimeout(resolve, 1_000));
        },
      };
      const id = await asked(server);
      const back = await until(
        () => serverOf(server.id),
        ({ state }) => /ready|broken|quarantined/.test(state),
        60_000,
      );
      expect(back).toMatchObject({ state: 'ready', service_id: null });
      expect(server.plans.at(-1)).toMatchObject({ task: 'wipe', wipe: server.disks });
      expect([server.bmc.power, await readAction(server, id)]).toMatchObject(['off', { status: 'error' }]);
      expect((await jobsOf(server.serviceId)).map(({ state }) => state)).toEqual(['done']);
    }
  }, 180_000);
});

describe('what succeeded stays', () => {
  it('however often the job is lost in the middle of its steps, as when its process dies', async () => {
    const server = await rented();
    const lost = new Set<number>();
    // Whatever the step has done outside by now stands, and nobody remembers it.
    const lose = setInterval(async () => {
      const [at] = await sql<{ id: number; steps: number }>(
        world.product,
        `select j.id, (select count(*)::int from job_steps s where s.job_id = j.id) as steps from jobs j
         where j.name = 'dedicated.reinstall' and j.state = 'running'`,
      ).catch(() => []);
      if (at === undefined || lost.has(at.steps)) return;
      lost.add(at.steps);
      await sql(world.product, `update jobs set state = 'ready', worker = null where id = $1`, at.id);
    }, 5);
    try {
      expect(await ended(server, await asked(server))).toMatchObject({ status: 'success' });
    } finally {
      clearInterval(lose);
    }
    expect(lost.size).toBeGreaterThanOrEqual(4);
    expect(server.told.slice(2).filter((each) => each === 'disk')).toEqual(['disk']);
    const works = await sql(
      world.product,
      `select state from server_assignments where server_id = $1 and wipe is not null`,
      server.id,
    );
    expect(works).toEqual([{ state: 'done' }]);
  }, 90_000);

  it('and after a restore a server that is on is wiped neither by a job of before nor by a request', async () => {
    const server = await rented();
    server.does = { startsNothing: true };
    const id = await asked(server);
    await until(
      () => readAction(server, id),
      ({ progress }) => progress === 10,
      30_000,
    );
    // As a restore does with what is open, and somebody has it go on.
    await sql(
      world.product,
      `insert into restores (made_at, restored_at, settled_at, released_at)
       select opened_at, opened_at, opened_at, opened_at from server_assignments where server_id = $1 and wipe is not null`,
      server.id,
    );
    const [job] = await jobsOf(server.serviceId);
    await sql(world.product, 'update jobs set held_at = now() where id = $1', job?.id);
    await until(
      () => jobsOf(server.serviceId),
      ([each]) => each?.state === 'stuck',
      60_000,
    );
    expect(await readAction(server, id)).toMatchObject({ status: 'error' });
    expect([server.bmc.power, server.wipes, await world.starts(server.mac)]).toEqual([
      ...['on', 1, expect.stringContaining('sanboot')],
    ]);
    // What it was is asked for anew, and refused while it is on.
    server.does = {};
    const refused = await ended(server, await asked(server));
    expect(refused.error).toMatchObject({
      code: 'restored_since',
      message: expect.stringMatching(/stop it/),
    });
    expect([server.bmc.power, server.wipes]).toEqual(['on', 1]);
    await settled(world.product);
    await ended(server, (await customer.post(`${server.path}/stop`, { force: true })).body.data.action.id);
    expect(await ended(server, await asked(server))).toMatchObject({ status: 'success' });
    await sql(world.product, 'delete from restores');
  }, 120_000);
});

describe('a change', () => changes.leaveEntries(() => world.product, ['reinstallDedicatedServer']));
