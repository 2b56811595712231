import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostileTexts } from '../../test/hostile.ts';
import { runningVps } from '../../test/orders.ts';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';
import { statement } from '../platform/index.ts';
import { machineStates } from './states.ts';

let product: TestProduct;
let id: number;
let vps: string;

beforeAll(async () => {
  product = await startTestProduct({ simulator: { delaysMs: {} } });
  ({ serviceId: id } = await runningVps(product, product.customer));
  vps = `/dashboard/service/${id}/vps`;
});
afterAll(() => product.stop());

const idle = () =>
  until(
    () => product.customer.get(`${vps}/overview`),
    ({ body }) => body.data.vps.locked === false,
  );

const setState = statement<never, { serviceId: number; state: string }>(
  'test.setState',
  'update machines set state = :state where service_id = :serviceId',
);

const actions: [method: string, path: string, body?: unknown][] = [
  ['POST', '/start', {}],
  ['POST', '/stop', { force: true }],
  ['POST', '/restart', { force: true }],
  ['GET', '/console'],
  ['POST', '/reinstall', { os: 'tiny', password: 'Good-Pass-1' }],
  ['POST', '/snapshots', { name: 'one' }],
  ['POST', '/snapshots/one/restore', {}],
  ['DELETE', '/snapshots/one'],
  ['POST', '/reset-password', {}],
  ['POST', '/access', { ssh_key_ids: [] }],
  ['PATCH', '/settings', { hostname: 'state.example.com' }],
];

describe('every state and every action', () => {
  it.each(machineStates)('%s: each action answers 200, 404 or 409, and never hangs', async (state) => {
    for (const [method, path, body] of actions) {
      await idle();
      await product.ctx.db.run(setState, { serviceId: id, state });
      const answer = await product.customer.request(method, vps + path, body);
      expect([200, 404, 409], `${state} ${path}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
      if (answer.status === 404)
        expect(path, 'only what is not there is not found').toMatch(/snapshots\/one/);
    }
    await idle();
  });
});

describe('hostile texts in every string field', () => {
  it.each([
    ['POST', '/reinstall', (text: string) => ({ os: text, password: 'Good-Pass-1' })],
    ['POST', '/reinstall', (text: string) => ({ os: 'tiny', password: text })],
    ['POST', '/reinstall', (text: string) => ({ os: 'tiny', password: 'Good-Pass-1', hostname: text })],
    ['POST', '/reinstall', (text: string) => ({ os: 'tiny', password: 'Good-Pass-1', user_data: text })],
    ['POST', '/snapshots', (text: string) => ({ name: text })],
    ['POST', '/snapshots', (text: string) => ({ name: 'fine', description: text })],
    ['POST', '/reset-password', (text: string) => ({ password: text })],
    ['PATCH', '/settings', (text: string) => ({ hostname: text })],
    ['PATCH', '/settings', (text: string) => ({ nameservers: [text] })],
    ['PATCH', '/settings', (text: string) => ({ notifications: { [text]: true } })],
    ['PATCH', '/ips', (text: string) => ({ address: text, dns_name: null })],
    ['PATCH', '/ips', (text: string) => ({ address: '10.77.0.2', dns_name: text })],
  ] as const)('%s %s', async (method, path, bodyOf) => {
    for (const text of hostileTexts) {
      const answer = await product.customer.request(method, vps + path, bodyOf(text));
      expect([200, 400, 404, 409], `${JSON.stringify(text)}: ${JSON.stringify(answer.body)}`).toContain(
        answer.status,
      );
    }
    await idle();
  });
});

describe('another organization', () => {
  it('gets 403 on every endpoint and changes nothing', async () => {
    await idle();
    const before = (await product.customer.get(`${vps}/overview`)).body.data.vps;
    for (const [method, path, body] of actions) {
      const answer = await product.other.request(method, vps + path, body);
      expect([answer.status, answer.body.code], path).toEqual([403, 'forbidden']);
    }
    const now = (await product.customer.get(`${vps}/overview`)).body.data.vps;
    const still = { uptime_s: 0, usage: 0, recent: 0, read_at: 0 };
    expect({ ...now, ...still }).toEqual({ ...before, ...still });
  });
});
