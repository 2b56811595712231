import { describe, expect, it } from 'vitest';
import { createCounter } from './windows.ts';

describe('a counter', () => {
  it('counts each key by itself, from its first use until its window ends', () => {
    const count = createCounter(1_000);
    expect(count.add('a', 0)).toEqual({ used: 1, endsAt: 1_000 });
    expect(count.add('b', 900)).toEqual({ used: 1, endsAt: 1_900 });
    expect(count.add('a', 999).used).toBe(2);
    expect(count.add('a', 1_000)).toEqual({ used: 1, endsAt: 2_000 });
    expect(count.add('b', 1_899).used).toBe(2);
    expect(count.add('b', 1_900).used).toBe(1);
  });

  it('looks without counting', () => {
    const count = createCounter(1_000);
    count.add('a', 0);
    expect(count.look('a', 500)?.used).toBe(1);
    expect(count.look('b', 500)).toBeUndefined();
    expect(count.look('a', 1_000)).toBeUndefined();
  });

  it('forgets keys that are not used any more', () => {
    const count = createCounter(1_000);
    for (let at = 0; at < 5_000; at += 1) count.add(`key ${at}`, at / 10);
    expect(count.isEmpty()).toBe(false);
    count.look('key 1', 1_600);
    count.look('key 1', 2_700);
    expect(count.isEmpty()).toBe(true);
  });
});
