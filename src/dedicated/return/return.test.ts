import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { later } from '../../../test/rack/later.ts';
import { printedProof, requireSigned } from '../../../test/rack/proofs.ts';
import { deliveredTo, orderDedicated, type RentedPlayed, rentPlayed } from '../../../test/rack/stocked.ts';
import { settled, sql } from '../../../test/sql.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
const serverOf = async (id: number) => (await staff().get(`/staff/servers/${id}`)).body.data.server;
const erasure = (id: number, who = customer) => who.get(`/dashboard/service/${id}/dedicated/erasure`);
const overview = async (id: number) =>
  (await customer.get(`/dashboard/service/${id}/dedicated/overview`)).body.data.dedicated;
const jobsOf = (id: number) =>
  sql<{ state: string; stuck_reason: string | null; error_message: string | null }>(
    world.product,
    `select state, stuck_reason, error_message from jobs where name = 'dedicated.return' and payload ->> 'serviceId' = $1::text`,
    id,
  );
const delivered = (id: number, who = customer) => deliveredTo(who, id);
const became = (id: number, states: RegExp, timeoutMs = 60_000) =>
  until(
    () => serverOf(id),
    ({ state }) => states.test(state),
    timeoutMs,
  );

type Delivered = RentedPlayed;
const rented = () => rentPlayed(world, customer);

async function cancel(id: number): Promise<void> {
  const answer = await customer.post(`/dashboard/services/${id}/cancel`, { type: 'immediate' });
  expect(answer.status, answer.body.message).toBe(200);
}

/** Waits until a condition is there, and lets so many minutes pass then. */
async function laterThan(minutes: number, ready: () => boolean | Promise<boolean>): Promise<void> {
  await until(async () => ready(), Boolean, 30_000);
  await later(world.product, minutes);
}

const addressAt = async (ip: string) =>
  (await sql<{ state: string }>(world.product, 'select state from addresses where host(address) = $1', ip))[0]
    ?.state;

