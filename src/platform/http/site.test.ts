import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeApi } from './api.ts';
import { sessionCookie } from './credential.ts';
import type { Paint, Painted } from './painted.ts';
import { readSite, type Site } from './site.ts';
import { type Demo, startDemo } from './testbed.ts';

const dir = mkdtempSync(path.join(os.tmpdir(), 'innkeeper-site-'));
const script = `console.log('${'x'.repeat(2_000)}')`;
const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff]);
let demo: Demo;
beforeAll(async () => {
  mkdirSync(path.join(dir, 'assets'));
  writeFileSync(path.join(dir, 'index.html'), '<!doctype html><title>Site</title>');
  writeFileSync(path.join(dir, 'assets/app-1a2b.js'), script);
  writeFileSync(path.join(dir, 'logo.png'), picture);
  mkdirSync(path.join(dir, '.painter'));
  writeFileSync(path.join(dir, '.painter/paint.mjs'), script);
  demo = await startDemo({ site: await readSite(dir) });
});
afterAll(async () => {
  await closeApi(demo.app);
  rmSync(dir, { recursive: true });
});

const asPage = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const get = (where: string, headers: Record<string, string> = {}) =>
  demo.call('GET', where, { as: null, organization: null, headers });

describe('a site', () => {
  it('answers / and the paths that its script knows with one page, under a policy that allows no other host', async () => {
    for (const where of ['/', '/services/5', '/livez/x', '/apiary?x=/api', '/addresses/203.0.113.10']) {
      const { status, text, headers } = await get(where, asPage);
      expect([where, status, text]).toEqual([where, 200, '<!doctype html><title>Site</title>']);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/https?:|\*|unsafe/);
      expect(headers.get('cache-control')).toBe('no-cache');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('hides nothing of the API, and no file that is missing', async () => {
    for (const where of [
      '/api/',
      '/api/notes',
      '/assets/gone.js',
      '/../site.test.ts',
      '/.painter/paint.mjs',
    ]) {
      const { status, body } = await get(where, asPage);
      expect([where, status, body.code]).toEqual([where, 404, 'route_not_found']);
    }
    expect((await get('/services/5')).body.code).toBe('route_not_found'); // a program, not a browser
    expect((await demo.call('POST', '/services/5', { headers: asPage })).status).toBe(404);
    expect((await get('/livez', asPage)).body.data).toEqual({ alive: true });
  });

  it('has files that a browser keeps for as long as their names stay, compressed for whoever takes it', async () => {
    const zipped = await get('/assets/app-1a2b.js', { 'accept-encoding': 'gzip' });
    expect(zipped.text).toBe(script);
    expect(zipped.headers.get('content-encoding')).toBe('gzip');
    expect(zipped.headers.get('vary')).toBe('accept-encoding');
    expect(zipped.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const plain = await get('/assets/app-1a2b.js', { 'accept-encoding': 'identity' });
    expect([plain.text, plain.headers.get('content-encoding')]).toEqual([script, null]);
    expect(plain.headers.get('etag')).not.toBe(zipped.headers.get('etag'));
    expect(
      (await get('/logo.png', { 'accept-encoding': 'gzip' })).headers.get('content-encoding'),
    ).toBeNull();
  });

  it('says that nothing has changed to a browser that has the file', async () => {
    for (const encoding of ['gzip', 'identity']) {
      const first = await get('/assets/app-1a2b.js', { 'accept-encoding': encoding });
      const again = await get('/assets/app-1a2b.js', {
        'accept-encoding': encoding,
        'if-none-match': first.headers.get('etag') ?? '',
      });
      expect([again.status, again.text]).toEqual([304, '']);
      expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
    }
  });

  it('is refused where there is none, or a file that no browser would understand', async () => {
    await expect(readSite(path.join(dir, 'assets'))).rejects.toThrow('no index.html');
    const strange = mkdtempSync(path.join(os.tmpdir(), 'innkeeper-site-'));
    writeFileSync(path.join(strange, 'index.html'), '');
    writeFileSync(path.join(strange, 'run.exe'), '');
    await expect(readSite(strange)).rejects.toThrow('run.exe');
    rmSync(strange, { recursive: true });
  });
});

describe('a site that paints', () => {
  const cookie = `${sessionCookie}=bob; innkeeper-shown=7-dark`;
  const drawing = { language: 'de', styles: 'p{}', html: '<p nonce="{{nonce}}">$&</p>' };
  const rest =
    '<script type="module" crossorigin src="/b.js"></script><link rel="stylesheet" crossorigin href="/c.css">';
  const siteOf = (paint: Paint): Site => {
    const home = {
      path: '/',
      type: 'text/html',
      read: () =>
        `<!doctype html>\n<html lang="en"><head><script type="module" async src="/a.js"></script>${rest}</head><div id="root"></div>`,
    };
    return { home, files: [], paint };
  };
  const withPaint = async (paint: Paint, where = '/notes') => {
    const own = await startDemo({ site: siteOf(paint) });
    const headers = { ...asPage, cookie };
    const answer = await own.call('GET', where, { as: null, organization: null, headers });
    await closeApi(own.app);
    return answer;
  };

  it('has in its page what was drawn, and before it as data what the API answered to this session', async () => {
    let heard: unknown[] = [];
    const { text, headers } = await withPaint(async (where, shown, ask) => {
      const body = await ask('/api/hello', null);
      heard = [where, shown, await ask('/api/nowhere', null)];
      return { ...drawing, answers: [{ target: '/api/hello', body: `${body}</script>` }] };
    });
    expect(heard).toEqual(['/notes', { organizationId: 7, scheme: 'dark' }, null]);
    expect(headers.get('cache-control')).toBe('private, no-store');
    const nonce = /'nonce-([^']+)'/.exec(headers.get('content-security-policy') ?? '')?.[1];
    expect(text).toContain('<html lang="de" data-mantine-color-scheme="dark">');
    expect(text).toContain(
      `<style nonce="${nonce}">p{}</style><div id="root"><div class="painted"><p nonce="${nonce}">$&</p>`,
    );
    const [, data = ''] =
      /<head><script type="application\/json" id="answers">(.*?)<\/script>/.exec(text) ?? [];
    const { organizationId, answers } = JSON.parse(data);
    expect([organizationId, answers[0].body]).toEqual([7, expect.stringMatching(/"hello".*<\/script>$/)]);
    // Of its scripts only the first one runs; it has the others run when the page is on the screen.
    expect(text.match(/<script type="module"[^>]*>/g)).toEqual(['<script type="module" async src="/a.js">']);
    expect(text).toContain('<link rel="prefetch" as="script" crossorigin href="/b.js">');
  });

  it.each(['identity', 'gzip', 'br'])(
    'is answered at once, with what a browser can begin with, while it is drawn (%s)',
    async (coding) => {
      const { promise: drawn, resolve: finish } = Promise.withResolvers<Painted>();
      const { app, url } = await startDemo({ site: siteOf(() => drawn) });
      const sent = { ...asPage, cookie, 'accept-encoding': coding };
      const answer = await fetch(`${url}/notes`, { headers: sent });
      expect(answer.headers.get('link')).toBe(
        '</c.css>; rel=preload; as=style; crossorigin, </a.js>; rel=modulepreload',
      );
      const text = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      const first = await text?.read();
      expect(first?.value).toBe('<!doctype html>\n');
      finish({ ...drawing, answers: [] });
      expect((await text?.read())?.value).toMatch(/^<html lang="de".*<p nonce/s);
      expect(answer.headers.get('content-encoding')).toBe(coding === 'identity' ? null : coding);
      await closeApi(app);
    },
  );

  it.each([
    { name: 'fails', paint: () => Promise.reject(new Error('no paint')) },
    { name: 'does not end', paint: () => new Promise<never>(() => undefined) },
    { name: 'has nothing to show', paint: async () => null },
  ])('sends its page without where that $name', async ({ paint }) => {
    const { status, text, headers } = await withPaint(paint);
    expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-store']);
    expect(text).toContain(`${rest}</head><div id="root"></div>`);
  });

  it('sends a page as it is that is not one of those', async () => {
    const { status, text, headers } = await withPaint(() => null);
    expect([status, headers.get('cache-control'), headers.get('link')]).toEqual([200, 'no-cache', null]);
    expect(text).toContain(`${rest}</head><div id="root"></div>`);
  });
});

describe('without a site', () => {
  it('/ and /api lead to the reference, and no other path is a page', async () => {
    const bare = await startDemo();
    for (const sent of ['/', '/api']) {
      const { status, headers } = await fetch(`${bare.url}${sent}`, { redirect: 'manual' });
      expect([status, headers.get('location')]).toEqual([302, '/api/docs']);
    }
    expect((await bare.call('GET', '/services/5', { headers: asPage })).status).toBe(404);
    await closeApi(bare.app);
  });
});
