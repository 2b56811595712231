import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Files } from './contract.ts';

export interface FilesUnderTest {
  files: Files;
  /** The same files as another process sees them. */
  other: Files;
  close(): Promise<void>;
}

/** What every driver must do; `skip` is the reason why this host cannot run the suite, or null. */
export function describeFiles(
  name: string,
  make: () => Promise<FilesUnderTest>,
  skip: string | null = null,
): void {
  describe.skipIf(skip !== null)(`${name} keeps the files contract`, () => {
    let test: FilesUnderTest;
    beforeAll(async () => {
      test = await make();
    });
    afterAll(() => test?.close());

    const text = async (file: string) => (await test.other.get(file)).toString();
    const failure = (code: string, permanent: boolean) => expect.objectContaining({ code, permanent });

    it('gives back what was put, to everybody, whole and bit by bit', async () => {
      const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
      await test.files.put('a/b/c.bin', bytes);
      expect((await test.other.get('a/b/c.bin')).equals(bytes)).toBe(true);
      expect((await buffer(await test.other.stream('a/b/c.bin'))).equals(bytes)).toBe(true);
      expect(await test.other.exists('a/b/c.bin')).toBe(true);
    });

    it('takes what arrives bit by bit', async () => {
      await test.files.put('arriving.txt', Readable.from([Buffer.from('one '), Buffer.from('two')]));
      expect(await text('arriving.txt')).toBe('one two');
    });

    it('keeps nothing, and the file before it, of what breaks off', async () => {
      await test.files.put('stays.txt', Buffer.from('before'));
      for (const name of ['stays.txt', 'never.txt']) {
        const breaking = Readable.from(
          (async function* () {
            yield Buffer.alloc(200_000);
            throw new Error('the source broke off');
          })(),
        );
        await expect(test.files.put(name, breaking)).rejects.toThrow('the source broke off');
      }
      expect(await text('stays.txt')).toBe('before');
      expect(await test.other.exists('never.txt')).toBe(false);
    });

    it('keeps an empty file, and the last one of several', async () => {
      await test.files.put('empty', Buffer.alloc(0));
      expect((await test.other.get('empty')).length).toBe(0);
      await test.files.put('empty', Buffer.from('more'));
      await test.files.put('empty', Buffer.from('most'));
      expect(await text('empty')).toBe('most');
    });

    it('is never seen half written, however many write at once', async () => {
      const contents = Array.from({ length: 8 }, (_, nth) => Buffer.alloc(100_000, nth));
      await test.files.put('busy', contents[0] as Buffer);
      const writing = Promise.all(contents.map((content) => test.files.put('busy', content)));
      for (let round = 0; round < 20; round += 1) {
        const seen = await test.other.get('busy');
        expect(seen.length).toBe(100_000);
        expect(new Set(seen).size).toBe(1);
      }
      await writing;
    });

    it('takes a file away, also one that is not there', async () => {
      await test.files.put('gone/soon', Buffer.from('x'));
      await test.files.delete('gone/soon');
      await test.files.delete('gone/soon');
      await test.files.delete('never/was');
      expect(await test.other.exists('gone/soon')).toBe(false);
      await expect(test.other.get('gone/soon')).rejects.toEqual(failure('file_absent', true));
    });

    it('says for good that there is no such file, before the first byte', async () => {
      for (const name of ['nothing', 'nothing/here', 'a/b', 'a/b/c.bin/d']) {
        expect(await test.files.exists(name), name).toBe(false);
      }
      await expect(test.files.get('nothing')).rejects.toEqual(failure('file_absent', true));
      await expect(test.files.stream('nothing/here')).rejects.toEqual(failure('file_absent', true));
    });

    it.each([
      '',
      '.',
      '..',
      '/etc/passwd',
      '../escape',
      'a/../../escape',
      'a//b',
      'a/',
      './a',
      '.hidden',
      'a/.hidden',
      'a\\b',
      'a b',
      'ä',
      'A',
      'a\0b',
      'a\n',
      `${'a'.repeat(201)}`,
      'C:a',
      '%2e%2e/a',
      '-a',
    ])('refuses for good what is no name, and touches nothing: %j', async (name) => {
      const refused = failure('name_invalid', true);
      await expect(test.files.put(name, Buffer.from('x'))).rejects.toEqual(refused);
      await expect(test.files.get(name)).rejects.toEqual(refused);
      await expect(test.files.stream(name)).rejects.toEqual(refused);
      await expect(test.files.exists(name)).rejects.toEqual(refused);
      await expect(test.files.delete(name)).rejects.toEqual(refused);
    });

    it('takes the longest name there may be', async () => {
      const name = `${'abcdefghi/'.repeat(19)}0123456789`;
      await test.files.put(name, Buffer.from('far'));
      expect(await text(name)).toBe('far');
    });
  });
}
