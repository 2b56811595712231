import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../errors.ts';
import { type Asker, networkOf } from './layers.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import { type LimitClass, type LimitHeaders, limitHeadersOf } from './limits.ts';
import type { Principal } from './principal.ts';

/** With a key each of one person's, in one of two organizations; or a stranger. */
function asker(key: number | null, organizationId = 1): Asker {
  const principal =
    key === null
      ? null
      : ({
          actor: { type: 'api_key', userId: 1, apiKeyId: key, ip: '192.0.2.1' },
          permissions: new Set<string>(),
        } as unknown as Principal);
  return { principal, organizationId: key === null ? null : organizationId, ip: '192.0.2.1', budget: null };
}

interface Told {
  name: string;
  left: number;
  waitS: number;
}

function told(headers: LimitHeaders): Told[] {
  return headers.ratelimit.split(', ').map((item) => {
    const [, name = '', left, waitS] = /^"(.+)";r=(\d+);t=(\d+)$/.exec(item) ?? [];
    return { name, left: Number(left), waitS: Number(waitS) };
  });
}

/** Goes by what it is told: never sends more than is left of anything, and waits for as long as it says. */
function obeying(limiter: Limiter, clock: { now: number }) {
  const left = new Map<string, { left: number; until: number }>();
  const scopeOf = (name: string, { principal, organizationId }: Asker) =>
    name === 'default'
      ? `k${principal?.actor.apiKeyId}`
      : name === 'organization'
        ? `${name} ${organizationId}`
        : name;
  const namesOf = (who: Asker) =>
    who.principal === null ? ['public'] : ['default', 'account', 'organization'];
  return (who: Asker): void => {
    for (const name of namesOf(who)) {
      const known = left.get(scopeOf(name, who));
      if (known !== undefined && known.left <= 0 && known.until > clock.now) clock.now = known.until;
    }
    const headers = limiter.take(who, undefined) as LimitHeaders;
    for (const item of told(headers))
      left.set(scopeOf(item.name, who), { left: item.left, until: clock.now + item.waitS * 1_000 });
  };
}

describe('a client that minds the headers', () => {
  it('is never refused, whatever it sends with several keys, for whichever organization, and when', () => {
    const step = fc.record({
      key: fc.option(fc.integer({ min: 1, max: 5 }), { freq: 5 }),
      organization: fc.integer({ min: 1, max: 2 }),
      times: fc.integer({ min: 1, max: 900 }),
      pauseMs: fc.integer({ min: 0, max: 20_000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
        const clock = { now: 1_000 };
        const send = obeying(
          createLimiter(true, null, () => clock.now),
          clock,
        );
        for (const { key, organization, times, pauseMs } of steps) {
          for (let time = 0; time < times; time += 1) send(asker(key, organization));
          clock.now += pauseMs;
        }
      }),
      { numRuns: 40 },
    );
  });

  it('is refused once it does not, and told for how long', () => {
    let now = 0;
    const limiter = createLimiter(true, null, () => now);
    for (let time = 0; time < 1_200; time += 1) limiter.take(asker(1), undefined);
    const refusal = caught(() => limiter.take(asker(1), undefined));
    expect(refusal).toMatchObject({ code: 'rate_limited', retryAfterS: 60 });
    expect(limitHeadersOf.get(refusal)?.ratelimit).toBe('"default";r=0;t=60');
    now = 60_000;
    expect(() => limiter.take(asker(1), undefined)).not.toThrow();
  });
});

describe('layers', () => {
  it('keep one person from asking more with more keys, and leave the rest of their organization its share', () => {
    const limiter = createLimiter(true, null, () => 0);
    const asked = (who: Asker, times: number) => {
      let passed = 0;
      for (let time = 0; time < times; time += 1) {
        try {
          limiter.take(who, undefined);
          passed += 1;
        } catch (error) {
          expect((error as AppError).code).toBe('rate_limited');
        }
      }
      return passed;
    };
    expect([1, 2, 3, 4].map((key) => asked(asker(key), 1_300))).toEqual([1_200, 1_200, 1_200, 0]);
    const colleague = asker(9);
    (colleague.principal as { actor: { userId: number } }).actor.userId = 2;
    expect(asked(colleague, 1_200)).toBe(1_200);
  });

  it('let nobody take from an organization that is not theirs, nor staff from whom it acts as', () => {
    const limiter = createLimiter(true, null, () => 0);
    const outsider = asker(1);
    const names = (who: Asker) => told(limiter.take(who, undefined) as LimitHeaders).map(({ name }) => name);
    expect(names(outsider)).toEqual(['default', 'account', 'organization']);
    (outsider.principal as { permissions: null }).permissions = null;
    expect(names(outsider)).toEqual(['default', 'account']);
    const acting = asker(null);
    acting.principal = {
      actor: { type: 'user', userId: 1, apiKeyId: null, ip: '192.0.2.1', staffId: 5 },
      sessionId: 'i7',
      permissions: new Set(),
      impersonation: { staffId: 5, readOnly: true, until: new Date() },
    } as unknown as Principal;
    expect(names(acting)).toEqual(['default']);
  });

  it('count strangers by their address, unless a budget is their own', () => {
    const limiter = createLimiter(true, null, () => 0);
    for (let time = 0; time < 600; time += 1) limiter.take(asker(null), undefined);
    expect(() => limiter.take(asker(null), undefined)).toThrow();
    expect(() => limiter.take({ ...asker(null), budget: 'known' }, undefined)).not.toThrow();
  });
});

it('a stranger of an IPv6 network is told what is left of the site as well, and of IPv4 of the address alone', () => {
  const limiter = createLimiter(true, null, () => 0);
  const at = (ip: string) =>
    told(limiter.take({ ...asker(null), ip }, undefined) as LimitHeaders).map(({ name, left }) => [
      name,
      left,
    ]);
  expect(at('192.0.2.9')).toEqual([['public', 599]]);
  expect(at('2001:db8:1:2::1')).toEqual([
    ['public', 599],
    ['public-site', 9_599],
  ]);
  expect(at('2001:db8:1:3::1')).toEqual([
    ['public', 599],
    ['public-site', 9_598],
  ]);
});

it('wrong guesses from all over a site are sixteen times what one address of it has', async () => {
  const limiter = createLimiter(true, null, () => 0);
  let looked = 0;
  for (let at = 0; at < 40; at += 1)
    for (let nth = 0; nth < 30; nth += 1) {
      const guesser = { keys: [], ip: `2001:db8:1:${at.toString(16)}::1` };
      const settle = await limiter.guess('refused' as LimitClass, guesser, 'wait').catch(() => null);
      if (settle !== null) looked += 1;
      await settle?.(true);
    }
  expect(looked).toBe(16 * 60);
});

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:207', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::', '2001:db8:1:2'],
  ['2001:0db8:0001:0002:ffff::9', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
])('%s counts as %s', (address, counted) => {
  expect(networkOf(address)).toBe(counted);
});

function caught(work: () => unknown): AppError {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
