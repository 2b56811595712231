import { describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { switchedBed } from '../../../test/rack/switched.ts';
import { sql } from '../../../test/sql.ts';

const bed = switchedBed();
const { newServer, serverOf: server, ask } = bed;
/** When nothing is done with its power any more. */
const atRest = (id: number, timeoutMs?: number) =>
  until(
    () => server(id),
    (now) => now.bmc.action === null,
    timeoutMs,
  );
const told = async (id: number) =>
  (
    await sql<{ action: string }>(
      bed.product,
      `select action from journal where subject_type = 'server' and subject_id = $1 and action like 'server.power%' order by id`,
      String(id),
    )
  ).map(({ action }) => action);

describe('the power of a server, switched by staff', () => {
  it('goes on, begins anew and goes off, and each is on the record', async () => {
    const { id, bmc } = await newServer();
    const asked = await ask(id, 'start');
    expect(asked.body.data.server.bmc).toMatchObject({ action: 'start', action_since: expect.any(String) });
    expect((await atRest(id)).bmc).toMatchObject({ power: 'on', action_problem: null });
    expect(bmc).toMatchObject({ power: 'on', starts: ['disk'] });
    await ask(id, 'restart');
    expect((await atRest(id)).bmc.power).toBe('on');
    expect(bmc.starts).toHaveLength(2);
    await ask(id, 'stop');
    expect((await atRest(id)).bmc.power).toBe('off');
    expect(bmc.power).toBe('off');
    const each = ['server.power_asked', 'server.power_changed'];
    expect(await told(id)).toEqual([...each, ...each, ...each]);
  });

  it('is pressed once of two that ask at once: the other is told that it is locked', async () => {
    const { id, bmc } = await newServer();
    bmc.failing.slowMs = 300;
    const answers = await Promise.all([ask(id, 'start'), ask(id, 'start'), ask(id, 'stop')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    for (const { status, body } of answers)
      if (status === 409)
        expect(body).toMatchObject({ code: 'locked', message: expect.stringContaining('right now') });
    // What is wanted of its BMC meanwhile would end in the midst of it.
    expect((await bed.product.staff.patch(`/staff/servers/${id}`, { bmc: null })).status).toBe(409);
    expect((await ask(id, 'retire')).status).toBe(409);
    await atRest(id);
    expect(bmc.starts.length).toBeLessThanOrEqual(1);
  });

  it('ends in words where its BMC is silent, lets nobody in, or says yes and does nothing', async () => {
    const [silent, liar, closed] = [await newServer(), await newServer(), await newServer()];
    silent.bmc.failing.silent = 'before';
    liar.bmc.failing.saysYes = true;
    const [account] = closed.bmc.accounts;
    if (account !== undefined) account.password = 'another-one-1';
    const all = [silent, liar, closed];
    for (const { id } of all) await ask(id, 'start');
    const problems = await Promise.all(
      all.map(async ({ id }) => (await atRest(id, 90_000)).bmc.action_problem),
    );
    expect(problems[0]).toMatch(/answer/i);
    expect(problems[1]).toMatch(/is not/);
    expect(problems[2]).toMatch(/sign|let/i);
    expect(JSON.stringify(problems)).not.toContain('factory-1');
    for (const { id, bmc } of all) {
      expect(bmc.power).toBe('off');
      expect(await told(id)).toEqual(['server.power_asked', 'server.power_failed']);
    }
    expect(JSON.stringify((await bed.product.staff.get('/staff/attention')).body)).not.toContain(
      'switchServer',
    );
  }, 120_000);

  it('is taken away with force where a system does not follow its button, which is said first', async () => {
    const { id, bmc } = await newServer();
    bmc.power = 'on';
    bmc.failing.ignoresButton = true;
    await ask(id, 'stop', { force: true });
    expect((await atRest(id)).bmc).toMatchObject({ power: 'off', action_problem: null });
    expect(bmc.power).toBe('off');
  });

  it('is refused of one that has no BMC, and of one that an order has', async () => {
    const added = await bed.product.staff.post('/staff/servers', { name: 'bare', serial: 'B/1' });
    const bare = await ask(added.body.data.server.id, 'start');
    expect(bare).toMatchObject({ status: 409, body: { message: expect.stringContaining('no BMC') } });
    const { id } = await newServer();
    await sql(bed.product, `update servers set state = 'held' where id = $1`, String(id));
    expect((await ask(id, 'stop', { force: true })).status).toBe(409);
    expect((await server(id)).actions.stop).toMatchObject({ allowed: false, code: 'conflict' });
  });

  it('refuses what it does not know, and changes nothing', async () => {
    const { id } = await newServer();
    expect((await ask(id, 'stop', { force: 'yes' })).status).toBe(400);
    expect((await ask(id, 'stop', { hard: true })).status).toBe(400);
    expect((await ask(4503599627379999, 'start')).status).toBe(404);
    expect((await server(id)).bmc.action).toBeNull();
  });
});

describe('what a BMC measures and has noted', () => {
  const readings = async (id: number) =>
    (await bed.product.staff.get(`/staff/servers/${id}/readings`)).body.data.readings;
  const concerns = async () => JSON.stringify((await bed.product.staff.get('/staff/attention')).body.data);

  it('is read in the background, and anew when staff asks', async () => {
    const { id, bmc } = await newServer();
    expect(await readings(id)).toEqual({
      read_at: null,
      asked_at: null,
      problem: null,
      sensors: [],
      events: [],
    });
    await bed.product.periodic('fleet.askBmcs');
    await until(
      () => server(id),
      (now) => now.bmc.heard_at !== null,
    );
    await bed.product.periodic('fleet.readBmcs');
    const first = await until(
      () => readings(id),
      (now) => now.read_at !== null,
    );
    expect(first.sensors).toEqual(bmc.sensors);
    bmc.events.push({ id: '7', at: new Date('2026-01-31T21:02:11Z'), subject: 'Fan 1', message: 'Slow' });
    bed.product.clock.travel(1_000);
    expect((await bed.product.staff.post(`/staff/servers/${id}/readings`)).status).toBe(200);
    const second = await until(
      () => readings(id),
      (now) => now.events.length > 0,
    );
    expect(second.events).toEqual([
      { id: '7', at: '2026-01-31T21:02:11.000Z', subject: 'Fan 1', message: 'Slow' },
    ]);
  });

  it('stays as it was read last where it cannot be read, and what is beyond its limits needs a person', async () => {
    const { id, name, bmc } = await newServer();
    const [sensor] = bmc.sensors;
    if (sensor !== undefined) bmc.sensors = [{ ...sensor, value: 150, state: 'critical' }];
    await bed.product.staff.post(`/staff/servers/${id}/readings`);
    await until(
      () => readings(id),
      (now) => now.read_at !== null,
    );
    expect(await concerns()).toContain(`${name}: CPU Temp at 150 celsius`);
    bmc.failing.silent = 'before';
    await bed.product.staff.post(`/staff/servers/${id}/readings`);
    const silent = await until(
      () => readings(id),
      (now) => now.problem !== null,
      100_000,
    );
    expect(silent.sensors).toHaveLength(1);
    bmc.failing = {};
    bmc.sensors = [];
    await bed.product.staff.post(`/staff/servers/${id}/readings`);
    await until(
      () => readings(id),
      (now) => now.problem === null,
    );
    expect(await concerns()).not.toContain(`${name}: CPU Temp`);
  }, 150_000);

  it('is forgotten with the BMC that said it', async () => {
    const { id } = await newServer();
    await bed.product.staff.post(`/staff/servers/${id}/readings`);
    await until(
      () => readings(id),
      (now) => now.read_at !== null,
    );
    await bed.product.staff.patch(`/staff/servers/${id}`, { bmc: null });
    expect(await readings(id)).toMatchObject({ read_at: null, sensors: [] });
    expect((await bed.product.staff.post(`/staff/servers/${id}/readings`)).status).toBe(409);
  });
});
