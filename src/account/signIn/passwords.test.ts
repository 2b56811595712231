/** Hashing as the product does it: in threads of their own, as many as there are cores, with a queue that ends. */
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, constants, getPriority } from 'node:os';
import { describe, expect, it } from 'vitest';
import { decoy, hashPassword, isOutdated, isPassword } from './passwords.ts';

const cores = availableParallelism();

/** How much less urgent each thread of this process is than this one. */
function waiting(): number[] {
  return readdirSync('/proc/self/task').flatMap((task) => {
    try {
      const stat = readFileSync(`/proc/self/task/${task}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(fields[16]) - getPriority();
    } catch {
      return []; // it has ended
    }
  });
}

describe('a password', () => {
  it('is known by its hash, however its letters are written, and no other one is', async () => {
    const kept = await hashPassword('sieben müde Otter');
    expect(kept).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(isOutdated(kept)).toBe(false);
    expect(await isPassword('sieben mu\u0308de Otter', kept)).toBe(true);
    expect(await isPassword('sieben müde Ottern', kept)).toBe(false);
    expect(await isPassword('sieben müde Otter', null)).toBe(false);
  });

  // What runs as the least urgent already has nothing below it.
  it.skipIf(getPriority() > 9)(
    'is hashed in threads that give way to whatever answers, all but one of them',
    async () => {
      const kept = await hashPassword('seven tired otters');
      await Promise.all(Array.from({ length: cores * 4 }, () => isPassword('seven tired otters', kept)));
      const much = Math.min(constants.priority.PRIORITY_LOW, getPriority() + 10) - getPriority();
      const lower = waiting().filter((nice) => nice === much);
      expect(lower).toHaveLength(cores - 1);
    },
  );

  it('that cannot be held against what is kept fails alone', async () => {
    await expect(isPassword('seven tired otters', 'no hash')).rejects.toThrow();
    expect(await isPassword('seven tired otters', await hashPassword('seven tired otters'))).toBe(true);
  });

  it('of too many at once is refused with when to come again, and all others are answered right', async () => {
    const kept = await hashPassword('seven tired otters');
    const room = 25 * cores;
    const answers = await Promise.allSettled(
      Array.from({ length: room + 3 }, (_, at) => isPassword(`seven tired otter${at % 2 ? '' : 's'}`, kept)),
    );
    const refused = answers.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(3);
    for (const { reason } of refused as PromiseRejectedResult[])
      expect(reason).toMatchObject({ code: 'rate_limited', retryAfterS: 1 });
    const right = answers.map((answer) => answer.status === 'fulfilled' && answer.value);
    expect(right.slice(0, room)).toEqual(Array.from({ length: room }, (_, at) => at % 2 === 0));
    expect(await isPassword('seven tired otters', kept)).toBe(true);
  });

  it("of nobody's is held against a hash of today's cost, also when a storm came before the first", async () => {
    expect(isOutdated(decoy)).toBe(false);
    const shape = (hash: string) => hash.split('$').map((part, at) => (at > 3 ? part.length : part));
    expect(shape(decoy)).toEqual(shape(await hashPassword('seven tired otters')));

    const another: string = './passwords.ts?another'; // as in a process that has just started
    const fresh: typeof import('./passwords.ts') = await import(another);
    const storm = Array.from({ length: 25 * cores }, () => fresh.hashPassword('seven tired otters'));
    await expect(fresh.isPassword('seven tired otters', null)).rejects.toMatchObject({
      code: 'rate_limited',
    });
    await Promise.all(storm);
    expect(await fresh.isPassword('seven tired otters', null)).toBe(false);
  });
});
