import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { apiClient, type Response } from '../../test/client.ts';
import { orderVps, runningVps } from '../../test/orders.ts';
import { newCustomer, newMember, type Person, signedIn } from '../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';
import { settled, sql } from '../../test/sql.ts';
import { createApiKey } from '../account/index.ts';
import { HypervisorError, simulatorStore } from '../drivers/hypervisor/index.ts';
import type { Permission } from '../platform/http/index.ts';
import { transaction } from '../platform/index.ts';
import { machineIdOf } from './machine.ts';
import { type MachineState, machineStates, rules } from './states.ts';

const store = simulatorStore();
const delaysMs = { shutdown: 50 };
let failingStarts = 0;
let product: TestProduct;
let customer: Person;
let id: number;

beforeAll(async () => {
  product = await startTestProduct({
    simulator: {
      store,
      delaysMs,
      failure: (call) => {
        if (call !== 'start' || failingStarts === 0) return null;
        failingStarts -= 1;
        return new HypervisorError('start_failed', 'QEMU said no: secret path /srv/x', { permanent: true });
      },
    },
  });
  customer = await newCustomer(product, { creditMinor: 50_000 });
  ({ serviceId: id } = await runningVps(product, customer));
});
afterAll(() => product.stop());

const powers = ['start', 'stop', 'restart'] as const;
type Power = (typeof powers)[number];

function ask(power: Power, body: object = {}, service = id): Promise<Response> {
  return customer.post(`/dashboard/service/${service}/vps/${power}`, body);
}

async function overview() {
  return (await customer.get(`/dashboard/service/${id}/vps/overview`)).body.data.vps;
}

function actionOf(actionId: number) {
  return customer.get(`/dashboard/service/${id}/vps/history/${actionId}`);
}

/** Puts row and machine into a state together, so that nobody finds a difference to repair. */
async function bring(state: MachineState): Promise<void> {
  await settled(product);
  const machine = store.machines.get(machineIdOf(id));
  if (!machine) throw new Error('the simulator lost the machine');
  await sql(product, `update machines set state = 'creating' where service_id = $1`, id);
  machine.startedAtMs = state === 'running' ? Date.now() : null;
  const wanted = state === 'running' ? 'running' : 'stopped';
  await sql(product, 'update machines set state = $2, wanted = $3 where service_id = $1', id, state, wanted);
}

