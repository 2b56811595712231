import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type TSchema, type TUnsafe, Type } from 'typebox';
import { fail } from '../errors.ts';

/** How a body that is not read as JSON arrives, and as what; `image/*` stands for a whole family. */
interface BytesBody {
  read: 'raw' | 'stream';
  accepts: readonly string[];
}

const mark = Symbol('bytes');

/** A body as it was sent, for signatures and small files: a Buffer, at most `bodyLimit` long. */
export function Raw(accepts: readonly string[]): TUnsafe<Buffer> {
  return Type.Unsafe<Buffer>({ [mark]: { read: 'raw', accepts } satisfies BytesBody });
}

/**
 * A body while it arrives, for large files. It is read only as fast as the handler takes it, and ends with
 * `body_too_large` after `bodyLimit` bytes, so what was written of it by then has to be taken away again.
 */
export function Stream(accepts: readonly string[]): TUnsafe<Readable> {
  return Type.Unsafe<Readable>({ [mark]: { read: 'stream', accepts } satisfies BytesBody });
}

/** Null for a body of JSON. */
export function bytesOf(body: TSchema): BytesBody | null {
  return (body as { [mark]?: BytesBody })[mark] ?? null;
}

/** Sets up a part of the API that reads bodies as bytes. */
export function readBytes(app: FastifyInstance, read: BytesBody['read']): void {
  app.removeAllContentTypeParsers();
  if (read === 'raw') {
    app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (request, bytes, done) => {
      request.rawBody = bytes;
      done(null, bytes);
    });
    return;
  }
  app.addContentTypeParser('*', (request, payload, done) => {
    done(null, limited(payload, request.routeOptions.bodyLimit));
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    // What the handler left unread would be taken for the connection's next request.
    if (!request.raw.complete) reply.header('connection', 'close');
    done();
  });
}

/** Refuses a body that is missing, of another type or too large, before any of it is read. */
export function checkBytes(request: FastifyRequest, { accepts }: BytesBody): void {
  const { 'content-type': type, 'content-length': length, 'content-encoding': encoding } = request.headers;
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  if (!isChunked && (length === undefined || length === '0')) {
    throw fail('invalid_request', { details: [{ field: 'body', message: 'is missing' }] });
  }
  if (!accepts.some((wanted) => isOfType(type, wanted))) {
    throw fail('unsupported_media_type', { message: `Send Content-Type: ${accepts.join(' or ')}` });
  }
  if (encoding !== undefined && encoding !== 'identity') {
    throw fail('unsupported_media_type', { message: 'Bodies are read without Content-Encoding' });
  }
  const { bodyLimit } = request.routeOptions;
  if (Number(length) > bodyLimit) throw tooLarge(bodyLimit);
}

function isOfType(header: string | undefined, wanted: string): boolean {
  const type = header?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return wanted.endsWith('/*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

/** A body longer than its route reads. */
export function tooLarge(limitBytes: number) {
  const [kib, mib] = [limitBytes / 1_024, limitBytes / 1_048_576];
  const most = Number.isInteger(mib)
    ? `${mib} MiB`
    : Number.isInteger(kib)
      ? `${kib} KiB`
      : `${limitBytes} bytes`;
  return fail('body_too_large', { message: `The body is too large; at most ${most} are read` });
}

/** What comes of a source, up to a limit. */
export function limited(source: Readable, limitBytes: number): Readable {
  return Readable.from(counted(source, limitBytes), { objectMode: false });
}

async function* counted(source: Readable, limitBytes: number): AsyncGenerator<Buffer> {
  let seen = 0;
  // The source is the connection: destroyed with the stream, it could not carry the answer.
  for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    seen += chunk.length;
    if (seen > limitBytes) throw tooLarge(limitBytes);
    yield chunk;
  }
}
