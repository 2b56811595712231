import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import type { Config } from '../../config.ts';
import type { Drivers } from '../drivers.ts';
import { fail } from '../errors.ts';
import type { Api } from './apiParts.ts';
import { limited, tooLarge } from './bytes.ts';
import { contentField, type FilesOption, type ReceivedFile } from './filesOption.ts';
import { readForm } from './formFiles.ts';
import { readJson } from './json.ts';
import { divertFiles } from './jsonFiles.ts';
import { kindsOf } from './parameters.ts';
import { contextFor } from './requestContext.ts';
import type { Route } from './route.ts';

/** What of a body is no file. */
const mostText = 1_048_576;
/** Base64, the names, and what stands around each part of a form. */
const mostAround = 4_096;

declare module 'fastify' {
  interface FastifyRequest {
    /** What came with a route that takes files. */
    received: readonly ReceivedFile[] | null;
  }
}

/** Sets up a part of the API in which bodies may bring files along. */
export async function readBodiesWithFiles(part: FastifyInstance): Promise<void> {
  part.removeAllContentTypeParsers();
  await part.register(multipart, { throwFileSizeLimit: false });
  part.addContentTypeParser('application/json', (_request, payload, done) => done(null, payload));
  part.addHook('onSend', (request, reply, _payload, done) => {
    // What was left unread would be taken for the connection's next request.
    if (!request.raw.complete) reply.header('connection', 'close');
    done();
  });
}

/** The longest body that a route with files reads. */
export function bodyLimitOf({ limits }: FilesOption, config: Config): number {
  const { most, bytes } = limits(config);
  return mostText + most * (Math.ceil((bytes + 2) / 3) * 4 + mostAround);
}

export interface Receiving {
  /** Reads the body into `request.body`, and keeps its files. */
  receive(request: FastifyRequest): Promise<void>;
  /** Once it is answered: nothing of it stays that is not used. */
  settle(request: FastifyRequest): Promise<void>;
}

/** How a route receives its files. */
export function compileReceiving(
  api: Api,
  route: Route,
  drivers: Partial<Drivers>,
  files: FilesOption,
): Receiving {
  const kinds = kindsOf(route.body as TObject);
  const { most, bytes } = files.limits(api.config);
  const begun = new WeakMap<FastifyRequest, number[]>();

  const receive: Receiving['receive'] = async (request) => {
    const ctx = contextFor(api, route, request);
    const params = request.params as Record<string, string>;
    const ids: number[] = [];
    begun.set(request, ids);
    const digests: string[] = [];
    const take = async (content: Readable) => {
      if (digests.length >= most) throw tooMany(most);
      const { id, digest } = await files.keep(ctx, { drivers, params, content });
      ids.push(id);
      digests.push(digest.toString('hex'));
      return id;
    };
    checkEncoding(request);
    if (request.isMultipart()) {
      const named: ReceivedFile[] = [];
      const fields = await readForm(request, {
        ...{ field: files.field, kinds, most, mostBytes: bytes, tooMany: () => tooMany(most) },
        take: async ({ content, name, type }) => {
          const id = await take(content);
          named.push({ id, name, claimedType: type });
        },
      });
      request.received = named;
      request.body = named.length === 0 ? fields : { ...fields, [files.field]: named.map(inJson) };
    } else if (request.body !== undefined) {
      const source = limited(request.body as Readable, request.routeOptions.bodyLimit);
      const text = await divertFiles(source, {
        ...{ field: files.field, content: contentField, mostBytes: mostText },
        take: async (content) => void (await take(content)),
      });
      request.rawBody = text;
      request.body = text.length === 0 ? undefined : readJson(text);
      const listed = (request.body as Record<string, unknown> | undefined)?.[files.field];
      const names = Array.isArray(listed) ? listed : [];
      // What does not fit together has a shape that is refused before anybody looks at it.
      request.received = ids.map((id, at) => ({ id, name: String(names[at]?.name), claimedType: null }));
    }
    if (digests.length > 0 || request.rawBody === null) request.rawBody = summaryOf(request, digests);
  };

  const settle: Receiving['settle'] = async (request) => {
    const ids = begun.get(request) ?? [];
    if (ids.length === 0) return;
    const ctx = contextFor(api, route, request);
    await files.forget(ctx, drivers, ids).catch((err: unknown) => {
      ctx.log.warn({ err }, 'files that a request brought and nobody uses could not be taken away yet');
    });
  };
  return { receive, settle };
}

function inJson({ name }: ReceivedFile) {
  return { name, [contentField]: '' };
}

/** By which it is known whether a request is the one before: a form looks different each time that it is sent. */
function summaryOf({ body, received }: FastifyRequest, digests: readonly string[]): Buffer {
  const said = JSON.stringify([
    body,
    (received ?? []).map(({ name, claimedType }) => [name, claimedType]),
    digests,
  ]);
  return createHash('sha256').update(said).digest();
}

function tooMany(most: number) {
  const message =
    most === 0
      ? 'No files are taken here'
      : `At most ${most} files are taken at once; send the others with the next one`;
  return fail('too_many_files', { message });
}

function checkEncoding(request: FastifyRequest): void {
  const { 'content-encoding': encoding, 'content-length': length, 'content-type': type } = request.headers;
  if (encoding !== undefined && encoding !== 'identity')
    throw fail('unsupported_media_type', { message: 'Bodies are read without Content-Encoding' });
  const isJson = /^application\/json *(; *charset="?utf-8"? *)?;?$/i.test(type ?? '');
  if (type !== undefined && !request.isMultipart() && !isJson)
    throw fail('unsupported_media_type', { message: 'JSON is read in UTF-8 only' });
  const { bodyLimit } = request.routeOptions;
  if (Number(length) > bodyLimit) throw tooLarge(bodyLimit);
}
