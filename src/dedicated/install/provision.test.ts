import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { later } from '../../../test/rack/later.ts';
import { orderDedicated, stockPlayed } from '../../../test/rack/stocked.ts';
import { settled, sql } from '../../../test/sql.ts';
import type { PlayedServer } from '../../demo/rack/played.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct({}, 4_000);
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
const serverOf = async (id: number) => (await staff().get(`/staff/servers/${id}`)).body.data.server;
const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;
const ended = (id: number) =>
  until(
    () => service(id),
    ({ provisioning_state: state, status }) =>
      state === 'done' || state === 'failed' || status === 'cancelled',
    60_000,
  );

/** So many servers that are alike, of a model of their own, and the product that sells them. */
async function stocked(count: number) {
  const { productId, servers, first } = await stockPlayed(world, { count });
  return { productId, servers, first, second: servers[1] ?? first };
}

describe('a paid dedicated server', () => {
  it('is started, proved, wiped, installed and greets, and then starts its disks', async () => {
    const { productId, first } = await stocked(1);
    const { serviceId } = await orderDedicated(customer, productId);
    const after = await ended(serviceId);
    expect(after).toMatchObject({ status: 'active', provisioning_state: 'done', type: 'dedicated' });
    expect(first.told).toEqual(['installer', 'disk']);
    expect(first.plans).toMatchObject([
      {
        task: 'install',
        wipe: first.disks,
        layout: { kind: 'raid1', serials: first.disks },
        image: { sha256: '5a'.repeat(32) },
        identity: {
          hostname: 'metal1.example.com',
          passwordHash: expect.stringMatching(/^\$6\$/),
          mac: first.mac,
          addresses: [{ family: 4, address: after.primary_ip }],
          nameservers: ['9.9.9.9', '149.112.112.112', '2620:fe::fe'],
        },
      },
    ]);
    expect(first.bmc).toMatchObject({ power: 'on', nextBoot: null, starts: ['network'] });
    expect(await serverOf(first.id)).toMatchObject({ state: 'rented' });
    // Nothing of whom it lets in is left with us.
    const [{ plan, erasures } = { plan: null, erasures: {} }] = await sql<{ plan: null; erasures: object }>(
      world.product,
      'select plan, erasures from server_assignments where server_id = $1',
      first.id,
    );
    expect(plan).toBeNull();
    expect(erasures).toMatchObject({ 'P-1-A': { method: 'overwrite' }, 'P-1-B': { marksLeft: 0 } });
    expect(await world.starts(first.mac)).toContain('sanboot');
    expect((await first.installer?.call('GET', 'plan'))?.status).toBe(403);
  }, 90_000);
});

/** Waits until a condition is there, and lets so many minutes pass then. */
async function laterThan(minutes: number, ready: () => boolean | Promise<boolean>): Promise<void> {
  await until(async () => ready(), Boolean, 30_000);
  await later(world.product, minutes);
}

const isSaid = async (what: string) =>
  (await sql(world.product, `select 1 from jobs where error_message like $1 || '%'`, what)).length > 0;

const failedJobs = (serviceId: number) =>
  sql(
    world.product,
    `select name from jobs where state in ('failed', 'stuck') and payload ->> 'serviceId' = $1::text`,
    serviceId,
  );

const tries = async (serverId: number) =>
  (
    await sql<{ tries: number }>(
      world.product,
      'select tries from server_assignments where server_id = $1 order by id desc limit 1',
      serverId,
    )
  )[0]?.tries;

