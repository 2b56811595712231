import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { closeApi } from './api.ts';
import { sessionCookie } from './credential.ts';
import { generalLimits } from './limits.ts';
import { forgetPrincipals } from './principal.ts';
import { type Demo, startDemo } from './testbed.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => closeApi(demo.app));

const notes = '/api/dashboard/notes';

describe('who is asking', () => {
  it('is settled before the organization, and that before the shape', async () => {
    const code = async (options: object) =>
      (await demo.call('POST', notes, { body: '{broken', ...options })).body.code;
    expect(await code({ as: null, organization: null })).toBe('unauthorized');
    expect(await code({ as: 'nobody', organization: 'x' })).toBe('unauthorized');
    expect(await code({ organization: null })).toBe('organization_required');
    for (const organization of ['x', '1.0', '0', '-1', '1e3', '99999999999999999', '1, 1']) {
      expect(await code({ organization })).toBe('organization_required');
    }
    expect(await code({})).toBe('invalid_json');
  });

  it('may send the credential as token, as bearer, or as the cookie of the dashboard', async () => {
    const headers = { authorization: 'Bearer ada' };
    expect((await demo.call('GET', notes, { as: null, headers })).status).toBe(200);
    const cookie = { cookie: `x=y; ${sessionCookie}=bob` };
    expect((await demo.call('GET', notes, { as: null, headers: cookie })).status).toBe(200);
  });

  it('is not believed on a cookie when another site makes the change', async () => {
    const poke = async (headers: Record<string, string>) =>
      (
        await demo.call('POST', `${notes}/poke`, {
          as: null,
          headers: { cookie: `${sessionCookie}=bob`, ...headers },
        })
      ).body;
    expect((await poke({ origin: 'https://evil.example' })).code).toBe('origin_refused');
    expect((await poke({ origin: 'null' })).code).toBe('origin_refused');
    expect((await poke({})).code).toBe('origin_refused');
    expect((await poke({ origin: demo.url })).success).toBe(true);
    expect((await poke({ origin: 'http://localhost:8080' })).success).toBe(true);
  });

  it('gets the same answer for a foreign organization and for one that does not exist', async () => {
    const [foreign, missing] = [
      await demo.call('GET', notes, { organization: 2 }),
      await demo.call('GET', notes, { organization: 99 }),
    ];
    expect([foreign.status, foreign.body.code]).toEqual([403, 'forbidden']);
    expect({ ...foreign.body, request_id: '' }).toEqual({ ...missing.body, request_id: '' });
  });

  it('needs the permission that the route names', async () => {
    const { status, body } = await demo.call('POST', notes, { as: 'bob', body: { text: 'x' } });
    expect([status, body.code]).toEqual([403, 'permission_denied']);
  });

  it('reaches staff routes only with a staff role and a session', async () => {
    expect((await demo.call('GET', '/api/staff/notes', { as: 'root' })).body.data).toEqual({
      role: 'administrator',
      actor: 'staff',
    });
    expect((await demo.call('GET', '/api/staff/notes')).body.code).toBe('staff_only');
    expect((await demo.call('GET', '/api/staff/notes', { as: 'bob' })).body.code).toBe('staff_only');
  });

  it('needs a session where a key is not enough', async () => {
    expect((await demo.call('POST', '/api/keys')).body.code).toBe('session_required');
    expect((await demo.call('POST', '/api/keys', { as: 'bob' })).status).toBe(200);
  });

  it('falls back to the only organization at checkout, and must choose between several', async () => {
    const checkout = async (options: object) =>
      (
        await demo.call('POST', '/api/cart/checkout', {
          organization: null,
          body: { products: [] },
          ...options,
        })
      ).body;
    expect((await checkout({})).data).toEqual({ organization: 1 });
    expect((await checkout({ as: 'bob' })).code).toBe('organization_ambiguous');
    expect((await checkout({ as: 'bob', organization: 2 })).data).toEqual({ organization: 2 });
    expect((await checkout({ as: 'nobody' })).message).toBe('unauthenticated');
  });
});

