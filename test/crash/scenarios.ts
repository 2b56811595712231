import type { Response } from '../client.ts';
import { password, vpsCart } from '../orders.ts';
import { until } from '../product.ts';
import { sql } from '../sql.ts';
import { coupon, type World } from './world.ts';

/**
 * Something that people do with the product, and what comes of it. `arrange` makes what it starts from, `start` is
 * what people do, and `done` returns once the outcome is there. The product must survive all of it at every
 * failpoint.
 */
export interface Scenario<Given = unknown, Started = unknown> {
  name: string;
  arrange: (world: World) => Promise<Given>;
  start: (world: World, given: Given) => Promise<Started>;
  done: (world: World, given: Given, started: Started) => Promise<void>;
  /** It passes failpoints of an earlier scenario and does something else at them, so it is crashed there as well. */
  otherwise?: boolean;
  /** It is about what the clock brings: the periodic job whose failpoints are its own. */
  periodic?: string;
}

export interface Order {
  invoiceId: number;
  serviceId: number;
}

/** Orders a VPS with a coupon and an address of each family. */
export async function order(world: World): Promise<Order> {
  const cart = { ...vpsCart(world.demo, { option5: 1 }), couponcode: coupon };
  const answer = await world.customer.post('/cart/checkout/invoice', cart);
  if (answer.status !== 200) throw new Error(`checkout: ${answer.status} ${JSON.stringify(answer.body)}`);
  const given = { invoiceId: answer.body.data.invoice_id, serviceId: answer.body.data.service_ids[0] };
  await mustExist(world, given); // acknowledged, so it is there whatever happens next
  return given;
}

async function mustExist(world: World, { invoiceId, serviceId }: Order): Promise<void> {
  const invoice = await world.customer.get(`/dashboard/invoices/${invoiceId}`);
  const service = await world.customer.get(`/dashboard/services/${serviceId}`);
  if (invoice.status !== 200 || service.status !== 200) throw new Error(`the order ${invoiceId} is lost`);
}

export async function pay(world: World, { invoiceId }: Order): Promise<void> {
  const answer = await world.customer.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
  if (answer.body.data?.invoice?.status !== 'paid') throw new Error(`pay: ${JSON.stringify(answer.body)}`);
}

async function serviceBecomes(
  world: World,
  { serviceId }: Order,
  field: string,
  value: string,
): Promise<void> {
  await until(
    () => world.customer.get(`/dashboard/services/${serviceId}`),
    (answer) => answer.body.data?.service?.[field] === value,
    180_000,
  );
}

/** A VPS that runs. */
export async function running(world: World): Promise<Order> {
  const given = await order(world);
  await pay(world, given);
  await serviceBecomes(world, given, 'status', 'active');
  await world.settle();
  return given;
}

/** A paid VPS whose machine could not be made, for good. */
async function failed(world: World): Promise<Order> {
  world.failAt('vps.provision/forget');
  const given = await order(world);
  await pay(world, given);
  await serviceBecomes(world, given, 'provisioning_state', 'failed');
  world.failAt(null);
  await world.settle();
  return given;
}

async function stopped(world: World): Promise<Order> {
  const given = await running(world);
  const stop = power('stop');
  await stop.done(world, given, await stop.start(world, given));
  await world.settle();
  return given;
}

/** An action on a machine, and how one sees that it is over. */
function power(command: string, body: object = {}) {
  return {
    start: async (world: World, { serviceId }: Order): Promise<number> => {
      const answer = await world.customer.post(`/dashboard/service/${serviceId}/vps/${command}`, body);
      if (answer.status === 200) return answer.body.data.action.id;
      throw new Error(`${command}: ${answer.status} ${JSON.stringify(answer.body)}`);
    },
    done: async (world: World, { serviceId }: Order, actionId: number): Promise<void> => {
      await until(
        () => world.customer.get(`/dashboard/service/${serviceId}/vps/history/${actionId}`),
        (seen) => seen.body.data?.action?.status === 'success',
        180_000,
      );
    },
  };
}

/**
 * An action whose request carries no Idempotency-Key. Whoever repeats it because the answer was lost may find it
 * under way, or over.
 */
