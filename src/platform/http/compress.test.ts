import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeApi } from './api.ts';
import { routes } from './route.ts';
import { type Demo, startDemo } from './testbed.ts';

const data = Type.Object({ text: Type.String() });
const sized = routes('', { tag: 'Sized' }, (route) => {
  route.get('/long', { auth: 'public', operation: 'long', summary: 'Long', data, etag: true }, () => ({
    text: 'word '.repeat(1_000),
  }));
  route.get('/short', { auth: 'public', operation: 'short', summary: 'Short', data }, () => ({
    text: 'word',
  }));
  route.post(
    '/long',
    { auth: 'public', actor: 'visitor', operation: 'makeLong', summary: 'Make long', data },
    () => ({ text: 'word '.repeat(1_000) }),
  );
});

let demo: Demo;
beforeAll(async () => {
  demo = await startDemo({ routes: [sized] });
});
afterAll(() => closeApi(demo.app));

/** Without what `fetch` does by itself about codings. */
function send(method: string, path: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }>(
    (resolve, reject) => {
      const sent = request(`${demo.url}/api${path}`, { method, headers }, async (answer) => {
        const chunks: Buffer[] = [];
        for await (const chunk of answer) chunks.push(chunk as Buffer);
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(chunks) });
      });
      sent.on('error', reject).end();
    },
  );
}

describe('an answer', () => {
  it('that is long travels compressed to whoever takes it', async () => {
    const plain = await send('GET', '/long');
    expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, 'accept-encoding']);
    const gzip = await send('GET', '/long', { 'accept-encoding': 'gzip, br;q=0' });
    expect([gzip.headers['content-encoding'], gzip.headers.vary]).toEqual(['gzip', 'accept-encoding']);
    expect(gunzipSync(gzip.bytes)).toEqual(plain.bytes);
    const brotli = await send('GET', '/long', { 'accept-encoding': 'gzip;q=1.0, br' });
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(brotli.bytes)).toEqual(plain.bytes);
    expect(brotli.bytes.length).toBeLessThan(plain.bytes.length / 10);
    for (const encoding of ['identity', 'gzip;q=0', 'zstd']) {
      const { headers } = await send('GET', '/long', { 'accept-encoding': encoding });
      expect(headers['content-encoding']).toBeUndefined();
    }
  });

  it('has a tag of its own in each coding, and each is known again', async () => {
    const tags = await Promise.all(
      ['identity', 'gzip', 'br'].map(
        async (coding) => (await send('GET', '/long', { 'accept-encoding': coding })).headers.etag as string,
      ),
    );
    expect(new Set(tags).size).toBe(3);
    for (const tag of tags) {
      const { status, bytes } = await send('GET', '/long', { 'if-none-match': tag, 'accept-encoding': 'br' });
      expect([status, bytes.length]).toEqual([304, 0]);
    }
  });

  it('that is short, or to a POST, is sent as it is', async () => {
    for (const [method, path] of [
      ['GET', '/short'],
      ['POST', '/long'],
    ] as const) {
      const { headers } = await send(method, path, { 'accept-encoding': 'gzip, br' });
      expect([headers['content-encoding'], headers.vary]).toEqual([undefined, undefined]);
    }
  });
});
