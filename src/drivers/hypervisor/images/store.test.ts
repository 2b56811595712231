import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ImageSource } from '../contract.ts';
import { imageStore } from './store.ts';

const dir = mkdtempSync(join(tmpdir(), 'innkeeper-store-'));
afterAll(() => rmSync(dir, { recursive: true }));

const described = { guest: 'cloud-init', boot: null, diskBytes: 1 };
const url = 'https://images.example.com/disk.qcow2';
const download = { kind: 'download' as const, url, sha256: 'a'.repeat(64), guest: 'cloud-init' as const };
const build = { kind: 'build' as const, recipe: 'tiny' };

/** An image that was made earlier; without a source, by a version that did not write it down. */
function made(slug: string, source?: object): string {
  const file = join(dir, slug, 'image.json');
  mkdirSync(join(dir, slug));
  writeFileSync(file, JSON.stringify({ ...described, ...(source && { source }) }));
  return file;
}

const ensure = (image: ImageSource) => imageStore(dir).ensure(image, () => expect.fail('nothing to be made'));

describe('an image that is there', () => {
  it('is taken for the one that is asked for when it has the same source', async () => {
    made('downloaded', download);
    made('built', build);
    await ensure({ slug: 'downloaded', ...download });
    const elsewhere = { ...download, url: 'https://mirror.example.com/x', sha256: 'A'.repeat(64) };
    await ensure({ slug: 'downloaded', ...elsewhere });
    await ensure({ slug: 'built', ...build });
  });

  it('is taken for it when nobody wrote down where it came from', async () => {
    made('older');
    await ensure({ slug: 'older', ...download });
  });

  it.each([
    ['another download', download, { ...download, sha256: 'b'.repeat(64) }],
    ['a download', build, download],
    ['another recipe', build, { ...build, recipe: 'debian-12' }],
  ])('is not given out for %s, and stays as it is', async (what, there, asked) => {
    const slug = what.replace(' ', '-');
    const file = made(slug, there);
    const before = readFileSync(file, 'utf8');
    const refused = {
      code: 'image_rejected',
      permanent: true,
      message: expect.stringContaining('another slug'),
    };
    await expect(ensure({ slug, ...asked })).rejects.toMatchObject(refused);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });
});