function change(method: 'PATCH' | 'DELETE', path: string, bodyOf: () => object | undefined, command: string) {
  const latest = async (world: World, { serviceId }: Order) => {
    const { body: page } = await world.customer.get(`/dashboard/service/${serviceId}/vps/history`);
    return page.data.actions[0] as { id: number; command: string; status: string };
  };
  return {
    start: async (world: World, given: Order): Promise<number> => {
      const before = await latest(world, given);
      const body = bodyOf();
      const answer = await world.customer.request(
        method,
        `/dashboard/service/${given.serviceId}/vps/${path}`,
        body,
      );
      const action = await latest(world, given);
      if (action.id !== before.id && action.command === command) return action.id;
      throw new Error(`${command}: ${answer.status} ${JSON.stringify(answer.body)}`);
    },
    done: power(command).done,
  };
}

const nothingSent = () => undefined;

let names = 0;

function anotherName(): { hostname: string } {
  names += 1;
  return { hostname: `renamed${names}.example.com` };
}

/** The one machine, without any snapshot. */
async function bare(world: World): Promise<Order> {
  const given = await sameMachine(world);
  const { body } = await world.customer.get(`/dashboard/service/${given.serviceId}/vps/snapshots`);
  for (const { name } of body.data.snapshots) {
    const remove = change('DELETE', `snapshots/${name}`, nothingSent, 'delete_snapshot');
    await remove.done(world, given, await remove.start(world, given));
  }
  return given;
}

/** The one machine, with one snapshot. */
async function kept(world: World): Promise<Order> {
  const given = await bare(world);
  const keep = power('snapshots', { name: 'before' });
  await keep.done(world, given, await keep.start(world, given));
  return given;
}

const machines = new WeakMap<World, Promise<Order>>();

/** One machine for all that only turn it off and on. */
function sameMachine(world: World): Promise<Order> {
  const order = machines.get(world) ?? running(world);
  machines.set(world, order);
  return order;
}

async function transfer(world: World, { invoiceId }: Order): Promise<void> {
  const [due] = await sql<{ total: string }>(
    world,
    'select (total_minor / 100.0)::numeric(12,2)::text as total from invoices where id = $1',
    invoiceId,
  );
  const body = { amount: due?.total, reference: `bank ${invoiceId}` };
  await ask(world.staff.post(`/staff/invoices/${invoiceId}/payments`, body));
}

export async function ask(answer: Promise<Response>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
}

function becomes(field: string, value: string) {
  return (world: World, given: Order) => serviceBecomes(world, given, field, value);
}

export function refund(body: object) {
  return (world: World, { invoiceId }: Order) =>
    ask(world.staff.post(`/staff/invoices/${invoiceId}/refund`, { method: 'credit', ...body }));
}

export function scenario<Given, Started>(
  name: string,
  arrange: Scenario<Given, Started>['arrange'],
  start: Scenario<Given, Started>['start'],
  done: Scenario<Given, Started>['done'] = async () => undefined,
): Scenario {
  return { name, arrange, start, done } as unknown as Scenario;
}

function powering(
  name: string,
  from: Scenario<Order>['arrange'],
  action: ReturnType<typeof power>,
): Scenario {
  return scenario(name, from, action.start, action.done);
}

async function upgrade(world: World, { serviceId }: Order): Promise<void> {
  const path = `/dashboard/services/${serviceId}/upgrade-vps`;
  const { body } = await world.customer.post(path, { option1: 2, option3: 2 });
  if (!body.data?.invoice_id) throw new Error(`upgrade: ${JSON.stringify(body)}`);
  await pay(world, { serviceId, invoiceId: body.data.invoice_id });
}

async function becomesLarger(world: World, { serviceId }: Order): Promise<void> {
  await until(
    () => world.customer.get(`/dashboard/service/${serviceId}/vps/overview`),
    ({ body }) => body.data?.vps.resources.memory_mb === 2_048 && !body.data.vps.locked,
    180_000,
  );
}

async function renew(world: World, { serviceId }: Order): Promise<void> {
  const { body } = await world.customer.post(`/dashboard/services/${serviceId}/renew`, { cycle: 'monthly' });
  if (!body.data?.invoice_id) throw new Error(`renew: ${JSON.stringify(body)}`);
  await pay(world, { serviceId, invoiceId: body.data.invoice_id });
}

