import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { preferredOf, worthItFrom } from './compress.ts';
import { etagOf, matchesTag } from './etag.ts';

/** A page, a script or a picture that is served beside the API, as it is. */
export interface WebFile {
  /** The whole path: `/api/docs`. */
  readonly path: string;
  /** Its content type. */
  readonly type: string;
  /** Asked for once, by the first request. */
  readonly read: () => string | Buffer | Promise<string | Buffer>;
  /**
   * `immutable`: its name changes with its content. `day`: may be a day old. Without it a browser asks each time
   * whether it has changed.
   */
  readonly cache?: 'immutable' | 'day';
  /** Of a page: its Content-Security-Policy. */
  readonly policy?: string;
}

/** Policy of a page that loads nothing from elsewhere. `more` is put beside `'self'` by directive. */
export function pagePolicy(more: Partial<Record<'script' | 'style' | 'img', string>> = {}): string {
  const own = (directive: 'script' | 'style' | 'img' | 'font' | 'connect', extra = ''): string =>
    `${directive}-src 'self'${extra && ` ${extra}`}`;
  return [
    "default-src 'none'",
    own('script', more.script),
    own('style', more.style),
    own('img', more.img),
    own('font'),
    own('connect'),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export function serveFiles(app: FastifyInstance, files: readonly WebFile[]): void {
  for (const file of files) app.get(file.path, fileServer(file));
}

/** Answers a request with a file. */
export type Serve = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Answers with one file, read and compressed once. */
export function fileServer(file: WebFile): Serve {
  const headers = headersOf(file);
  let kept: Promise<Kept> | null = null;
  return async (request, reply) => {
    kept ??= keep(file).catch((error: unknown) => {
      kept = null;
      throw error;
    });
    const { bytes, isZipped, tag } = await kept;
    const zips = isZipped && preferredOf(request.headers['accept-encoding'], ['gzip']) !== null;
    reply.headers(headers).header('etag', zips ? tag.replace(/"$/, '-gzip"') : tag);
    if (isZipped) reply.header('vary', 'accept-encoding');
    const known = request.headers['if-none-match'];
    if (known !== undefined && matchesTag(known, tag, 'weak')) return reply.code(304).send();
    if (zips) reply.header('content-encoding', 'gzip');
    return reply.send(isZipped && !zips ? await promisify(gunzip)(bytes) : bytes);
  };
}

export function headersOf({
  type,
  cache,
  policy,
}: Pick<WebFile, 'type' | 'cache' | 'policy'>): Record<string, string> {
  const lasting = { immutable: 'public, max-age=31536000, immutable', day: 'public, max-age=86400' };
  return {
    'content-type': type,
    'cache-control': cache === undefined ? 'no-cache' : lasting[cache],
    ...(policy !== undefined && {
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
    }),
  };
}

interface Kept {
  bytes: Buffer;
  /** Kept in this form alone: nearly everybody takes it. */
  isZipped: boolean;
  tag: string;
}

async function keep({ type, read }: WebFile): Promise<Kept> {
  const bytes = Buffer.from(await read());
  const tag = etagOf(bytes);
  const isText = /^text\/|json|xml|svg/.test(type);
  if (!isText || bytes.length < worthItFrom) return { bytes, isZipped: false, tag };
  return { bytes: await promisify(gzip)(bytes), isZipped: true, tag };
}
