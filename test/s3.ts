import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * Storage that speaks as much of S3 as a client of files needs, in memory: it checks each signature (Signature Version 4)
 * and each digest by itself, and gives a file to readers only once it is whole.
 */
export interface S3Storage {
  url: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** What is in the bucket, by key. */
  readonly objects: ReadonlyMap<string, Buffer>;
  /** Uploads in parts that are neither ended nor given up. */
  readonly uploads: ReadonlyMap<string, unknown>;
  /** Every request that was answered: `PUT a/b 200`. */
  readonly seen: string[];
  /** How it answers instead, as long as this is set. */
  trouble: { status: number; code: string; times?: number } | 'silence' | 'cut' | null;
  stop(): Promise<void>;
}

interface Upload {
  key: string;
  parts: Map<number, { etag: string; bytes: Buffer }>;
}

class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

const region = 'eu-central-1';
const bucket = 'innkeeper-test';
const smallestPart = 5 * 1_048_576;

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest();
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

export async function startS3(): Promise<S3Storage> {
  const accessKeyId = `AK${randomUUID().slice(0, 8)}`;
  const secretAccessKey = randomUUID();
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Upload>();

  const answerTo = (
    method: string,
    url: URL,
    body: Buffer,
  ): { status: number; body?: Buffer | string; etag?: string } => {
    const [, in_, ...rest] = url.pathname.split('/');
    if (decodeURIComponent(in_ ?? '') !== bucket) throw new Refusal(404, 'NoSuchBucket');
    const key = rest.map(decodeURIComponent).join('/');
    const uploadId = url.searchParams.get('uploadId');
    if (method === 'POST' && url.searchParams.has('uploads')) {
      const id = randomUUID();
      uploads.set(id, { key, parts: new Map() });
      return {
        status: 200,
        body: `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      };
    }
    if (uploadId !== null) return partOf(method, uploadId, key, url, body);
    const found = objects.get(key);
    if (method === 'PUT') {
      objects.set(key, body);
      return { status: 200, etag: etagOf(body) };
    }
    if (method === 'DELETE') {
      objects.delete(key);
      return { status: 204 };
    }
    if (method !== 'GET' && method !== 'HEAD') throw new Refusal(405, 'MethodNotAllowed');
    if (found === undefined) throw new Refusal(404, 'NoSuchKey');
    return { status: 200, body: found, etag: etagOf(found) };
  };

  const partOf = (method: string, id: string, key: string, url: URL, body: Buffer) => {
    const upload = uploads.get(id);
    if (upload === undefined || upload.key !== key) throw new Refusal(404, 'NoSuchUpload');
    if (method === 'DELETE') {
      uploads.delete(id);
      return { status: 204 };
    }
    if (method === 'PUT') {
      const part = { etag: etagOf(body), bytes: body };
      upload.parts.set(Number(url.searchParams.get('partNumber')), part);
      return { status: 200, etag: part.etag };
    }
    const named = [...body.toString().matchAll(/<Part>.*?<\/Part>/gs)].map(([part]) => ({
      number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
      etag: /<ETag>(?:"|&quot;)?([0-9a-f]+)/.exec(part)?.[1],
    }));
    const parts = named.map(({ number, etag }) => {
      const kept = upload.parts.get(number);
      if (kept === undefined || kept.etag !== etag) throw new Refusal(400, 'InvalidPart');
      return kept.bytes;
    });
    if (parts.slice(0, -1).some((part) => part.length < smallestPart))
      throw new Refusal(400, 'EntityTooSmall');
    const whole = Buffer.concat(parts);
    objects.set(key, whole);
    uploads.delete(id);
    return {
      status: 200,
      body: `<CompleteMultipartUploadResult><Key>${key}</Key><ETag>"${etagOf(whole)}"</ETag></CompleteMultipartUploadResult>`,
    };
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET' } = request;
    const url = new URL(request.url ?? '/', 'http://x');
    const { trouble } = storage;
    if (trouble === 'silence') return;
    if (trouble === 'cut') {
      request.destroy();
      return;
    }
    const body = await buffer(request);
    const say = (status: number, content: Buffer | string = '', etag?: string) => {
      storage.seen.push(`${method} ${url.pathname.split('/').slice(2).join('/')} ${status}`);
      response.writeHead(status, {
        ...(etag !== undefined && { etag: `"${etag}"` }),
        ...(status !== 204 && { 'content-length': Buffer.byteLength(content) }),
      });
      response.end(method === 'HEAD' ? undefined : content);
    };
    try {
      if (trouble !== null) {
        if (trouble.times !== undefined) {
          trouble.times -= 1;
          if (trouble.times <= 0) storage.trouble = null;
        }
        throw new Refusal(trouble.status, trouble.code);
      }
      checkSignature(request, url, body);
      const { status, body: content, etag } = answerTo(method, url, body);
      say(status, content, etag);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      say(error.status, `<?xml version="1.0"?><Error><Code>${error.code}</Code><Message>x</Message></Error>`);
    }
  }

  function checkSignature(request: IncomingMessage, url: URL, body: Buffer): void {
    const { authorization = '', 'x-amz-date': date, 'x-amz-content-sha256': digest } = request.headers;
    const form =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;
    const [, id, scope = '', names = '', signature = ''] = form.exec(authorization) ?? [];
    if (id !== accessKeyId) throw new Refusal(403, 'InvalidAccessKeyId');
    const said = typeof date === 'string' ? date : '';
    const at = Date.parse(said.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
    if (!(Math.abs(Date.now() - at) < 900_000)) throw new Refusal(403, 'RequestTimeTooSkewed');
    if (scope !== `${said.slice(0, 8)}/${region}/s3/aws4_request`)
      throw new Refusal(403, 'AuthorizationHeaderMalformed');
    if (digest !== 'UNSIGNED-PAYLOAD' && digest !== sha256(body))
      throw new Refusal(400, 'XAmzContentSHA256Mismatch');
    const signed = names.split(';');
    if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => signed.includes(name)))
      throw new Refusal(403, 'AccessDenied');
    const query = [...url.searchParams]
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .toSorted();
    const canonical = [
      request.method,
      url.pathname
        .split('/')
        .map((part) => encoded(decodeURIComponent(part)))
        .join('/'),
      query.join('&'),
      ...signed.map((name) => `${name}:${String(request.headers[name]).trim().replace(/ +/g, ' ')}`),
      '',
      names,
      digest,
    ].join('\n');
    const toSign = ['AWS4-HMAC-SHA256', said, scope, sha256(canonical)].join('\n');
    const key = [region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${secretAccessKey}`, said.slice(0, 8)));
    if (!timingSafeEqual(hmac(key, toSign), Buffer.from(signature, 'hex')))
      throw new Refusal(403, 'SignatureDoesNotMatch');
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const storage: S3Storage = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ region, bucket, accessKeyId, secretAccessKey, objects, uploads, seen: [], trouble: null },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return storage;
}

function etagOf(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex');
}
