import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { type RentedPlayed, rentPlayed, stockPlayed } from '../../../test/rack/stocked.ts';
import { settled, sql } from '../../../test/sql.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct({}, 1_500);
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
const overview = async ({ path }: RentedPlayed) =>
  (await customer.get(`${path}/overview`)).body.data.dedicated;
async function asked(server: RentedPlayed, what: string, body: object): Promise<number> {
  const answer = await customer.post(`${server.path}/${what}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.action.id;
}
const ended = ({ path }: RentedPlayed, id: number) =>
  until(
    async () => (await customer.get(`${path}/history/${id}`)).body.data.action,
    ({ status }) => status === 'success' || status === 'error',
    60_000,
  );
/** What staff reads of a service or a job that needs somebody. */
async function concerns(kind: string, id: number): Promise<string[]> {
  const found = (await staff().get('/staff/attention')).body.data.concerns;
  return found
    .filter((each: { kind: string; subject: { id: number } }) => each.kind === kind && each.subject.id === id)
    .map(({ message }: { message: string }) => message);
}
const isTold = ({ serviceId }: RentedPlayed, times: number) =>
  until(
    () => concerns('dedicated.not_put_back', serviceId),
    (found) => found.length === times,
    60_000,
  );
const rescue = { enabled: true, password: 'Good-Pass-1' };
const serverOf = async (id: number) => (await staff().get(`/staff/servers/${id}`)).body.data.server;

/** Its rescue system says that it cannot, and at that moment its BMC falls silent, if it is to. */
function failsInRescue(
  server: Pick<RentedPlayed, 'does' | 'bmc' | 'installer'>,
  { isSilent = true } = {},
): void {
  server.does = {
    isMute: true,
    at: async (step) => {
      if (step !== 'rescue') return;
      if (isSilent) server.bmc.failing = { silent: 'before' };
      const reason = 'the rescue system could not be started';
      await server.installer?.call('POST', 'report', { kind: 'failed', reason });
    },
  };
}
async function leftByRescue(): Promise<{ server: RentedPlayed; action: { error: { message: string } } }> {
  const server = await rentPlayed(world, customer);
  failsInRescue(server);
  const action = await ended(server, await asked(server, 'rescue', rescue));
  server.does = {};
  return { server, action };
}

describe('a server that a failure left otherwise than it was', () => {
  it('is told to staff, with what to do, and to its customer as it is; nothing switches it but a person, and then that is over', async () => {
    const { server, action } = await leftByRescue();
    expect(action).toMatchObject({
      status: 'error',
      error: { code: 'server_failed', message: expect.stringMatching(/could not be started again/) },
    });
    const [message] = await isTold(server, 1);
    expect(message).toMatch(
      /the server of the service \d+ was to be on again: .*Have its BMC answer, and start or restart it here/,
    );
    expect(await overview(server)).toMatchObject({
      ...{ state: 'error', locked: false },
      problem: expect.stringMatching(/could not be started again: it may be off.*Our staff has been told/),
      actions: { start: { allowed: true }, rescue: { allowed: true } },
    });
    const { starts } = server.bmc;
    server.bmc.failing = {};
    await world.product.periodic('fleet.askBmcs');
    await settled(world.product);
    expect([server.bmc.starts, await concerns('dedicated.not_put_back', server.serviceId)]).toEqual([
      starts,
      [message],
    ]);
    const again = await customer.post(`${server.path}/restart`, { force: true });
    expect(again.status, again.body.message).toBe(200);
    await isTold(server, 0);
    await settled(world.product);
    expect([server.told.at(-1), server.bmc.power]).toEqual(['disk', 'on']);
    expect(await overview(server)).toMatchObject({ state: 'running', problem: null });
  }, 120_000);

  it('is told as well when the rescue system is turned off and the BMC falls silent over it, and is on again after what comes next', async () => {
    const server = await rentPlayed(world, customer);
    await ended(server, await asked(server, 'rescue', rescue));
    const { bmc } = server;
    bmc.failing = { silent: 'after' };
    const action = await ended(server, await asked(server, 'rescue', { enabled: false }));
    expect(action.error.message).toMatch(/could not be started again/);
    expect((await isTold(server, 1))[0]).toMatch(/was to be on again/);
    bmc.failing = {};
    expect(bmc.power).toBe('off');
    // Its customer had it on: so it is after the next thing that fails, too.
    failsInRescue(server, { isSilent: false });
    expect((await ended(server, await asked(server, 'rescue', rescue))).status).toBe('error');
    await settled(world.product);
    server.does = {};
    expect([bmc.power, server.told.at(-1)]).toEqual(['on', 'disk']);
    await isTold(server, 0);
  }, 120_000);

  it('is off while its service is suspended, and on again afterwards', async () => {
    const { server } = await leftByRescue();
    await isTold(server, 1);
    const suspended = await staff().post(`/staff/services/${server.serviceId}/suspend`, { reason: 'A test' });
    expect(suspended.status, suspended.body.message).toBe(200);
    server.bmc.failing = {};
    await isTold(server, 0);
    await settled(world.product);
    expect([server.bmc.power, (await overview(server)).state]).toEqual(['off', 'suspended']);
    const again = await staff().post(`/staff/services/${server.serviceId}/unsuspend`);
    expect(again.status, again.body.message).toBe(200);
    await settled(world.product);
    expect(server.bmc.power).toBe('on');
    expect(await overview(server)).toMatchObject({ state: 'running', problem: null });
  }, 120_000);

  it('is told where a reinstallation has wiped its disks and it could not be switched off, and staff stops it', async () => {
    const server = await rentPlayed(world, customer);
    server.does = {
      keeps: server.disks[0] ?? '',
      at: async (step) => {
        if (step.startsWith('wipe')) server.bmc.failing = { silent: 'before' };
      },
    };
    const body = { os: 'tiny', password: 'Good-Pass-1', confirm: 'metal1.example.com' };
    const action = await ended(server, await asked(server, 'reinstall', body));
    expect(action.error.message).toMatch(/is gone, and nothing starts from them.*could not be switched off/);
    const [message] = await isTold(server, 1);
    expect(message).toMatch(/was to be off again: .*Have its BMC answer, and stop it here/);
    expect(server.bmc.power).toBe('on');
    server.does = {};
    server.bmc.failing = {};
    const stopped = await staff().post(`/staff/servers/${server.id}/stop`, { force: true });
    expect(stopped.status, stopped.body.message).toBe(200);
    await isTold(server, 0);
    await settled(world.product);
    expect(server.bmc.power).toBe('off');
    expect(await overview(server)).toMatchObject({
      ...{ state: 'error', problem: expect.stringMatching(/nothing starts from them/) },
    });
  }, 120_000);
});

it('a server that is nobody’s and that a rescue of staff left on stands in staff’s list with what to do, and is switched off by a retry unless it is somebody’s by then', async () => {
  for (const isSold of [false, true]) {
    const { first: server } = await stockPlayed(world);
    await staff().post(`/staff/servers/${server.id}/quarantine`, { reason: 'Is looked at' });
    failsInRescue(server);
    expect((await staff().post(`/staff/servers/${server.id}/rescue`, { enabled: true })).status).toBe(200);
    const jobOf = async () =>
      (
        await sql<{ id: number; state: string; attempts: number; stuck_reason: string | null }>(
          world.product,
          `select id, state, attempts, stuck_reason from jobs where name = 'dedicated.staffRescue' and payload @> jsonb_build_object('serverId', $1::bigint)`,
          server.id,
        )
      )[0];
    const tried = await until(jobOf, (job) => (job?.attempts ?? 0) > 0 && job?.stuck_reason !== null, 60_000);
    const id = tried?.id ?? 0;
    server.does = {};
    // It was tried often enough.
    await until(
      async () => {
        await sql(world.product, 'update jobs set attempts = 11 where id = $1 and attempts < 11', id);
        return jobOf();
      },
      (job) => job?.state === 'stuck',
      60_000,
    );
    expect(await concerns('job.failed', id)).toEqual([
      expect.stringMatching(/cannot be switched off: .*Have its BMC answer and retry this job; or switch/),
    ]);
    const [end] = await sql<{ data: { problem: string } }>(
      world.product,
      `select data from journal where action = 'server.rescue_ended' and subject_id = $1`,
      String(server.id),
    );
    expect(end?.data.problem).toMatch(/could not be started; and it could not be switched off again/);
    expect([server.bmc.power, (await serverOf(server.id)).actions.rescue.allowed]).toEqual(['on', true]);

    server.bmc.failing = {};
    if (isSold) await sql(world.product, `update servers set state = 'ready' where id = $1`, server.id);
    expect((await staff().post(`/staff/jobs/${id}/retry`)).status).toBe(200);
    await until(jobOf, (job) => job?.state === 'done', 30_000);
    expect(server.bmc.power).toBe(isSold ? 'on' : 'off');
  }
}, 180_000);