describe('a server whose service has ended', () => {
  it('is wiped, is in stock again with the proof, and somebody else can order it', async () => {
    const server = await rented();
    const { serviceId, id } = server;
    const early = await erasure(serviceId);
    expect([early.status, early.body.code]).toEqual([409, 'conflict']);
    expect(early.body.message).toMatch(/active.*when the service has ended/);

    const meanwhile: unknown[] = [];
    server.does = {
      at: async () => {
        server.does = {};
        const { state, service_id: of, actions } = await serverOf(id);
        const { state: seen } = await overview(serviceId);
        meanwhile.push(state, of, actions.start.allowed, actions.quarantine.allowed, seen);
        meanwhile.push((await erasure(serviceId)).body.message, await addressAt(server.ip));
      },
    };
    await cancel(serviceId);
    expect(await became(id, /ready|broken|quarantined/)).toMatchObject({ state: 'ready', service_id: null });
    expect(meanwhile).toEqual([
      ...['returning', serviceId, false, false, 'returning'],
      ...[expect.stringMatching(/are being wiped/), 'taken'],
    ]);
    expect(server.told).toEqual(['installer', 'disk', 'installer', 'disk']);
    expect([server.wipes, server.bmc.power, server.bmc.nextBoot]).toEqual([2, 'off', null]);
    expect(await addressAt(server.ip)).toBe('resting');
    expect(await world.starts(server.mac)).toContain('sanboot');

    const { body } = await erasure(serviceId);
    expect(body.data.erasure).toMatchObject({
      ...{
        service_id: serviceId,
        hostname: 'metal1.example.com',
        system: { serial: `serial of ${server.name}` },
      },
      disks: ['A', 'B'].map((each) => ({
        ...{ serial: `${server.name}-${each}`, model: 'Disk', bytes: 100, method: 'overwrite', seconds: 1 },
        ...{
          marks: 4,
          marks_left: 0,
          not_zero: 0,
          began_at: expect.any(String),
          ended_at: expect.any(String),
        },
        ...{ tried: [{ method: 'overwrite', exit: 0, log: '' }], drive_status: 'passed' },
      })),
    });
    await requireSigned(world.product, body.data);
    const paper = await printedProof(world.product, customer, serviceId, body.data.signature.jws);
    expect(paper).toMatch(/P-\d+-A[\s\S]*overwritten with zeros \(overwrite\)/);
    // Nobody has to do anything by hand, and nobody is called.
    const tasks = await sql(world.product, 'select task from service_tasks where service_id = $1', serviceId);
    expect(tasks).toEqual([]);
    expect((await jobsOf(serviceId)).map(({ state }) => state)).toEqual(['done']);

    const other = await newCustomer(world.product, { creditMinor: 1_000_000 });
    const order = await orderDedicated(other, server.productId);
    const again = await delivered(order.serviceId, other);
    expect([again.status, again.primary_ip === server.ip]).toEqual(['active', false]);
    expect(await serverOf(id)).toMatchObject({ state: 'rented', service_id: order.serviceId });
    // What it was is still what the first customer reads, and it is nobody else's to read.
    expect((await erasure(serviceId)).body).toEqual(body);
    expect((await erasure(order.serviceId, other)).status).toBe(409);
    expect((await erasure(serviceId, other)).status).toBe(403);
    const viewer = await newMember(world.product, customer.organizationId, 'viewer');
    expect((await erasure(serviceId, viewer)).status).toBe(200);
  }, 120_000);

  it('says nothing of the proof to whoever had its serial line open, also in a process that hears of nothing', async () => {
    const server = await rented();
    // As a process of ours has it that stands still: nobody but the BMC ends it.
    const viewer = server.bmc.line.open();
    let read = '';
    viewer.on('data', (chunk: Buffer) => {
      read += String(chunk);
    });
    const ended = new Promise<Error>((resolve) => viewer.once('error', resolve));
    let wasOpen: boolean | null = null;
    const { changed } = server.bmc;
    server.bmc.changed = (power, from) => {
      if (power === 'on') wasOpen ??= !viewer.destroyed;
      changed?.(power, from);
    };
    await cancel(server.serviceId);
    expect(await ended).toMatchObject({ code: 'serial_taken' });
    expect(await became(server.id, /ready|broken|quarantined/)).toMatchObject({ state: 'ready' });
    expect([wasOpen, read]).toEqual([false, '']);
  }, 90_000);

  it('is wiped as well when staff ends it while it is suspended, and when its power is switched right then', async () => {
    const { id, serviceId, bmc } = await rented();
    await staff().post(`/staff/services/${serviceId}/suspend`, { reason: 'It attacks others' });
    await settled(world.product);
    bmc.failing = { slowMs: 300 };
    await staff().post(`/staff/servers/${id}/restart`, { force: true });
    const ended = await staff().post(`/staff/services/${serviceId}/terminate`, { reason: 'It goes on' });
    expect(ended.status, JSON.stringify(ended.body)).toBe(200);
    const twice = await staff().post(`/staff/services/${serviceId}/terminate`, { reason: 'It goes on' });
    expect([twice.status, twice.body.code]).toEqual([409, 'conflict']);
    expect(await became(id, /ready|broken|quarantined/)).toMatchObject({ state: 'ready' });
    expect((await erasure(serviceId)).status).toBe(200);
  }, 90_000);
});

describe('a server that comes back and cannot be wiped is never in stock, and is free of its service', () => {
  it('when a disk refuses: it is broken, by its serial', async () => {
    const server = await rented();
    const { id, serviceId } = server;
    const kept = `${server.name}-B`;
    server.does = { keeps: kept };
    await cancel(serviceId);
    expect(await became(id, /ready|broken|quarantined/)).toMatchObject({
      ...{ state: 'broken', service_id: null },
      reason: expect.stringContaining(`the disk ${kept} could not be wiped`),
    });
    expect(server.bmc.power).toBe('off');
    expect(await addressAt(server.ip)).toBe('resting');
    const { status, body } = await erasure(serviceId);
    expect([status, body.code]).toEqual([409, 'conflict']);
    expect(body.message).toContain(`(${kept})`);
    const order = await customer.post('/cart/checkout/invoice', {
      products: [
        {
          ...{ id: server.productId, cycle: 'monthly', type: 'Hosting' },
          options: { option4: 1, option6: 'tiny', domain: 'metal2.example.com', password: 'Good-Pass-1' },
        },
      ],
    });
    expect([order.status, order.body.code]).toEqual([400, 'insufficient_stock']);
    expect((await jobsOf(serviceId)).map(({ state }) => state)).toEqual(['done']);
  }, 90_000);

  it('when it says that it is done, and of no disk that it was wiped', async () => {
    const server = await rented();
    server.does = { lies: true };
    await cancel(server.serviceId);
    expect(await became(server.id, /ready|broken|quarantined/)).toMatchObject({
      ...{ state: 'broken', reason: expect.stringMatching(/not shown to be wiped: P-\d+-A, P-\d+-B/) },
    });
  }, 90_000);

  it('when it does not come: it is in quarantine, and waits to be looked at once staff releases it', async () => {
    const server = await rented();
    const { id, serviceId } = server;
    server.does = { startsNothing: true };
    await cancel(serviceId);
    await laterThan(21, () => server.bmc.starts.length === 2);
    await laterThan(21, () => server.bmc.starts.length === 3);
    expect(await became(id, /ready|broken|quarantined/)).toMatchObject({
      ...{ state: 'quarantined', service_id: null },
      reason: expect.stringMatching(/did not start our installer/),
    });
    expect(server.bmc.power).toBe('off');
    expect((await erasure(serviceId)).body.message).toMatch(/could not be wiped yet/);
    expect((await staff().post(`/staff/servers/${id}/release`)).body.data.server.state).toBe('waiting');
  }, 90_000);
});

