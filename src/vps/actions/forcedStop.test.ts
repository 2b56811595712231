import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { settled } from '../../../test/sql.ts';
import { simulatorStore } from '../../drivers/hypervisor/index.ts';
import { machineIdOf } from '../machine.ts';

const store = simulatorStore();
const slowMs = 3_000;
const delaysMs: Record<string, number> = {};
const called = new Set<string>();
let product: TestProduct;
let customer: Person;
let id: number;

beforeAll(async () => {
  const failure = (call: string, machineId: string) => {
    called.add(`${call} ${machineId}`);
    return null;
  };
  product = await startTestProduct({ simulator: { store, delaysMs, failure } });
  customer = await newCustomer(product, { creditMinor: 50_000 });
  ({ serviceId: id } = await runningVps(product, customer));
  await ask('/snapshots', { name: 'known' });
  await settled(product);
});
beforeEach(async () => {
  for (const call of Object.keys(delaysMs)) delete delaysMs[call];
  await settled(product);
  if (!isOn()) await ask('/start', {});
  await settled(product);
  expect(isOn()).toBe(true);
});
afterAll(() => product.stop());

function ask(path: string, body: object) {
  return customer.post(`/dashboard/service/${id}/vps${path}`, body);
}

function isOn(): boolean {
  return store.machines.get(machineIdOf(id))?.startedAtMs !== null;
}

async function actionOf(actionId: number) {
  return (await customer.get(`/dashboard/service/${id}/vps/history/${actionId}`)).body.data.action;
}

/**
 * Asks for something that takes long, and waits until its node is at it. An action that only counts as running may still
 * find that it is not to go on, and then ends at once.
 */
async function begin(path: string, body: object, slow: string): Promise<number> {
  delaysMs[slow] = slowMs;
  called.clear();
  const { action } = (await ask(path, body)).body.data;
  const call = `${slow === 'boot' ? 'start' : slow} ${machineIdOf(id)}`;
  await until(
    async () => called.has(call),
    (isAtIt) => isAtIt,
  );
  return action.id;
}

it.each([
  ['a snapshot', '/snapshots', { name: 'slow' }, 'keep'],
  ['a restore before its machine is off', '/snapshots/known/restore', {}, 'shutdown'],
  ['a restore', '/snapshots/known/restore', {}, 'restore'],
  ['a reinstall', '/reinstall', { os: 'tiny', password: 'Good-Pass-1' }, 'createDisk'],
  ['the boot of a reinstall', '/reinstall', { os: 'tiny', password: 'Good-Pass-1' }, 'boot'],
])('takes the power at once during %s, and it stays off', async (_, path, body, slow) => {
  const first = await begin(path, body, slow);
  if (slow === 'boot') await until(async () => isOn(), Boolean);
  // What is said of it is what it does.
  const before = (await customer.get(`/dashboard/service/${id}/vps/overview`)).body.data.vps.actions;
  expect([before.stop.code, before.force_stop]).toEqual([
    'locked',
    { allowed: true, reason: null, code: null },
  ]);
  const asked = Date.now();
  const forced = await ask('/stop', { force: true });
  expect([forced.status, forced.body.code]).toEqual([200, undefined]);
  expect(forced.body.data.action).toMatchObject({ command: 'stop', status: 'queued' });
  await until(
    async () => isOn(),
    (on) => !on,
  );
  expect(Date.now() - asked, 'it waited for the action').toBeLessThan(slowMs - 500);
  if (slow === 'keep') {
    const { vps } = (await customer.get(`/dashboard/service/${id}/vps/overview`)).body.data;
    expect(vps.actions.force_stop).toMatchObject({ allowed: false, code: 'locked' });
    expect((await ask('/stop', { force: true })).body.code).toBe('locked');
  }
  await settled(product);
  expect(isOn()).toBe(false);
  expect((await actionOf(forced.body.data.action.id)).status).toBe('success');
  expect(['success', 'error']).toContain((await actionOf(first)).status);
  const { vps } = (await customer.get(`/dashboard/service/${id}/vps/overview`)).body.data;
  expect(vps).toMatchObject({ state: 'stopped', locked: false });
  expect(vps.actions.force_stop).toMatchObject({ allowed: false, code: 'action_not_allowed' });
});

it('waits behind no other action of its organization', async () => {
  const others = [];
  for (let made = 0; made < 6; made += 1) others.push((await runningVps(product, customer)).serviceId);
  delaysMs.shutdown = slowMs;
  for (const other of others) await customer.post(`/dashboard/service/${other}/vps/stop`, {});
  const asked = Date.now();
  expect((await ask('/stop', { force: true })).status).toBe(200);
  await until(
    async () => isOn(),
    (on) => !on,
  );
  expect(Date.now() - asked).toBeLessThan(slowMs - 500);
});