describe('what is remembered of a caller', () => {
  it('spares the question for a second and not longer', async () => {
    forgetPrincipals();
    const before = demo.authentication.calls;
    for (let i = 0; i < 20; i += 1) await demo.call('GET', notes);
    expect(demo.authentication.calls).toBe(before + 1);
    demo.authentication.revoke('ada');
    demo.clock.travel(1_000);
    expect((await demo.call('GET', notes)).status).toBe(401);
    demo.authentication.restore('ada');
    expect((await demo.call('GET', notes)).status).toBe(200);
  });

  it('is forgotten at once when a room says so', async () => {
    expect((await demo.call('GET', notes)).status).toBe(200);
    demo.authentication.revoke('ada');
    forgetPrincipals();
    expect((await demo.call('GET', notes)).status).toBe(401);
    demo.authentication.restore('ada');
  });

  it('is asked once when many requests come at the same time', async () => {
    forgetPrincipals();
    const before = demo.authentication.calls;
    // On a busy machine they take longer than the second for which an answer is remembered.
    const still = vi.spyOn(demo.clock, 'now').mockReturnValue(demo.clock.now());
    await Promise.all(Array.from({ length: 30 }, () => demo.call('GET', notes)));
    still.mockRestore();
    expect(demo.authentication.calls).toBe(before + 1);
  });
});

describe('limits', () => {
  it('are announced, counted for each caller, and end in 429 with Retry-After', async () => {
    const limited = await startDemo({ env: { RATE_LIMITS: 'on' } });
    const checkout = (as: string) =>
      limited.call('POST', '/api/cart/checkout', { as, body: { products: [] } });
    const first = await checkout('ada');
    expect(first.headers.get('ratelimit-policy')).toBe(
      '"default";q=1200;w=60, "account";q=3600;w=60, "organization";q=14400;w=60, "demo";q=60;w=60',
    );
    expect(first.headers.get('ratelimit')).toBe(
      '"default";r=1199;t=60, "account";r=3599;t=60, "organization";r=14399;t=60, "demo";r=59;t=60',
    );
    for (let i = 1; i < 60; i += 1) await checkout('ada');
    const over = await checkout('ada');
    expect([over.status, over.body.code, over.body.error]).toEqual([
      429,
      'rate_limited',
      'Too Many Requests',
    ]);
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(over.headers.get('ratelimit')).toMatch(/^"demo";r=0;t=\d+$/);
    expect((await limited.call('GET', notes)).status).toBe(200);
    expect((await checkout('bob')).status).toBe(200);
    await closeApi(limited.app);
  });

  it('bound what somebody changes in an hour, where no class of its own does', async () => {
    const limited = await startDemo({ env: { RATE_LIMITS: 'on' } });
    const policy = async (method: string, path: string) =>
      (await limited.call(method, path)).headers.get('ratelimit-policy');
    expect(await policy('POST', '/api/dashboard/notes/poke')).toContain('"change";q=3600;w=3600');
    expect(await policy('GET', notes)).not.toContain('change');
    const asked = await limited.call('POST', '/api/dashboard/notes/poke');
    expect(asked.headers.get('ratelimit')).toContain('"change";r=3598;');
    await closeApi(limited.app);
  });

  it('stop an address that keeps guessing keys from being looked at', async () => {
    const limited = await startDemo({ env: { RATE_LIMITS: 'on' } });
    for (let i = 0; i < generalLimits.refused.quota; i += 1) {
      expect((await limited.call('GET', notes, { as: `guess${i}` })).status).toBe(401);
    }
    const calls = limited.authentication.calls;
    expect((await limited.call('GET', notes, { as: 'guess' })).status).toBe(429);
    expect(limited.authentication.calls).toBe(calls);
    await closeApi(limited.app);
  });

  it('leave a key alone that was good, while somebody guesses at the same address', async () => {
    const limited = await startDemo({ env: { RATE_LIMITS: 'on' } });
    expect((await limited.call('GET', notes)).status).toBe(200);
    for (let i = 0; i <= generalLimits.refused.quota; i += 1) {
      await limited.call('GET', notes, { as: `guess${i}` });
    }
    limited.clock.travel(5_000);
    expect((await limited.call('GET', notes)).status).toBe(200);
    limited.authentication.revoke('ada');
    limited.clock.travel(5_000);
    expect((await limited.call('GET', notes)).status).toBe(401);
    expect((await limited.call('GET', notes)).status).toBe(429);
    await closeApi(limited.app);
  });

  it.each([
    ['403, of another organization', 'GET', { organization: 2 }],
    ['403, for lack of a permission', 'POST', { as: 'bob', body: { text: 'x' } }],
    ['400, without an organization', 'GET', { organization: null }],
    ['400, of the wrong shape', 'POST', { body: '{broken' }],
  ] as const)('count what is answered with %s', async (_, method, options) => {
    const limited = await startDemo({ env: { RATE_LIMITS: 'on' } });
    const left = async () => {
      const { headers } = await limited.call(method, notes, options);
      return Number(/"default";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
    };
    expect(await left()).toBe(1_199);
    expect(await left()).toBe(1_198);
    await closeApi(limited.app);
  });
});
