import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Below this a packet is a packet, and compressing costs more than it saves. */
export const worthItFrom = 1_024;

const asGzip = promisify(gzip);
const asBrotli = promisify(brotliCompress);

const codings = {
  br: (text: string) =>
    asBrotli(text, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: text.length },
    }),
  gzip: (text: string) => asGzip(text, { level: 5 }),
};

const order = ['br', 'gzip'] as const;

/**
 * Compresses JSON that is long enough, when the caller takes it. Answers to GET alone: they hold no secret beside
 * what a request brought along, which is what guessing by length needs (BREACH). Keys and passwords are shown
 * once, by a POST.
 */
export function compressAnswers(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (typeof payload !== 'string' || payload.length < worthItFrom || request.method !== 'GET')
      return done();
    reply.header('vary', 'accept-encoding');
    const coding = preferredOf(request.headers['accept-encoding'], order);
    if (coding === null || reply.hasHeader('content-encoding')) return done();
    codings[coding](payload).then(
      (bytes) => {
        reply.header('content-encoding', coding).removeHeader('content-length');
        const tag = reply.getHeader('etag');
        if (typeof tag === 'string') reply.header('etag', tagFor(tag, coding));
        done(null, bytes);
      },
      (error: Error) => done(error),
    );
  });
}

const flushing = {
  br: () =>
    createBrotliCompress({
      flush: constants.BROTLI_OPERATION_FLUSH,
      params: { [constants.BROTLI_PARAM_QUALITY]: 4 },
    }),
  gzip: () => createGzip({ flush: constants.Z_SYNC_FLUSH, level: 5 }),
};

/** Sends each part as soon as it is there, compressed when the caller takes it. */
export function sendInParts(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  parts: AsyncIterable<string>,
): FastifyReply {
  reply.header('vary', 'accept-encoding');
  const coding = preferredOf(headers['accept-encoding'], order);
  if (coding === null) return reply.send(Readable.from(parts));
  const packed = flushing[coding]();
  // Whoever goes away in between misses nothing.
  pipeline(parts, packed).catch(() => undefined);
  return reply.header('content-encoding', coding).send(packed);
}

/** A strong tag stands for bytes, so each coding has its own. */
function tagFor(tag: string, coding: string): string {
  return tag.replace(/"$/, `-${coding}"`);
}

/** The first of these codings that the caller takes. */
export function preferredOf<Coding extends string>(
  header: string | string[] | undefined,
  codings: readonly Coding[],
): Coding | null {
  if (typeof header !== 'string') return null;
  const taken = new Set(
    header
      .toLowerCase()
      .split(',')
      .map((part) => part.trim())
      .filter((part) => !/;\s*q=0(\.0*)?$/.test(part))
      .map((part) => part.split(';', 1)[0]),
  );
  return codings.find((coding) => taken.has(coding)) ?? null;
}
