import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { HypervisorError, simulatorStore } from '../../drivers/hypervisor/index.ts';
import { machineIdOf } from '../machine.ts';
import { reconcileNode } from '../reconcile.ts';

const store = simulatorStore();
const slowMs = 2_000;
const delaysMs: Record<string, number> = {};
let failing: string | null = null;
const called = new Set<string>();
let product: TestProduct;
let customer: Person;
let nodeId: number;
let id: number;

beforeAll(async () => {
  product = await startTestProduct({
    simulator: {
      store,
      delaysMs,
      failure: (call, machineId) => {
        called.add(`${call} ${machineId}`);
        return call === failing ? new HypervisorError('host_not_ready', 'no power') : null;
      },
    },
  });
  customer = await newCustomer(product, { creditMinor: 500_000 });
  nodeId = (await sql<{ id: number }>(product, 'select id from nodes'))[0]?.id ?? 0;
});
beforeEach(async () => {
  for (const call of Object.keys(delaysMs)) delete delaysMs[call];
  failing = null;
  ({ serviceId: id } = await runningVps(product, customer));
  await settled(product);
});
afterAll(() => product.stop());

const isOn = () => store.machines.get(machineIdOf(id))?.startedAtMs != null;
const compare = () => reconcileNode(product.ctx, nodeId, product.hypervisor);
const ask = (path: string, body: object = {}) => customer.post(`/dashboard/service/${id}/vps${path}`, body);
const overview = async () => (await customer.get(`/dashboard/service/${id}/vps/overview`)).body.data.vps;

