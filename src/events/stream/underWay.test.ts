import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type EventStream, openStream } from '../../../test/stream.ts';
import { simulatorStore } from '../../drivers/hypervisor/index.ts';
import { machineIdOf } from '../../vps/machine.ts';

const delaysMs: Record<string, number> = {};
const store = simulatorStore();
let product: TestProduct;
let owner: Person;
let id: number;
beforeAll(async () => {
  product = await startTestProduct({ simulator: { store, delaysMs } });
  owner = await newCustomer(product, { creditMinor: 50_000 });
  ({ serviceId: id } = await runningVps(product, owner));
  await settled(product);
});
afterAll(() => product.stop());

const opened: EventStream[] = [];
afterEach(() => {
  for (const call of Object.keys(delaysMs)) delete delaysMs[call];
  for (const stream of opened.splice(0)) stream.close();
});

async function follow(headers: Record<string, string>, path = '/dashboard/events'): Promise<EventStream> {
  const stream = await openStream(`${product.url}/api${path}`, headers);
  opened.push(stream);
  return stream;
}

function own({ key, organizationId }: Person): Promise<EventStream> {
  return follow({ token: key, 'x-organization-id': String(organizationId) });
}

const told = ({ events }: EventStream) => events.filter(({ event }) => event === 'vps.action.progress');
const entries = async () =>
  Number((await sql<{ count: string }>(product, 'select count(*) from journal'))[0]?.count);

it('tells how far an action has come, to who may see it and nobody else, and keeps nothing of it', async () => {
  const stranger = await newCustomer(product);
  // Whoever of staff is there first takes nothing of it from customers.
  await follow({ token: product.demo.staff.api_key }, '/staff/events');
  const [theirs, others] = [await own(owner), await own(stranger)];
  delaysMs.createDisk = 8_000;
  const answer = await owner.post(`/dashboard/service/${id}/vps/reinstall`, {
    ...{ os: 'tiny', password: 'Good-Pass-1' },
  });
  const action = answer.body.data.action.id;
  const before = await entries();
  const steps = () => told(theirs).map(({ data }) => data.data.progress as number);
  await expect.poll(() => steps().at(-1)).toBeGreaterThan(0);
  expect(await entries()).toBe(before);
  expect(told(theirs).at(-1)).toMatchObject({
    id: null,
    data: {
      type: 'vps.action.progress',
      data: {
        ...{ organization_id: owner.organizationId, subject: { type: 'service', id } },
        ...{ action_id: action, command: 'reinstall', status: 'running', note: null },
      },
    },
  });
  // Who comes in the middle hears where it is.
  const late = await own(owner);
  await expect.poll(() => told(late).length).toBeGreaterThan(0);
  await settled(product);
  expect(steps()).toEqual(steps().toSorted((one, other) => one - other));
  expect(new Set(told(theirs).map(({ data }) => JSON.stringify(data.data))).size).toBe(told(theirs).length);
  expect(told(others)).toEqual([]);
});

it('tells of a repair that the product begins by itself, before it has ended', async () => {
  const theirs = await own(owner);
  delaysMs.start = 3_000;
  product.hypervisor.lose(machineIdOf(id));
  await expect.poll(() => told(theirs).map(({ data }) => data.data.command)).toContain('start');
  const { body } = await owner.get(`/dashboard/service/${id}/vps/overview`);
  expect(body.data.vps.current_action).toMatchObject({ command: 'start', initiator: { type: 'system' } });
  await settled(product);
});