describe('what succeeded stays', () => {
  it('however often the job is lost in the middle of its steps, as when its process dies', async () => {
    const { id, serviceId, told } = await rented();
    const lost = new Set<number>();
    // Whatever the step has done outside by now stands, and nobody remembers it.
    const lose = setInterval(async () => {
      const [at] = await sql<{ id: number; steps: number }>(
        world.product,
        `select j.id, (select count(*)::int from job_steps s where s.job_id = j.id) as steps from jobs j
         where j.name = 'dedicated.return' and j.state = 'running'`,
      ).catch(() => []);
      if (at === undefined || lost.has(at.steps)) return;
      lost.add(at.steps);
      await sql(world.product, `update jobs set state = 'ready', worker = null where id = $1`, at.id);
    }, 5);
    try {
      await cancel(serviceId);
      expect(await became(id, /ready|broken|quarantined/)).toMatchObject({ state: 'ready' });
    } finally {
      clearInterval(lose);
    }
    expect(lost.size).toBeGreaterThanOrEqual(2);
    expect(told.at(-1)).toBe('disk');
    const works = await sql(
      world.product,
      `select state from server_assignments where server_id = $1 and kind = 'wipe'`,
      id,
    );
    expect(works).toEqual([{ state: 'done' }]);
  }, 90_000);

  it('and after a restore of the database a server that is on is left alone: it may be another customer’s by now', async () => {
    const server = await rented();
    const { id, serviceId } = server;
    const wipes = server.wipes;
    server.does = { startsNothing: true };
    await cancel(serviceId);
    await until(
      () => jobsOf(serviceId),
      ([job]) => /on its way to the installer/.test(job?.error_message ?? ''),
      30_000,
    );
    // As a restore does with what is open, and somebody has it go on.
    await sql(
      world.product,
      `insert into restores (made_at, restored_at, settled_at, released_at)
       select opened_at, opened_at, opened_at, opened_at from server_assignments where service_id = $1 and kind = 'wipe'`,
      serviceId,
    );
    await sql(
      world.product,
      `update jobs set held_at = now() where name = 'dedicated.return' and payload ->> 'serviceId' = $1::text`,
      serviceId,
    );
    world.product.clock.travel(21 * 60_000);
    const [job] = await until(
      () => jobsOf(serviceId),
      ([each]) => each?.state === 'stuck',
      60_000,
    );
    expect(job?.stuck_reason).toMatch(/is on and is left alone/);
    expect([server.bmc.power, server.wipes, (await serverOf(id)).state]).toEqual(['on', wipes, 'returning']);
    // Somebody has looked, and it is nobody's.
    server.does = {};
    await retriedWhileOff(server);
    await until(
      () => jobsOf(serviceId),
      ([each]) => each?.state === 'stuck',
      60_000,
    );
    expect(server.wipes).toBe(wipes + 1);
    await retriedWhileOff(server);
    expect(await became(id, /ready|broken|quarantined/)).toMatchObject({ state: 'ready' });
  }, 120_000);
});

async function retriedWhileOff({ bmc, serviceId }: Delivered): Promise<void> {
  bmc.power = 'off';
  bmc.changed?.('off', null);
  const [job] = await sql<{ id: number }>(
    world.product,
    `select id from jobs where name = 'dedicated.return' and payload ->> 'serviceId' = $1::text`,
    serviceId,
  );
  expect((await staff().post(`/staff/jobs/${job?.id}/retry`)).status).toBe(200);
}