/** One period more than the first, and not two. */
async function isRenewed(world: World, { serviceId }: Order): Promise<void> {
  await until(
    () =>
      sql<{ periods: number }>(
        world,
        `select count(*)::int as periods from service_renewals r join services s on s.id = r.service_id
         where r.service_id = $1 and r.state = 'applied' and r.ends_on = s.duedate`,
        serviceId,
      ),
    ([found]) => found?.periods === 1,
    180_000,
  );
}

const nothing = async () => undefined;

/** Asks staff's endpoint for a change of state; whoever repeats it because the answer was lost may find it done. */
function changeState(command: 'suspend' | 'unsuspend' | 'terminate', body: object | undefined, to: string) {
  return async (world: World, { serviceId }: Order): Promise<void> => {
    const { status, body: said } = await world.staff.post(`/staff/services/${serviceId}/${command}`, body);
    const { body: seen } = await world.staff.get(`/staff/services/${serviceId}`);
    if (seen.data?.service.status !== to) throw new Error(`${command}: ${status} ${JSON.stringify(said)}`);
  };
}

const suspend = changeState('suspend', { reason: 'It attacks others' }, 'suspended');
const unsuspend = changeState('unsuspend', undefined, 'active');
const terminate = changeState('terminate', { reason: 'Its customer asked for it' }, 'terminated');

function machineBecomes(state: string) {
  return async (world: World, { serviceId }: Order): Promise<void> => {
    await until(
      () => world.customer.get(`/dashboard/service/${serviceId}/vps/overview`),
      ({ body }) => body.data?.vps.state === state && !body.data.vps.locked,
      180_000,
    );
  };
}

/** Lets the end of the paid time come near, and the calendar notice. */
async function nearItsEnd(world: World, { serviceId }: Order): Promise<void> {
  await sql(
    world,
    'update services set duedate = current_date + 5, calendar_on = null where id = $1',
    serviceId,
  );
}

async function hasRenewal(world: World, { serviceId }: Order): Promise<void> {
  const found = () =>
    sql(world, 'select 1 from service_calendar where service_id = $1 and step is not null', serviceId);
  await until(found, (rows) => rows.length === 1, 180_000);
}

/** The same, and the last reminder of its invoice was sent long ago. */
async function longOverdue(world: World, given: Order): Promise<void> {
  await nearItsEnd(world, given);
  await hasRenewal(world, given);
  await sql(
    world,
    `update service_calendar set step = 'last_reminder', warned_step = 'last_reminder', warned_on = current_date - 30,
       look_on = current_date where service_id = $1`,
    given.serviceId,
  );
  await sql(
    world,
    `update invoices set expires_at = now() - interval '30 days'
     where id = (select invoice_id from service_calendar where service_id = $1)`,
    given.serviceId,
  );
}

/** The one machine, running. */
async function unsuspended(world: World): Promise<Order> {
  const given = await sameMachine(world);
  const { body } = await world.staff.get(`/staff/services/${given.serviceId}`);
  if (body.data.service.status === 'suspended') await unsuspend(world, given);
  await machineBecomes('running')(world, given);
  return given;
}

async function suspended(world: World): Promise<Order> {
  const given = await unsuspended(world);
  await suspend(world, given);
  await machineBecomes('suspended')(world, given);
  return given;
}

/** Lets the time to pay pass, and waits until the product has noticed. */
async function expire(world: World, { invoiceId }: Order): Promise<void> {
  await sql(world, `update invoices set expires_at = now() - interval '1 hour' where id = $1`, invoiceId);
  await until(
    () => world.customer.get(`/dashboard/invoices/${invoiceId}`),
    ({ body }) => body.data?.invoice.status === 'cancelled',
    180_000,
  );
}

let pricesSaid = 4_00;

/** Moves everyone with a VPS to a price that there was not before. */
async function movePrices(world: World): Promise<void> {
  pricesSaid += 1;
  const path = `/staff/products/${world.demo.products.vps}`;
  const price = (pricesSaid / 100).toFixed(2);
  await ask(world.staff.patch(path, { prices: [{ cycle: 'monthly', price }] }));
  const from = new Date(Date.now() + 60 * 86_400_000).toISOString().slice(0, 10);
  await ask(world.staff.post(`${path}/price-moves`, { from }));
}