describe('a power action', () => {
  const cases = machineStates.flatMap((state) => powers.map((power) => [power, state] as const));

  it.each(cases)('%s of a machine that is %s does what the table of states says', async (power, state) => {
    await bring(state);
    const rule = rules[power];
    const isAllowed = (rule.from as readonly string[]).includes(state);
    const { actions } = await overview();
    expect(actions[power].allowed).toBe(isAllowed);

    const answer = await ask(power, power === 'start' ? {} : { force: true });
    expect(answer.status).toBe(isAllowed ? 200 : 409);
    if (!isAllowed) {
      expect(answer.body).toMatchObject({ code: 'action_not_allowed', message: actions[power].reason });
      expect((await overview()).state).toBe(state);
      return;
    }
    expect(answer.body.data.action).toMatchObject({ command: power, status: 'queued' });
    await settled(product);
    const { action } = (await actionOf(answer.body.data.action.id)).body.data;
    expect(action).toMatchObject({ status: 'success', progress: 100, error: null });
    expect((await overview()).state).toBe(rule.to);
    expect(store.machines.get(machineIdOf(id))?.startedAtMs !== null).toBe(rule.to === 'running');
  });

  it.each(powers)('%s is refused while another action runs, by that name', async (power) => {
    await bring(power === 'start' ? 'stopped' : 'running');
    const rows = await sql<{ id: number }>(
      product,
      `insert into vps_actions (id, organization_id, service_id, command, status, initiator_type, created_at)
       values (floor(random() * 1e15), $1, $2, 'reinstall', 'running', 'system', now()) returning id`,
      ...[customer.organizationId, id],
    );
    const seen = await overview();
    expect(seen).toMatchObject({ locked: true, current_action: { command: 'reinstall' } });
    expect(seen.actions[power]).toMatchObject({
      allowed: false,
      reason: expect.stringContaining('reinstall'),
    });
    const answer = await ask(power);
    expect([answer.status, answer.body.code]).toEqual([409, 'locked']);
    expect(answer.body.message).toContain('reinstall');
    expect(answer.headers.get('retry-after')).not.toBeNull();
    await sql(product, 'delete from vps_actions where id = $1', rows[0]?.id);
  });

  it('begins once, however often it is asked for at once', async () => {
    await bring('running');
    delaysMs.shutdown = 3_000; // longer than eight answers take on a busy machine
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask('restart')));
    delaysMs.shutdown = 50;
    expect(answers.filter((each) => each.status === 200)).toHaveLength(1);
    for (const each of answers.filter((one) => one.status !== 200)) {
      expect([each.status, each.body.code]).toEqual([409, 'locked']);
      expect(each.body.message).toContain('restart');
    }
  });

  it('stop with force takes the power whatever the machine waits for, and what waited goes no further', async () => {
    for (const waiting of ['stop', 'restart'] as const) {
      await bring('running');
      delaysMs.shutdown = 4_000;
      const { id: first } = (await ask(waiting)).body.data.action;
      await until(
        () => actionOf(first),
        (answer) => answer.body.data.action.status === 'running',
      );
      expect((await ask('stop')).status).toBe(409);
      const forced = await ask('stop', { force: true });
      expect([forced.status, forced.body.code]).toEqual([200, undefined]);
      await until(
        () => actionOf(forced.body.data.action.id),
        (answer) =>
          answer.body.data.action.status !== 'running' && answer.body.data.action.status !== 'queued',
      );
      expect(await overview()).toMatchObject({ state: 'stopped', locked: false });
      delaysMs.shutdown = 50;
      await settled(product);
      expect(await overview()).toMatchObject({ state: 'stopped', locked: false });
      expect(store.machines.get(machineIdOf(id))?.startedAtMs).toBeNull();
      const ended = (await actionOf(first)).body.data.action;
      expect(ended).toMatchObject({ status: 'error', error: { code: 'cancelled' } });
      const jobs = (await product.staff.get('/staff/jobs')).body.data.jobs;
      expect(jobs, 'its customer ended it, and staff has nothing to see to').toEqual([]);
    }
  });

  it('shows its state while it runs', async () => {
    await bring('running');
    const { id: action } = (await ask('stop')).body.data.action;
    const seen = await overview();
    expect(seen).toMatchObject({ state: 'stopping', locked: true, current_action: { id: action } });
    await settled(product);
    expect(await overview()).toMatchObject({ state: 'stopped', locked: false, uptime_s: null });
  });

  it('that fails says so without a word about the inside, and can be repeated', async () => {
    await bring('stopped');
    failingStarts = 1;
    const failed = (await ask('start')).body.data.action;
    await settled(product);
    const { action } = (await actionOf(failed.id)).body.data;
    expect(action).toMatchObject({ status: 'error', error: { code: 'start_failed' } });
    expect(action.error.message).toContain('could not be started');
    const told = await sql<{ reason: string }>(
      product,
      `select data->>'reason' as reason from journal where action = 'vps.action.failed' and subject_id = $1`,
      id,
    );
    for (const words of [action.error.message, ...told.map((entry) => entry.reason)])
      expect(words).not.toMatch(/secret|srv|QEMU/);
    const { jobs } = (await product.staff.get('/staff/jobs')).body.data;
    expect(JSON.stringify(jobs)).toContain('secret path /srv/x');
    expect(await overview()).toMatchObject({ state: 'stopped', locked: false });
    await ask('start');
    await settled(product);
    expect((await overview()).state).toBe('running');
  });

  it('that a guest ignores says how to go on', async () => {
    await bring('running');
    const shutdown = vi
      .spyOn(product.hypervisor, 'shutdown')
      .mockRejectedValue(new HypervisorError('shutdown_timeout', 'vps-1 still runs after 60000 ms'));
    const { id: asked } = (await ask('stop')).body.data.action;
    await settled(product);
    shutdown.mockRestore();
    const { error } = (await actionOf(asked)).body.data.action;
    expect(error).toMatchObject({ code: 'shutdown_timeout' });
    expect(error.message).toContain('switch it off at once, which is a stop with force');
    expect(error.message).not.toMatch(/["{}]/);
    expect(await overview()).toMatchObject({ state: 'running', locked: false });
  });

  it.each(['start', 'restart'] as const)(
    '%s succeeds when the machine runs, on SSH or not',
    async (power) => {
      await bring(power === 'start' ? 'stopped' : 'running');
      const waiting = vi
        .spyOn(product.hypervisor, 'waitUntilReady')
        .mockRejectedValue(new HypervisorError('ready_timeout', 'no SSH at 10.77.0.2'));
      const { id: asked } = (await ask(power)).body.data.action;
      await settled(product);
      const [, deadline] = waiting.mock.calls[0] ?? [];
      waiting.mockRestore();
      expect(deadline?.timeoutMs).toBeLessThanOrEqual(60_000);
      expect((await actionOf(asked)).body.data.action).toMatchObject({ status: 'success', error: null });
      expect(await overview()).toMatchObject({ state: 'running', locked: false });
    },
  );

  it('that starts a machine which dies while it boots fails', async () => {
    await bring('stopped');
    const waiting = vi
      .spyOn(product.hypervisor, 'waitUntilReady')
      .mockRejectedValue(new HypervisorError('machine_died', 'the machine ended', { permanent: true }));
    const { id: asked } = (await ask('start')).body.data.action;
    await settled(product);
    waiting.mockRestore();
    const { error } = (await actionOf(asked)).body.data.action;
    expect(error).toMatchObject({ code: 'machine_died', message: expect.stringContaining('console') });
    await bring('running');
  });

  it('takes the same body, whichever it is', async () => {
    for (const power of ['start', 'restart', 'stop'] as const) {
      await bring(power === 'start' ? 'stopped' : 'running');
      const answer = await ask(power, { force: false });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    }
    await settled(product);
  });

  it('of an order that is not paid finds no machine', async () => {
    const { serviceId } = await orderVps(product, customer);
    for (const power of powers) {
      const answer = await ask(power, {}, serviceId);
      expect([answer.status, answer.body.code]).toEqual([409, 'action_not_allowed']);
    }
    const ips = await customer.get(`/dashboard/service/${serviceId}/vps/ips`);
    expect(ips.body.data.ips).toEqual([]);
  });

  it('of a service that is no machine is not found', async () => {
    const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    const order = await customer.post('/cart/checkout/invoice', { products: [item] });
    const answer = await ask('start', {}, order.body.data.service_ids[0]);
    expect([answer.status, answer.body.code]).toEqual([404, 'not_a_vps']);
  });
});