async function change(command: 'suspend' | 'unsuspend' | 'terminate'): Promise<void> {
  const body = command === 'unsuspend' ? undefined : { reason: 'It attacks others' };
  const answer = await product.staff.post(`/staff/services/${id}/${command}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

async function changed(command: 'suspend' | 'unsuspend' | 'terminate'): Promise<void> {
  await change(command);
  await settled(product);
}

async function commands(): Promise<string[]> {
  const { actions } = (await customer.get(`/dashboard/service/${id}/vps/history`)).body.data;
  return actions.map(
    ({ command, status, error }: { command: string; status: string; error: { code: string } | null }) =>
      `${command}: ${error?.code ?? status}`,
  );
}

/**
 * Asks for something that takes long, and waits until its node is at it. An action that only counts as running may still
 * find that it is not to go on, and then ends at once.
 */
async function begin(path: string, body: object, slow: string): Promise<void> {
  delaysMs[slow] = slowMs;
  called.clear();
  expect((await ask(path, body)).status).toBe(200);
  const call = `${slow === 'boot' ? 'start' : slow} ${machineIdOf(id)}`;
  await until(
    async () => called.has(call),
    (isAtIt) => isAtIt,
  );
}

describe('a suspended machine', () => {
  it('is off, and whatever its customer asks of it is refused in words and changes nothing', async () => {
    await changed('suspend');
    expect([isOn(), (await overview()).state, (await overview()).locked]).toEqual([
      false,
      'suspended',
      false,
    ]);
    const { actions } = await overview();
    for (const [name, { allowed, reason }] of Object.entries<{ allowed: boolean; reason: string }>(actions))
      expect([name, allowed, reason]).toEqual([name, false, 'The service is suspended']);

    const vps = `/dashboard/service/${id}/vps`;
    const [{ address }] = (await customer.get(`${vps}/ips`)).body.data.ips;
    const requests: [string, string, object?][] = [
      ['POST', 'start', {}],
      ['POST', 'stop', { force: true }],
      ['POST', 'restart', {}],
      ['GET', 'console'],
      ['POST', 'reinstall', { os: 'tiny', password: 'Good-Pass-1' }],
      ['POST', 'snapshots', { name: 'now' }],
      ['POST', 'reset-password', {}],
      ['POST', 'access', { ssh_key_ids: [] }],
      ['PATCH', 'settings', { hostname: 'other.example.com' }],
      ['PATCH', 'ips', { address, dns_name: 'web1.example.com' }],
    ];
    const before = await contents(product);
    for (const [method, path, body] of requests) {
      const answer = await customer.request(method, `${vps}/${path}`, body);
      expect([path, answer.status, answer.body.code]).toEqual([path, 409, 'action_not_allowed']);
      expect(answer.body.message).toContain('The service is suspended');
    }
    const upgrade = await customer.post(`/dashboard/services/${id}/upgrade-vps`, { option1: 2 });
    expect([upgrade.status, upgrade.body.code]).toEqual([409, 'conflict']);
    expect(await contents(product)).toEqual(before);
  });

  it('stays off whoever starts it, at every comparison with its node', async () => {
    await changed('suspend');
    await compare();
    expect(isOn()).toBe(false);
    const machine = store.machines.get(machineIdOf(id));
    if (machine) machine.startedAtMs = Date.now();
    await compare();
    await settled(product);
    expect([isOn(), (await overview()).state]).toEqual([false, 'suspended']);
    await compare();
    expect((await commands()).filter((each) => each.startsWith('suspend'))).toHaveLength(2);
  });

  it('goes on as it was: one that ran runs, and one that was stopped stays so', async () => {
    await changed('suspend');
    await changed('unsuspend');
    expect([isOn(), (await overview()).state]).toEqual([true, 'running']);
    await ask('/stop');
    await settled(product);
    await changed('suspend');
    expect((await overview()).state).toBe('suspended');
    await changed('unsuspend');
    await compare();
    await settled(product);
    expect([isOn(), (await overview()).state]).toEqual([false, 'stopped']);
  });

  it('has the size that was paid for when it goes on', async () => {
    const { data } = (await customer.post(`/dashboard/services/${id}/upgrade-vps`, { option1: 2 })).body;
    await changed('suspend');
    await customer.post(`/dashboard/invoices/${data.invoice_id}/pay`, { method: 'credit' });
    await settled(product);
    expect([isOn(), (await overview()).state]).toEqual([false, 'suspended']);
    await changed('unsuspend');
    expect([isOn(), (await overview()).resources.memory_mb]).toEqual([true, 2_048]);
  });

  it('that cannot be stopped is a matter for staff, and is stopped once its node can', async () => {
    failing = 'shutdown';
    await change('suspend');
    const failed = async () => (await product.staff.get('/staff/jobs')).body.data.jobs;
    const [job] = await until(failed, (jobs) => jobs.length > 0, 60_000);
    expect(job).toMatchObject({ name: 'vps.suspend' });
    failing = null;
    await compare();
    expect((await overview()).state).toBe('error');
    await product.staff.post(`/staff/jobs/${job.id}/retry`);
    await settled(product);
    expect([isOn(), (await overview()).state]).toEqual([false, 'suspended']);
    await changed('unsuspend');
    expect([isOn(), (await overview()).state]).toEqual([true, 'running']);
  }, 90_000);
});

describe('an action that is under way', () => {
  it.each([
    ['a snapshot', '/snapshots', { name: 'slow' }, 'keep'],
    ['a reinstall', '/reinstall', { os: 'tiny', password: 'Good-Pass-1' }, 'createDisk'],
    ['the boot of a reinstall', '/reinstall', { os: 'tiny', password: 'Good-Pass-1' }, 'boot'],
    ['a restart', '/restart', {}, 'boot'],
    ['a stop', '/stop', {}, 'shutdown'],
  ])('as %s does not keep the power, and leaves the machine off', async (_, path, body, slow) => {
    await begin(path, body, slow);
    await change('suspend');
    const asked = Date.now();
    await until(
      async () => isOn(),
      (on) => !on,
    );
    if (slow === 'keep' || slow === 'createDisk') expect(Date.now() - asked).toBeLessThan(slowMs - 300);
    await settled(product);
    await compare();
    expect([isOn(), (await overview()).state, (await overview()).locked]).toEqual([
      false,
      'suspended',
      false,
    ]);
    for (const call of Object.keys(delaysMs)) delete delaysMs[call];
    await changed('unsuspend');
    await compare();
    await settled(product);
    const { state } = await overview();
    expect([isOn(), state]).toEqual(
      path === '/stop' ? [isOn(), isOn() ? 'running' : 'stopped'] : [true, 'running'],
    );
  });

  it('does not lose a stop with force that waits for it', async () => {
    await begin('/snapshots', { name: 'slow' }, 'keep');
    expect((await ask('/stop', { force: true })).status).toBe(200);
    await changed('suspend');
    expect((await commands()).slice(0, 3).toSorted()).toEqual([
      'create_snapshot: success',
      'stop: success',
      'suspend: success',
    ]);
    await changed('unsuspend');
    expect([isOn(), (await overview()).state]).toEqual([false, 'stopped']);
  });
});

describe('a service that ended', () => {
  it('leaves nothing of its machine but the history, and what it held is free', async () => {
    const vps = `/dashboard/service/${id}/vps`;
    const taken = () =>
      sql(product, 'select cpu_cores_taken, memory_mib_taken, disk_gib_taken, copies_gib from nodes');
    await ask('/snapshots', { name: 'kept' });
    await settled(product);
    const [{ address }] = (await customer.get(`${vps}/ips`)).body.data.ips;
    await customer.patch(`${vps}/ips`, { address, dns_name: 'web1.example.com' });
    await customer.post(`/dashboard/services/${id}/upgrade-vps`, { option1: 2, option4: 2 });
    const [before] = await taken();
    await changed('terminate');

    expect(store.machines.has(machineIdOf(id))).toBe(false);
    const of = (table: string) => sql(product, `select 1 from ${table} where service_id = $1`, id);
    for (const table of [
      'machines',
      'placements',
      'addresses',
      'vps_snapshots',
      'vps_access',
      'console_tickets',
    ])
      expect([table, await of(table)]).toEqual([table, []]);
    const [row] = await sql(
      product,
      'select state, dns_name from addresses where host(address) = $1',
      address,
    );
    expect(row).toEqual({ state: 'resting', dns_name: null });
    const [after] = await taken();
    expect(after).not.toEqual(before);
    const invoices = (await customer.get('/dashboard/invoices')).body.data.invoices;
    expect(invoices.filter(({ status }: { status: string }) => status === 'unpaid')).toEqual([]);
    expect((await commands())[0]).toBe('terminate: success');
    expect(await overview()).toMatchObject({ state: 'deleting', locked: false, ips: [], usage: null });
    expect((await ask('/start')).body.message).toBe('The service is terminated');
    expect((await customer.get(`${vps}/settings`)).body.code).toBe('action_not_allowed');
    await compare();
    expect(await audit(product.databaseUrl)).toEqual([]);
  });

  it('may have been suspended before, or have something under way', async () => {
    await changed('suspend');
    await changed('terminate');
    expect(store.machines.has(machineIdOf(id))).toBe(false);
    ({ serviceId: id } = await runningVps(product, customer));
    await begin('/snapshots', { name: 'slow' }, 'keep');
    await changed('terminate');
    expect(store.machines.has(machineIdOf(id))).toBe(false);
    expect(await audit(product.databaseUrl)).toEqual([]);
  });
});

it('whatever is asked in whatever order, a machine ends as its service says', {
  timeout: 240_000,
}, async () => {
  const steps = ['suspend', 'unsuspend', '/start', '/stop', '/restart', 'force', 'compare'] as const;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...steps), { minLength: 2, maxLength: 7 }), async (asked) => {
      const body = { reason: 'For a test' };
      for (const step of asked) {
        if (step === 'compare') await compare();
        else if (step === 'force') await ask('/stop', { force: true });
        else if (step.startsWith('/')) await ask(step);
        else await product.staff.post(`/staff/services/${id}/${step}`, step === 'suspend' ? body : undefined);
      }
      await settled(product);
      await compare();
      await settled(product);
      const [row] = await sql<{ status: string; wanted: string }>(
        product,
        'select s.status, m.wanted from services s join machines m on m.service_id = s.id where s.id = $1',
        id,
      );
      const { state, locked } = await overview();
      if (row?.status === 'suspended') expect([state, isOn(), locked]).toEqual(['suspended', false, false]);
      else expect([state, isOn(), locked]).toEqual([row?.wanted, row?.wanted === 'running', false]);
    }),
    { numRuns: 15 },
  );
});