async function allAreTold(world: World): Promise<void> {
  const waiting = () =>
    sql(
      world,
      `select 1 from price_moves where gathered_at is null
       union all select 1 from service_price_moves r join services s on s.id = r.service_id and s.status = 'active'
         and not s.cancelled where r.state = 'waiting'`,
    );
  await until(waiting, (rows) => rows.length === 0, 180_000);
}

async function dropOf(world: World, { serviceId }: Order) {
  const { ips } = (await world.customer.get('/shield/v2/ips?limit=100')).body.data;
  const own = ips.find((ip: { service_id: number }) => ip.service_id === serviceId);
  return { destination: String(own?.address), action: 'deny', protocol: 47, order: 7 };
}

async function newRule(world: World, given: Order): Promise<void> {
  await ask(world.customer.post('/shield/v2/rules', await dropOf(world, given)));
}

async function replaceRules(world: World, given: Order): Promise<void> {
  const rules = [await dropOf(world, given)];
  await ask(world.customer.post('/shield/v2/rules/apply', { rules }));
}

/** Each of them where packets are, as it is wanted. */
async function rulesAreInForce(world: World): Promise<void> {
  await until(
    () => world.customer.get('/shield/v2/rules?limit=100'),
    ({ body }) => body.data?.rules.length > 0 && body.data.rules.every(isInForce),
    180_000,
  );
}

function isInForce({ enforced }: { enforced: { active: boolean; error: string | null } }): boolean {
  return enforced.active && enforced.error === null;
}

/** Every saga and verb that has to survive. A later one is one line more. */
export const scenarios: Scenario[] = [
  scenario('checkout', nothing, order),
  scenario('pay', order, pay, becomes('status', 'active')),
  scenario('transfer', order, transfer, becomes('status', 'active')),
  { ...scenario('expiry', order, expire, becomes('status', 'cancelled')), periodic: 'billing.expire' },
  powering('stop', running, power('stop')),
  powering('start', stopped, power('start')),
  powering('restart', sameMachine, power('restart')),
  { ...powering('restart by force', sameMachine, power('restart', { force: true })), otherwise: true },
  powering('reinstall', bare, power('reinstall', { os: 'tiny', password })),
  powering('snapshot', bare, power('snapshots', { name: 'before' })),
  powering('restore', kept, power('snapshots/before/restore')),
  powering('delete snapshot', kept, change('DELETE', 'snapshots/before', nothingSent, 'delete_snapshot')),
  scenario('upgrade', running, upgrade, becomesLarger),
  scenario('renew', running, renew, isRenewed),
  powering('password', sameMachine, power('reset-password', { password })),
  powering('keys', sameMachine, power('access', { ssh_key_ids: [] })),
  powering('rename', sameMachine, change('PATCH', 'settings', anotherName, 'rename')),
  scenario(
    'retry',
    failed,
    (world, { serviceId }) => ask(world.staff.post(`/staff/services/${serviceId}/retry`)),
    becomes('status', 'active'),
  ),
  { ...scenario('renewal', running, nearItsEnd, hasRenewal), periodic: 'services.calendar' },
  scenario('price move', unsuspended, movePrices, allAreTold),
  { ...scenario('unpaid', running, longOverdue, machineBecomes('suspended')), periodic: 'services.calendar' },
  scenario('suspend', unsuspended, suspend, machineBecomes('suspended')),
  scenario('unsuspend', suspended, unsuspend, machineBecomes('running')),
  scenario('rule', sameMachine, newRule, rulesAreInForce),
  scenario('rules as one', sameMachine, replaceRules, rulesAreInForce),
  scenario('terminate', running, terminate, becomes('status', 'terminated')),
  scenario('refund', failed, refund({ reason: 'could not be delivered' }), becomes('status', 'cancelled')),
  scenario('partial refund', sameMachine, refund({ amount: '0.01', reason: 'goodwill' })),
  scenario('credit', nothing, (world) =>
    ask(
      world.staff.post(`/staff/organizations/${world.demo.customer.organization_id}/credit`, {
        amount: '1.00',
        currency: 'EUR',
        description: 'Thank you',
      }),
    ),
  ),
];

export function scenarioOf(name: string): Scenario {
  const found = scenarios.find((each) => each.name === name);
  if (!found) throw new Error(`there is no scenario ${name}`);
  return found;
}