describe('a server that is out of order is set aside with the reason, and another one is taken', () => {
  it.each<[string, PlayedServer['does'], RegExp]>([
    [
      'that lacks a disk',
      { hasDisks: ['x'] },
      /other disks than were measured: it lacks P-\d+-1-A, P-\d+-1-B, and it has x/,
    ],
    ['that refuses to erase one', {}, /the disk P-\d+-1-B could not be wiped/],
    ['that says it is done, and of no disk that it was wiped', { lies: true }, /not shown to be wiped/],
    [
      'that cannot write its system',
      { fails: { reason: 'the boot loader could not be written', times: 1 } },
      /boot loader could not be written/,
    ],
    ['whose BMC says yes and does nothing', {}, /./],
  ])(
    '%s',
    async (what, does, reason) => {
      const { productId, first, second } = await stocked(2);
      first.does = what.includes('refuses') ? { keeps: `${first.name}-B` } : does;
      if (what.includes('says yes')) first.bmc.failing = { saysYes: true };
      const { serviceId } = await orderDedicated(customer, productId);
      expect(await ended(serviceId)).toMatchObject({ status: 'active' });
      expect(await serverOf(first.id)).toMatchObject({
        state: 'quarantined',
        reason: expect.stringMatching(reason),
      });
      expect(await serverOf(second.id)).toMatchObject({ state: 'rented' });
      expect(first.bmc.power).toBe('off');
      expect(first.told.filter((it) => it === 'installer').length).toBeLessThan(2);
      expect(second.told).toEqual(['installer', 'disk']);
      // The customer sees one order that went well, and nobody is called.
      const told = await sql<{ action: string }>(
        world.product,
        `select action from journal where subject_type = 'service' and subject_id = $1 and action <> 'service.delivery_wanted' order by id`,
        serviceId,
      );
      expect(told.map(({ action }) => action)).toEqual(['service.provisioned']);
      expect(await failedJobs(serviceId)).toEqual([]);
    },
    90_000,
  );

  it('that does not come, after it was switched on once more', async () => {
    const { productId, first, second } = await stocked(2);
    first.does = { startsNothing: true };
    const { serviceId } = await orderDedicated(customer, productId);
    await laterThan(21, () => first.bmc.starts.length === 1);
    await laterThan(21, () => first.bmc.starts.length === 2);
    expect(await ended(serviceId)).toMatchObject({ status: 'active' });
    expect((await serverOf(first.id)).reason).toMatch(/did not start our installer within 20 minutes/);
    expect(second.told).toEqual(['installer', 'disk']);
  }, 90_000);

  it('that is not the one behind its BMC is given no plan', async () => {
    const { productId, first } = await stocked(2);
    first.does = { prints: 'f'.repeat(32) };
    const { serviceId } = await orderDedicated(customer, productId);
    await laterThan(21, () => first.told.length === 1);
    await laterThan(21, async () => (await tries(first.id)) === 2 && first.told.length === 2);
    expect(await ended(serviceId)).toMatchObject({ status: 'active' });
    expect([first.plans, first.wipes]).toEqual([[], 0]);
    expect((await serverOf(first.id)).state).toBe('quarantined');
  }, 180_000);

  it('that does not greet although it was installed', async () => {
    const { productId, first } = await stocked(2);
    first.does = { isMute: true };
    const { serviceId } = await orderDedicated(customer, productId);
    await laterThan(21, () => isSaid('the server starts what was installed'));
    expect(await ended(serviceId)).toMatchObject({ status: 'active' });
    expect((await serverOf(first.id)).reason).toMatch(/did not greet by SSH/);
  }, 90_000);

  it('once: of a second one that is out of order the order fails, and is tried again with a third', async () => {
    const { productId, first, second } = await stocked(2);
    for (const each of [first, second]) each.does = { hasDisks: [] };
    const { serviceId } = await orderDedicated(customer, productId);
    expect(await ended(serviceId)).toMatchObject({ status: 'pending', provisioning_state: 'failed' });
    for (const each of [first, second])
      expect(await serverOf(each.id)).toMatchObject({ state: 'quarantined' });
    const { body } = await staff().get('/staff/attention');
    expect(JSON.stringify(body.data.concerns)).toContain('was not delivered');
    await sql(world.product, `update servers set state = 'ready', reason = null where id = $1`, second.id);
    second.does = {};
    expect((await staff().post(`/staff/services/${serviceId}/retry`, {})).status).toBe(200);
    expect(await ended(serviceId)).toMatchObject({ status: 'active' });
    expect((await serverOf(second.id)).state).toBe('rented');
  }, 90_000);
});

describe('what may pass is begun once more on the same server, from the wipe', () => {
  it.each<[string, PlayedServer['does']]>([
    ['an image that was cut', { fails: { reason: 'the image broke off', times: 1 } }],
    [
      'one with another checksum',
      { fails: { reason: "the image's checksum is 1, not the expected one", times: 1 } },
    ],
  ])(
    '%s',
    async (_, does) => {
      const { productId, first } = await stocked(1);
      first.does = does;
      const { serviceId } = await orderDedicated(customer, productId);
      expect(await ended(serviceId)).toMatchObject({ status: 'active' });
      expect([first.wipes, await tries(first.id)]).toEqual([2, 2]);
    },
    90_000,
  );

  it('an installer that hangs', async () => {
    const { productId, first } = await stocked(1);
    first.does = { hangs: 1 };
    const { serviceId } = await orderDedicated(customer, productId);
    await laterThan(11, () => first.does.hangs === 0);
    expect(await ended(serviceId)).toMatchObject({ status: 'active' });
    expect([first.wipes, first.bmc.starts]).toEqual([2, ['network', 'network']]);
  }, 90_000);

  it('and power that goes in the middle of writing: it proves itself anew', async () => {
    const { productId, first } = await stocked(1);
    first.does = {
      at: async (step) => {
        if (step !== 'write') return;
        first.does = {};
        first.cutPower();
      },
    };
    const { serviceId } = await orderDedicated(customer, productId);
    expect(await ended(serviceId)).toMatchObject({ status: 'active' });
    expect([first.told, first.wipes]).toEqual([['installer', 'installer', 'disk'], 2]);
    expect(await tries(first.id)).toBe(1);
  }, 90_000);

  it('but of an image that is never whole the order fails, and the server is wiped, in stock again, and off', async () => {
    const { productId, first } = await stocked(1);
    first.does = { fails: { reason: 'the image broke off', times: 9 } };
    const { serviceId } = await orderDedicated(customer, productId);
    expect(await ended(serviceId)).toMatchObject({ status: 'pending', provisioning_state: 'failed' });
    await inStock(first.id);
    expect([first.bmc.power, first.wipes, first.plans.at(-1).task]).toEqual(['off', 3, 'wipe']);
  }, 90_000);
});

