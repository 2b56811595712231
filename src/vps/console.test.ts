import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { runningVps } from '../../test/orders.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { statement } from '../platform/index.ts';

let product: TestProduct;
let id: number;

beforeAll(async () => {
  product = await startTestProduct();
  ({ serviceId: id } = await runningVps(product, product.customer));
});
afterAll(() => product.stop());

/** The way to a console as this test reaches the product: its public URL does not know the port. */
async function consoleUrl(type: string): Promise<string> {
  const answer = await product.customer.get(`/dashboard/service/${id}/vps/console?type=${type}`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return product.url.replace('http', 'ws') + new URL(answer.body.data.wss_url).pathname;
}

interface Session {
  socket: WebSocket;
  /** What came first. */
  greeting: Promise<string>;
  closed: Promise<number>;
}

function connect(url: string, origin?: string): Session {
  const socket = new WebSocket(url, origin === undefined ? {} : { origin });
  const greeting = new Promise<string>((resolve) =>
    socket.once('message', (data) => resolve(data.toString())),
  );
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  return { socket, greeting, closed };
}

/** The status with which a connection is refused. */
function refusal(url: string, origin?: string): Promise<number> {
  const { socket } = connect(url, origin);
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    socket.once('open', () => resolve(101));
  });
}

describe('a console', () => {
  it('carries the bytes of the screen and of the serial line', async () => {
    const screen = connect(await consoleUrl('vnc'));
    expect(await screen.greeting).toMatch(/^RFB 003\./);
    screen.socket.close();
    const serial = connect(await consoleUrl('serial'));
    expect(await serial.greeting).toMatch(/login/);
    serial.socket.close();
  });

  it('opens once only, not after thirty seconds, and not from the page of another site', async () => {
    const url = await consoleUrl('vnc');
    const first = connect(url);
    await first.greeting;
    expect(await refusal(url)).toBe(401);
    first.socket.close();

    const late = await consoleUrl('vnc');
    product.clock.travel(31_000);
    expect(await refusal(late)).toBe(401);
    expect(await refusal(await consoleUrl('vnc'), 'https://evil.example')).toBe(403);
    expect(await refusal(`${product.url.replace('http', 'ws')}/api/console/guess`)).toBe(404);
  });

  it('closes within five seconds when the member is removed', async () => {
    const session = connect(await consoleUrl('serial'));
    await session.greeting;
    const remove = statement('test.removeMember', 'delete from memberships where organization_id = $1');
    await product.ctx.db.run(remove, product.demo.customer.organization_id);
    const began = Date.now();
    expect(await session.closed).toBe(1008);
    expect(Date.now() - began).toBeLessThan(5_000);
    const restore = statement(
      'test.restoreMember',
      `insert into memberships (organization_id, user_id, role, joined_at)
       select $1, user_id, 'owner', now() from services where id = $2`,
    );
    await product.ctx.db.run(restore, product.demo.customer.organization_id, id);
    await new Promise((resolve) => setTimeout(resolve, 1_100)); // the membership may be remembered for a second
  });

  it('closes when the machine stops, and a stopped machine has none', async () => {
    const session = connect(await consoleUrl('vnc'));
    await session.greeting;
    await product.customer.post(`/dashboard/service/${id}/vps/stop`, { force: true });
    expect(await session.closed).toBe(1001);
    await expect
      .poll(async () => (await product.customer.get(`/dashboard/service/${id}/vps/console`)).body.code)
      .toBe('action_not_allowed');
  });
});
