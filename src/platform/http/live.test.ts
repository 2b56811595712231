import { Type } from 'typebox';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestProduct } from '../../../test/product.ts';
import { databaseDns } from '../../drivers/dns/index.ts';
import { Nullable, routes, Strict } from './index.ts';
import { type Demo, startDemo } from './testbed.ts';

const liveRoutes = routes('/dashboard/names', { tag: 'Names' }, (route) => {
  route.get(
    '/engine',
    {
      auth: 'account',
      operation: 'getEngine',
      summary: 'Get engine',
      data: Type.Object({ kind: Type.String() }),
      drivers: ['dns'],
    },
    (_ctx, req) => ({ kind: req.drivers.dns.kind }),
  );
  route.post(
    '/ask',
    {
      auth: 'account',
      operation: 'askEngine',
      summary: 'Ask engine',
      body: Strict({ live: Type.Boolean() }),
      data: Type.Object({ kind: Nullable(Type.String()) }),
      idempotency: 'off',
      drivers: ['dns'],
      liveWhen: ({ body }) => body.live,
    },
    (_ctx, { body, drivers }) => ({ kind: body.live ? drivers.dns.kind : null }),
  );
});

describe('a live route', () => {
  let demo: Demo;
  afterEach(() => demo.app.close());

  it('is handed the driver that it asks for', async () => {
    demo = await startDemo({ routes: [liveRoutes], drivers: { dns: databaseDns() } });
    const answer = await demo.call('GET', '/api/dashboard/names/engine');
    expect(answer.body).toEqual({ success: true, data: { kind: 'database' } });
  });

  it('is refused in words by a process without that driver, once it is known who asks', async () => {
    demo = await startDemo({ routes: [liveRoutes] });
    const answer = await demo.call('GET', '/api/dashboard/names/engine');
    expect([answer.status, answer.body.code]).toEqual([503, 'driver_absent']);
    expect(answer.body.message).toContain('has no dns');
    expect((await demo.call('GET', '/api/dashboard/names/engine', { as: null })).status).toBe(401);
  });

  it('that only some requests need a driver for answers the others without it', async () => {
    const ask = (live: unknown) => demo.call('POST', '/api/dashboard/names/ask', { body: { live } });
    demo = await startDemo({ routes: [liveRoutes] });
    expect((await ask(false)).body.data).toEqual({ kind: null });
    const refused = await ask(true);
    expect([refused.status, refused.body.code]).toEqual([503, 'driver_absent']);
    expect((await ask('yes')).status).toBe(400);
    await demo.app.close();
    demo = await startDemo({ routes: [liveRoutes], drivers: { dns: databaseDns() } });
    expect((await ask(true)).body.data).toEqual({ kind: 'database' });
  });
});

describe('a process that runs no machines', () => {
  it('gives no ticket to a console that it could not carry', async () => {
    const product = await startTestProduct({ env: { ROLE: 'api' } });
    const answer = await product.customer.get('/dashboard/service/1/vps/console');
    expect([answer.status, answer.body.code]).toEqual([503, 'driver_absent']);
    expect((await product.nobody.get('/dashboard/service/1/vps/console')).status).toBe(401);
    const screen = await product.customer.get('/dashboard/service/1/vps/screen');
    expect([screen.status, screen.body.code]).toEqual([503, 'driver_absent']);
    await product.stop();
  });
});