describe('strangers', () => {
  it('who copy its MAC end no installation, are told nothing, and are not believed', async () => {
    const { productId, first } = await stocked(1);
    const { mac } = first;
    const heard: unknown[] = [];
    first.does = {
      at: async () => {
        for (let n = 0; n < 3; n += 1) await world.starts(mac);
        const stranger = world.installer(await world.starts(mac));
        heard.push(await stranger.claim(), await stranger.tells({ mac, disks: ['theirs'] }));
        heard.push((await stranger.call('POST', 'report', { kind: 'failed', reason: 'the image' })).status);
        heard.push((await stranger.call('POST', 'report', { kind: 'done' })).status);
        heard.push(await stranger.plan(), (await stranger.call('GET', 'image')).status);
        first.does = {};
      },
    };
    const { serviceId } = await orderDedicated(customer, productId);
    expect(await ended(serviceId)).toMatchObject({ status: 'active' });
    expect(heard).toEqual([200, 200, 200, 200, { task: 'wait' }, 403]);
    expect([first.wipes, first.told]).toEqual([1, ['installer', 'disk']]);
  }, 90_000);

  it('who stole the token come too late', async () => {
    const { productId, first } = await stocked(1);
    let stolen = 0;
    first.does = {
      at: async () => {
        const { installer } = first;
        const answer = await installer?.call('POST', 'claim', { secret: 'e'.repeat(64) }, installer.token);
        stolen = answer?.status ?? 0;
        expect((await installer?.call('GET', 'plan', undefined, installer.token))?.status).toBe(403);
      },
    };
    const { serviceId } = await orderDedicated(customer, productId);
    expect(await ended(serviceId)).toMatchObject({ status: 'active' });
    expect(stolen).toBe(403);
  }, 90_000);
});

const inStock = (id: number) =>
  until(
    () => serverOf(id),
    ({ state }) => state === 'ready',
    60_000,
  );

