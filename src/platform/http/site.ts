import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sendInParts } from './compress.ts';
import { type Paint, paintedFor } from './painted.ts';
import { headersOf, pagePolicy, type Serve, type WebFile } from './webFiles.ts';

/** An application for the browser that is served beside the API, built into files. */
export interface Site {
  /** Answers `/`, and every other path outside of `/api` that a browser opens as a page: the script knows them. */
  readonly home: WebFile;
  readonly files: readonly WebFile[];
  /** Draws a page with what it shows before its scripts are there; nothing is, without. */
  readonly paint?: Paint | undefined;
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/**
 * The site that was built into a directory: `index.html` is its home, `assets/` holds files that are named after
 * their content and never change. Only what is there at the start is served, as it is then: an update may build another
 * one in its place while this process runs. Files and folders that begin with a dot are not of it; one of an unknown kind is an error.
 */
export async function readSite(dir: string): Promise<Site> {
  const found = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = found
    .filter((each) => each.isFile())
    .map((each) => path.join(each.parentPath, each.name))
    .filter(
      (file) =>
        !path
          .relative(dir, file)
          .split(path.sep)
          .some((part) => part.startsWith('.')),
    );
  const home = files.find((file) => path.relative(dir, file) === 'index.html');
  if (home === undefined) throw new Error(`${dir} holds no site: it has no index.html`);
  return {
    home: { ...(await fileAt(dir, home)), path: '/' },
    files: await Promise.all(files.filter((file) => file !== home).map((file) => fileAt(dir, file))),
  };
}

/**
 * Answers with the site's home. Its scripts may make styles at run time: those that carry this answer's nonce, which
 * stands wherever the page says `{{nonce}}`. Whoever is signed in gets the page painted, where it is one that is.
 */
export function homeServer(app: FastifyInstance, { home, paint }: Site): Serve {
  let kept: Promise<string> | null = null;
  return async (request, reply) => {
    kept ??= Promise.resolve(home.read())
      .then(String)
      .catch((error: unknown) => {
        kept = null;
        throw error;
      });
    const nonce = randomBytes(16).toString('base64');
    const policy = pagePolicy({ img: 'data:', style: `'nonce-${nonce}'` });
    const page = (await kept).replaceAll('{{nonce}}', nonce);
    const own = paint === undefined ? null : paintedFor(app, paint, request, { page, nonce });
    reply.headers(headersOf({ type: home.type, policy }));
    if (own === null) return reply.send(page);
    // What is painted is one person's alone.
    reply.header('cache-control', 'private, no-store').header('link', neededFirst(page));
    return sendInParts(request, reply, inParts(page, own));
  };
}

/** What a page is drawn by, as it names it: a browser fetches that while the page is painted. */
function neededFirst(page: string): string[] {
  const named = (pattern: RegExp, how: string) =>
    [...page.matchAll(pattern)].map(([, href = '']) => `<${href}>; rel=${how}`);
  return [
    ...named(/<link rel="stylesheet" crossorigin href="([^"]+)"/g, 'preload; as=style; crossorigin'),
    ...named(/<script type="module" async src="([^"]+)"/g, 'modulepreload'),
  ];
}

/** What stands before the page itself leaves at once, and the headers with it: a browser begins meanwhile. */
async function* inParts(page: string, own: Promise<string>): AsyncGenerator<string> {
  const at = Math.max(0, page.indexOf('<html'));
  yield page.slice(0, at);
  yield (await own).slice(at);
}

async function fileAt(dir: string, file: string): Promise<WebFile> {
  const where = `/${path.relative(dir, file).split(path.sep).join('/')}`;
  const type = types[path.extname(file)];
  if (type === undefined) throw new Error(`${file} is of a kind that no content type is known for`);
  const bytes = await readFile(file);
  const read = () => bytes;
  return { path: where, type, read, ...(where.startsWith('/assets/') && { cache: 'immutable' as const }) };
}

/** What a file's name ends with, and no address of a network: `/shield/addresses/203.0.113.10` is a page. */
const ending = /\.(?!\d+$)[^./]+$/;

/** Whether a browser opens this path as a page. What it asks for from within a page takes no HTML, or has a name. */
export function isPageOfSite({ method, url, headers }: FastifyRequest): boolean {
  const [where = ''] = url.split('?', 1);
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (where === '/api' || where.startsWith('/api/') || ending.test(where)) return false;
  return headers.accept?.includes('text/html') === true;
}