describe('the history', () => {
  const list = async (query: string) =>
    (await customer.get(`/dashboard/service/${id}/vps/history?${query}`)).body.data;
  const idsOf = (page: { actions: { id: number }[] }) => page.actions.map((action) => action.id);

  it('names people to who may read members, keys to who may read activity, and everybody themselves', async () => {
    await bring('running');
    const browser = await signedIn(product, customer);
    const restart = (who: Pick<Person, 'post'>) => who.post(`/dashboard/service/${id}/vps/restart`, {});
    const seen = async (who: Pick<Person, 'get'>, turn: Response) => {
      const { initiator } = turn.body.data.action;
      const { actions } = (await who.get(`/dashboard/service/${id}/vps/history?limit=100`)).body.data;
      const found = actions.find((each: { id: number }) => each.id === turn.body.data.action.id).initiator;
      expect(found).toMatchObject({ type: initiator.type, id: initiator.id });
      return found.name;
    };
    const byPerson = await restart(browser);
    await settled(product);
    const byKey = await restart(customer);
    await settled(product);
    const keyOf = async (name: string, userId: number, scopes: Permission[]) => {
      const terms = { scopes };
      const { key } = await transaction(product.ctx, 'test.key', (tx) =>
        createApiKey(tx, userId, name, { terms }),
      );
      return apiClient(`${product.url}/api`, { token: key, organizationId: customer.organizationId });
    };
    const kept = await keyOf('Kept', customer.userId, ['vps.read', 'vps.power']);
    const byKept = await restart(kept);
    await settled(product);
    const member = await newMember(product, customer.organizationId, 'technical');
    const names = async (who: Pick<Person, 'get'>) => [
      await seen(who, byPerson),
      await seen(who, byKey),
      await seen(who, byKept),
    ];
    expect(await names(customer)).toEqual([customer.email, 'Test', 'Kept']);
    expect(await names(member)).toEqual([customer.email, null, null]);
    expect(await names(kept)).toEqual([null, null, 'Kept']);
    expect(await names(await keyOf('Reader', member.userId, ['vps.read']))).toEqual([null, null, null]);
    // A person knows their own keys, whatever else their role lets them read.
    expect(await names(browser)).toEqual([customer.email, 'Test', 'Kept']);
    // Nobody is called what is left of an account that was closed.
    const set = `update users set status = $2 where id = $1`;
    await sql(product, set, customer.userId, 'closed');
    await sql(product, `update api_keys set name = '' where name = 'Kept'`);
    expect(await names(member)).toEqual([null, null, null]);
    await sql(product, set, customer.userId, 'active');
    await sql(product, `update api_keys set name = 'Kept' where name = ''`);
  });

  it('has every action once, newest first, by page and by cursor', async () => {
    await settled(product);
    const all = await list('limit=100');
    expect(all.total).toBe(all.actions.length);
    const moments = all.actions.map((action: { created_at: string }) => action.created_at);
    expect(moments).toEqual(moments.toSorted().toReversed());
    expect(all.actions.at(-1)).toMatchObject({ command: 'create', initiator: { type: 'system' } });
    expect(all.actions[0].initiator).toMatchObject({ type: 'api_key', ip: '127.0.0.1' });
    // As its owner called it.
    expect(all.actions[0].initiator.name).toMatch(/\w/);

    const byPage: number[] = [];
    for (let page = 1; page <= Math.ceil(all.total / 4); page += 1)
      byPage.push(...idsOf(await list(`limit=4&page=${page}`)));
    const byCursor: number[] = [];
    for (let query: string | null = 'limit=4'; query !== null; ) {
      const page: { actions: { id: number }[]; next_cursor: string | null } = await list(query);
      byCursor.push(...idsOf(page));
      query = page.next_cursor === null ? null : `limit=4&cursor=${page.next_cursor}`;
    }
    expect([byPage, byCursor]).toEqual([idsOf(all), idsOf(all)]);
  });

  it('can be polled for one action, of this machine only', async () => {
    await bring('running');
    const { id: action } = (await ask('restart', { force: true })).body.data.action;
    const done = await until(
      () => actionOf(action),
      ({ body }) => body.data.action.status === 'success',
    );
    expect(Date.parse(done.body.data.action.finished_at)).toBeGreaterThanOrEqual(
      Date.parse(done.body.data.action.started_at),
    );
    const { serviceId } = await runningVps(product, customer);
    const foreign = await customer.get(`/dashboard/service/${serviceId}/vps/history/${action}`);
    expect(foreign.status).toBe(404);
  });
});