describe('money that is given back', () => {
  const refunds = async (invoiceId: number) => {
    const body = { method: 'credit', reason: 'a mistake' };
    expect((await staff().post(`/staff/invoices/${invoiceId}/refund`, body)).status).toBe(200);
  };

  it.each(['wipe', 'write', 'boot'])(
    'at: %s, takes the server back: it is wiped, off, in stock, and starts its disks',
    async (at) => {
      const { productId, first } = await stocked(1);
      const order = Promise.withResolvers<number>();
      first.does = {
        at: async (step) => {
          if (!step.startsWith(at)) return;
          first.does = {};
          await refunds(await order.promise);
        },
      };
      const { serviceId, invoiceId } = await orderDedicated(customer, productId);
      order.resolve(invoiceId);
      expect(await ended(serviceId)).toMatchObject({ status: 'cancelled', primary_ip: null });
      await inStock(first.id);
      await settled(world.product);
      expect(first.bmc).toMatchObject({ power: 'off', nextBoot: null });
      expect([first.plans.at(-1).task, first.system]).toEqual(['wipe', null]);
      expect(await world.starts(first.mac)).toContain('sanboot');
      expect(await failedJobs(serviceId)).toEqual([]);
    },
    90_000,
  );

  it('once the server greets, and before it is delivered: nobody gets it before it is wiped, and whoever was let in at its BMC meanwhile is shut out', async () => {
    const { productId, first, second } = await stocked(2);
    const order = Promise.withResolvers<number>();
    const { greets } = world;
    const has = greets.has.bind(greets);
    const mine = {
      id: '9',
      name: 'mine',
      password: 'theirs-1',
      access: 'administrator',
      isEnabled: true,
    } as const;
    let isGivenBack = false;
    greets.has = ((address: string) => {
      if (!has(address) || isGivenBack) return has(address);
      isGivenBack = true;
      // Whose keys are on it signs in, and sees to it that they can later.
      first.bmc.accounts.push({ ...mine });
      first.does = { startsNothing: true };
      return order.promise.then(refunds).then(() => true);
    }) as typeof greets.has;
    try {
      const { serviceId, invoiceId } = await orderDedicated(customer, productId);
      order.resolve(invoiceId);
      expect(await ended(serviceId)).toMatchObject({ status: 'cancelled', primary_ip: null });
      expect(isGivenBack).toBe(true);
      // Whoever orders next while it is on its way back gets another one.
      expect(await serverOf(first.id)).toMatchObject({ state: 'returning', service_id: null });
      const next = await orderDedicated(customer, productId);
      expect(await ended(next.serviceId)).toMatchObject({ status: 'active' });
      expect(await serverOf(second.id)).toMatchObject({ state: 'rented', service_id: next.serviceId });
      await until(
        async () => first.bmc.power,
        (power) => power === 'on',
        30_000,
      );
      first.does = {};
      first.reboot();
      await inStock(first.id);
      await settled(world.product);
      expect([first.bmc.power, first.system, first.wipes]).toEqual(['off', null, 2]);
      expect(first.bmc.accounts.find(({ name }) => name === 'mine')).not.toMatchObject({
        ...{ access: 'administrator', isEnabled: true },
      });
      const { body } = await customer.get(`/dashboard/service/${serviceId}/dedicated/erasure`);
      expect(body.data?.erasure.disks.map(({ serial }: { serial: string }) => serial)).toEqual(first.disks);
      expect(await failedJobs(serviceId)).toEqual([]);
    } finally {
      greets.has = has;
    }
  }, 90_000);

  it('before anything was done to a disk leaves the server in stock at once', async () => {
    const { productId, first } = await stocked(1);
    first.does = { startsNothing: true };
    const { serviceId, invoiceId } = await orderDedicated(customer, productId);
    await until(
      async () => first.bmc.power,
      (power) => power === 'on',
      30_000,
    );
    await refunds(invoiceId);
    expect(await ended(serviceId)).toMatchObject({ status: 'cancelled' });
    expect(await serverOf(first.id)).toMatchObject({ state: 'ready' });
    expect([first.bmc.power, first.plans]).toEqual(['off', []]);
  }, 90_000);
});

it('a job that is lost in the middle of each of its steps, as when its process dies, ends right all the same', async () => {
  const { productId, first } = await stocked(1);
  const lost = new Set<number>();
  // Whatever the step has done outside by now stands, and nobody remembers it.
  const lose = setInterval(async () => {
    const [at] = await sql<{ id: number; steps: number }>(
      world.product,
      `select j.id, (select count(*)::int from job_steps s where s.job_id = j.id) as steps from jobs j
       where j.name = 'dedicated.provision' and j.state = 'running'`,
    ).catch(() => []);
    if (at === undefined || lost.has(at.steps)) return;
    lost.add(at.steps);
    await sql(world.product, `update jobs set state = 'ready', worker = null where id = $1`, at.id);
  }, 5);
  try {
    const { serviceId } = await orderDedicated(customer, productId);
    expect(await ended(serviceId)).toMatchObject({ status: 'active' });
  } finally {
    clearInterval(lose);
  }
  // Power, proof, installation and readiness at least are long enough to be hit.
  expect(lost.size).toBeGreaterThanOrEqual(4);
  expect(first.told.filter((each) => each === 'disk')).toEqual(['disk']);
  expect(first.told.at(-1)).toBe('disk');
  expect(await serverOf(first.id)).toMatchObject({ state: 'rented' });
  const works = await sql(
    world.product,
    'select state from server_assignments where server_id = $1',
    first.id,
  );
  expect(works).toEqual([{ state: 'done' }]);
}, 90_000);

it('a delivery that is tried again when its service has been delivered leaves that its server and its addresses', async () => {
  const { productId, first } = await stocked(1);
  const { serviceId } = await orderDedicated(customer, productId);
  const { primary_ip: ip } = await ended(serviceId);
  const [{ id = 0 } = {}] = await sql<{ id: number }>(
    world.product,
    `update jobs set state = 'failed' where name = 'dedicated.provision' and payload ->> 'serviceId' = $1::text returning id`,
    serviceId,
  );
  expect((await staff().post(`/staff/jobs/${id}/retry`)).status).toBe(200);
  await settled(world.product);
  const [job] = await sql(world.product, 'select state, error_code from jobs where id = $1', id);
  expect(job).toEqual({ state: 'done', error_code: 'not_wanted' });
  expect([await serverOf(first.id), first.bmc.power]).toMatchObject([
    { state: 'rented', service_id: serviceId },
    'on',
  ]);
  const held = await sql(
    world.product,
    `select host(address) as ip from addresses where service_id = $1`,
    serviceId,
  );
  expect(held).toEqual([{ ip }]);
}, 90_000);
