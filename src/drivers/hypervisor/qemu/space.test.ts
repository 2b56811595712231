import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { copySpace, keptFree } from './space.ts';

const mib = 2 ** 20;
const gib = 2 ** 30;

async function spareBytes(): Promise<number> {
  const { blocks, bavail, bsize } = await statfs(tmpdir());
  return bavail * bsize - keptFree(blocks * bsize);
}

describe('space for copies', () => {
  it('leaves a node a twentieth and at least 10 GiB, but never more than a quarter', () => {
    expect(keptFree(1_000 * gib)).toBe(50 * gib);
    expect(keptFree(100 * gib)).toBe(10 * gib);
    expect(keptFree(64 * mib)).toBe(16 * mib);
  });

  it('refuses a copy that would take of it, and begins nothing', async () => {
    let begun = false;
    const work = async () => {
      begun = true;
    };
    const refused = copySpace()(tmpdir(), (await spareBytes()) + gib, work);
    await expect(refused).rejects.toMatchObject({ code: 'no_space', message: /keeps .* GiB free/ });
    expect(begun).toBe(false);
  });

  it('counts the copies under way, until they end', async () => {
    const within = copySpace();
    const most = Math.max(0, (await spareBytes()) * 0.6);
    const failed = within(tmpdir(), most, async () => {
      await expect(within(tmpdir(), most, async () => 'two')).rejects.toMatchObject({
        code: 'no_space',
      });
      throw new Error('it broke off');
    });
    await expect(failed).rejects.toThrow('it broke off');
    expect(await within(tmpdir(), most, async () => 'three')).toBe('three');
  });
});
