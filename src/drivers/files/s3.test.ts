import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type S3Storage, startS3 } from '../../../test/s3.ts';
import { describeFiles } from './conformance.ts';
import { s3Files } from './index.ts';

describeFiles('storage that speaks S3', async () => {
  const storage = await startS3();
  const [files, other] = [await s3Files(storage), await s3Files(storage)];
  return {
    files,
    other,
    close: async () => {
      await Promise.all([files.close(), other.close()]);
      await storage.stop();
    },
  };
});

describe('storage that speaks S3', () => {
  let storage: S3Storage;
  let files: Awaited<ReturnType<typeof s3Files>>;
  beforeAll(async () => {
    storage = await startS3();
    files = await s3Files({ ...storage, timeoutMs: 300 });
  });
  afterEach(() => {
    storage.trouble = null;
    storage.seen.length = 0;
  });
  afterAll(async () => {
    await files.close();
    await storage.stop();
  });

  const failure = (code: string, permanent = false) => expect.objectContaining({ code, permanent });
  /** Longer than what goes in one piece. */
  const large = Buffer.alloc(13_000_000, 'large ');
  async function* inPieces(bytes: Buffer, breaksOff = false) {
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
    if (breaksOff) throw new Error('the source broke off');
  }

  it('gets what is long in parts, which are a file all at once, and gives it back bit by bit', async () => {
    await files.put('large', Readable.from(inPieces(large)));
    expect(storage.seen).toEqual([
      'POST large 200',
      'PUT large 200',
      'PUT large 200',
      'PUT large 200',
      'POST large 200',
    ]);
    expect((await buffer(await files.stream('large'))).equals(large)).toBe(true);
  });

  it('keeps no part of what breaks off', async () => {
    await expect(files.put('broken', Readable.from(inPieces(large, true)))).rejects.toThrow(
      'the source broke off',
    );
    expect([storage.objects.has('broken'), storage.uploads.size]).toEqual([false, 0]);
  });

  it('is asked again when it is busy for a moment', async () => {
    storage.trouble = { status: 503, code: 'SlowDown', times: 2 };
    await files.put('tried', Buffer.from('again'));
    expect(storage.seen).toEqual(['PUT tried 503', 'PUT tried 503', 'PUT tried 200']);
  });

  it.each([
    [{ status: 503, code: 'SlowDown' }, 'files_unreachable'],
    [{ status: 500, code: 'InternalError' }, 'files_unreachable'],
    [{ status: 403, code: 'AccessDenied' }, 'files_unreachable'],
    [{ status: 404, code: 'NoSuchBucket' }, 'files_unreachable'],
    [{ status: 507, code: 'XMinioStorageFull' }, 'files_full'],
    [{ status: 400, code: 'QuotaExceeded' }, 'files_full'],
    ['cut', 'files_unreachable'],
    ['silence', 'files_unreachable'],
  ] as const)('that answers %j is said to be %s, and that trying again may help', async (trouble, code) => {
    await files.put('before', Buffer.from('before'));
    storage.trouble = trouble;
    await expect(files.put('before', Buffer.from('x'))).rejects.toEqual(failure(code));
    await expect(files.put('streamed', Readable.from(inPieces(large)))).rejects.toEqual(failure(code));
    if (code === 'files_unreachable') {
      await expect(files.stream('before')).rejects.toEqual(failure(code));
      await expect(files.delete('before')).rejects.toEqual(failure(code));
    }
    storage.trouble = null;
    expect((await files.get('before')).toString()).toBe('before');
    expect(await files.exists('streamed')).toBe(false);
  });

  it('is told nothing by a wrong key, and says so', async () => {
    const stranger = await s3Files({ ...storage, secretAccessKey: 'wrong' });
    await expect(stranger.put('theirs', Buffer.from('x'))).rejects.toMatchObject({
      code: 'files_unreachable',
      message: expect.stringContaining('SignatureDoesNotMatch'),
    });
    await stranger.close();
  });
});
