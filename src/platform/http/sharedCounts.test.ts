import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, startValkey, type ValkeyServer, withoutValkey } from '../../../test/valkey.ts';
import { closeApi } from './api.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import { generalLimits, limits } from './limits.ts';
import { openSharedCounts, type SharedCounts } from './sharedCounts.ts';
import { type Demo, startDemo } from './testbed.ts';

limits({ 'demo-guess': { quota: 10, windowS: 900, per: 'ip' } });

const notes = '/api/dashboard/notes';
const quiet = { info: () => undefined, warn: () => undefined };
const left = (headers: Headers, name: string) =>
  Number(new RegExp(`"${name}";r=(\\d+)`).exec(headers.get('ratelimit') ?? '')?.[1]);

describe.skipIf(withoutValkey !== null)('limits of several processes', () => {
  let valkey: ValkeyServer;
  let demos: Demo[];
  beforeAll(async () => {
    valkey = await startValkey(await freePort());
    const env = { RATE_LIMITS: 'on', VALKEY_URL: valkey.url };
    demos = [await startDemo({ env }), await startDemo({ env })];
  });
  afterAll(async () => {
    for (const { app } of demos) await closeApi(app);
    await valkey.close();
  });
  const [one, two] = [() => demos[0] as Demo, () => demos[1] as Demo];

  it('are one count, by every layer', async () => {
    const checkout = (demo: Demo) =>
      demo.call('POST', '/api/cart/checkout', { as: 'ada', body: { products: [] } });
    const first = await checkout(one());
    expect(left(first.headers, 'default')).toBe(1_199);
    const second = await checkout(two());
    for (const [name, remaining] of Object.entries({
      default: 1_198,
      account: 3_598,
      organization: 14_398,
      demo: 58,
    }))
      expect(left(second.headers, name)).toBe(remaining);
    const answers = await Promise.all(
      Array.from({ length: 70 }, (_, at) => checkout(at % 2 === 0 ? one() : two())),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(58);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(12);
  });

  it('stop an address that guesses keys at all of them, and leave alone who was good at any', async () => {
    expect((await one().call('GET', notes, { as: 'bob', organization: 2 })).status).toBe(200);
    for (let at = 0; at < generalLimits.refused.quota; at += 1) {
      const answer = await (at % 2 === 0 ? one() : two()).call('GET', notes, { as: `guess${at}` });
      expect([answer.status, left(answer.headers, 'refused')]).toEqual([401, 59 - at]);
    }
    expect((await one().call('GET', notes, { as: 'guess' })).status).toBe(429);
    expect((await two().call('GET', notes, { as: 'guess' })).status).toBe(429);
    // Never seen here, and good elsewhere.
    expect((await two().call('GET', notes, { as: 'bob', organization: 2 })).status).toBe(200);
  });
});

describe.skipIf(withoutValkey !== null)('counts in Valkey', () => {
  let valkey: ValkeyServer;
  let counts: SharedCounts[];
  let limiters: Limiter[];
  beforeAll(async () => {
    valkey = await startValkey(await freePort());
    counts = [await openSharedCounts(valkey.url, quiet), await openSharedCounts(valkey.url, quiet)];
    limiters = counts.map((each) => createLimiter(true, each));
  });
  afterAll(async () => {
    for (const each of counts) await each.close();
    await valkey.close();
  });
  const [one, two] = [() => limiters[0] as Limiter, () => limiters[1] as Limiter];
  const guess = (limiter: Limiter, key: string) =>
    limiter.guess('demo-guess' as never, { keys: [key], ip: null }, 'Too many');

  it('are guesses at all processes together, also many at once', async () => {
    const tries = Array.from({ length: 40 }, async (_, at) => {
      const settle = await guess(at % 2 === 0 ? one() : two(), 'a');
      await new Promise((resolve) => setTimeout(resolve, at % 5));
      return settle(true);
    });
    const settled = await Promise.allSettled(tries);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    await expect(guess(two(), 'a')).rejects.toThrow('Too many');
  });

  it('take nothing of each other when they are right', async () => {
    const tries = Array.from({ length: 40 }, async (_, at) =>
      (await guess(at % 2 === 0 ? one() : two(), 'b'))(false),
    );
    expect(await Promise.all(tries)).toEqual(Array(40).fill(null));
  });

  it('go on in memory from where they stood while it is away or says nothing, and together again after', async () => {
    const who = { principal: null, organizationId: null, ip: '198.51.100.7', budget: null };
    const take = async (limiter: Limiter) =>
      Number(/r=(\d+)/.exec((await limiter.take(who, undefined))?.ratelimit ?? '')?.[1]);
    expect([await take(one()), await take(two())]).toEqual([599, 598]);
    valkey.pause();
    // The first one waits a moment, the others know.
    expect(await take(two())).toBe(597);
    const began = performance.now();
    expect(await take(two())).toBe(596);
    expect(performance.now() - began).toBeLessThan(100);
    expect(await take(one())).toBe(598);
    expect(counts.map((each) => each.isReached())).toEqual([false, false]);
    valkey.resume();
    await expect
      .poll(() => counts.map((each) => each.isReached()), { timeout: 10_000 })
      .toEqual([true, true]);
    await valkey.kill();
    expect(await take(one())).toBeGreaterThan(0);
    await expect.poll(() => counts.map((each) => each.isReached())).toEqual([false, false]);
    await valkey.start();
    await expect
      .poll(() => counts.map((each) => each.isReached()), { timeout: 10_000 })
      .toEqual([true, true]);
    expect([await take(one()), await take(two())]).toEqual([599, 598]);
  });
});

it('a process starts without Valkey, counts by itself and says so', async () => {
  const env = { RATE_LIMITS: 'on', VALKEY_URL: `valkey://127.0.0.1:${await freePort()}` };
  const demo = await startDemo({ env });
  const { headers } = await demo.call('GET', notes);
  expect(left(headers, 'default')).toBe(1_199);
  const ready = await fetch(`${demo.url}/readyz`);
  expect(await ready.json()).toMatchObject({ data: { checks: [{ name: 'limits', ok: false }] } });
  expect(await (await fetch(`${demo.url}/metrics`)).text()).toMatch(/^innkeeper_limits_shared 0$/m);
  expect(demo.logged.map(({ msg }) => msg).join()).toContain('Valkey cannot be reached');
  await closeApi(demo.app);
});
