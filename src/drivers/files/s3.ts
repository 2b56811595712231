import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Readable } from 'node:stream';
import { checkName, type Files, FilesError } from './contract.ts';

export interface S3Options {
  /** Where the storage answers, such as https://s3.example.com; its buckets are below it. */
  url: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** How long a request may take until its answer begins, and how long its connection may say nothing; 20 seconds when absent. */
  timeoutMs?: number;
}

const connectMs = 5_000;
/** The smallest that a part may have, but for the last. So much of each file under way is in memory, and once more while it goes. */
const partBytes = 5 * 1_048_576;
const connections = 50;

/**
 * Storage that speaks S3, whoever runs it. What arrives bit by bit and is longer than a part goes in parts, which become a
 * file all at once, or are taken away; what breaks off with us is the storage's to tidy up, by a rule of the bucket.
 */
export async function s3Files(options: S3Options): Promise<Files & { close(): Promise<void> }> {
  // Many modules, which only those load who need them.
  const [sdk, { Upload }] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]);
  const { url, region, bucket: Bucket, accessKeyId, secretAccessKey, timeoutMs = 20_000 } = options;
  const agents = { keepAlive: true, maxSockets: connections };
  const client = new sdk.S3Client({
    endpoint: url,
    region,
    credentials: { accessKeyId, secretAccessKey },
    // A bucket as a part of the host's name needs names and certificates that not every storage has.
    forcePathStyle: true,
    maxAttempts: 3,
    retryMode: 'standard',
    // Only Amazon's own storage knows all the checksums that could be sent and asked for.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    useArnRegion: false,
    followRegionRedirects: false,
    defaultsMode: 'standard',
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: timeoutMs,
      throwOnRequestTimeout: true,
      socketTimeout: timeoutMs,
      httpAgent: new HttpAgent(agents),
      httpsAgent: new HttpsAgent(agents),
    },
  });
  const keyOf = (name: string) => {
    checkName(name);
    return { Bucket, Key: name };
  };
  const get = async (name: string) => {
    const key = keyOf(name);
    const { Body } = await saying(name, () => client.send(new sdk.GetObjectCommand(key)));
    if (!(Body instanceof Readable)) throw new FilesError('files_unreachable', `${name} came without a body`);
    return Body;
  };
  return {
    kind: 's3',
    capabilities: [],
    put: async (name, content) => {
      const key = keyOf(name);
      if (Buffer.isBuffer(content)) {
        await saying(name, () => client.send(new sdk.PutObjectCommand({ ...key, Body: content })));
        return;
      }
      const source = watched(content);
      const upload = new Upload({
        client,
        params: { ...key, Body: Readable.from(source.through, { objectMode: false }) },
        queueSize: 1,
        partSize: partBytes,
        leavePartsOnError: false,
      });
      try {
        await saying(name, () => upload.done());
      } catch (error) {
        throw source.failure === null ? error : source.failure.error;
      }
    },
    get: async (name) => {
      const body = await get(name);
      const parts: Buffer[] = [];
      return saying(name, async () => {
        for await (const part of body) parts.push(part as Buffer);
        return Buffer.concat(parts);
      });
    },
    stream: get,
    exists: async (name) => {
      const key = keyOf(name);
      try {
        await saying(name, () => client.send(new sdk.HeadObjectCommand(key)));
        return true;
      } catch (error) {
        if (error instanceof FilesError && error.code === 'file_absent') return false;
        throw error;
      }
    },
    delete: async (name) => {
      const key = keyOf(name);
      await saying(name, () => client.send(new sdk.DeleteObjectCommand(key))).catch((error: unknown) => {
        if (error instanceof FilesError && error.code === 'file_absent') return;
        throw error;
      });
    },
    close: async () => client.destroy(),
  };
}

/** What the source fails with is the source's, whatever the storage makes of it. */
function watched(content: AsyncIterable<Uint8Array>) {
  const source = { failure: null as { error: unknown } | null, through: pass() };
  async function* pass() {
    try {
      yield* content;
    } catch (error) {
      // Whoever reads it lets go of it so once the storage has failed.
      if (!(error instanceof Error && error.name === 'AbortError')) source.failure = { error };
      throw error;
    }
  }
  return source;
}

interface Answered {
  name?: string;
  message?: string;
  $metadata?: { httpStatusCode?: number };
}

/** What storage of several makers says when there is no room. */
const full =
  /^(QuotaExceeded|InsufficientStorage|XMinioStorageFull|EntityTooLarge|StorageFull|InsufficientCapacity)/;

async function saying<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FilesError) throw error;
    const { name: code = '', message = '', $metadata } = error as Answered;
    const status = $metadata?.httpStatusCode;
    // A bucket that is gone is no file that is gone: it comes back once somebody makes it again.
    if (code === 'NoSuchKey' || (status === 404 && code !== 'NoSuchBucket'))
      throw new FilesError('file_absent', `there is no file ${name}`, { permanent: true, cause: error });
    if (full.test(code) || status === 507)
      throw new FilesError('files_full', `there is no room for ${name}: ${code}`, { cause: error });
    const said = [status, code, message].filter(Boolean).join(' ');
    throw new FilesError('files_unreachable', `${name}: ${said}`, { cause: error });
  }
}
