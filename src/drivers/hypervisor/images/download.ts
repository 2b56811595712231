import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { HypervisorError, type ImageSource, type Progress } from '../contract.ts';
import { acceptDisk } from './foreign.ts';
import type { ImageDescription } from './recipe.ts';

export type DownloadSource = Extract<ImageSource, { kind: 'download' }>;

const longestImageBytes = 16 * 2 ** 30;
const mib = 2 ** 20;

/**
 * Fetches a vendor's cloud image into `dir`, and makes `disk.qcow2` of it there. Streamed: no more of it is in
 * memory than arrives at once. What it says of itself is believed only after its checksum is right.
 */
export async function downloadImage(
  image: DownloadSource,
  dir: string,
  progress: Progress,
  maxBytes = longestImageBytes,
): Promise<ImageDescription> {
  const file = join(dir, 'download');
  try {
    const sha256 = await fetchTo(file, image, progress, maxBytes);
    if (sha256 !== image.sha256.toLowerCase()) throw rejected(image, `its SHA-256 is ${sha256}`);
    progress(`Checking the image ${image.slug} and storing it`);
    const diskBytes = await acceptDisk(file, join(dir, 'disk.qcow2')).catch((error: unknown) => {
      throw rejected(image, error instanceof Error ? error.message : String(error));
    });
    return { guest: image.guest, boot: null, diskBytes };
  } finally {
    await rm(file, { force: true });
  }
}

/** Returns the SHA-256 of what came, in hex. */
async function fetchTo(
  file: string,
  image: DownloadSource,
  progress: Progress,
  maxBytes: number,
): Promise<string> {
  const url = URL.parse(image.url);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw rejected(image, 'only http(s) addresses are fetched');
  const response = await fetch(url);
  if (!response.ok || response.body === null) throw new Error(`${url.host} answered ${response.status}`);
  const announced = Number(response.headers.get('content-length') ?? 0);
  const tooLong = () => rejected(image, `it is longer than ${Math.floor(maxBytes / mib)} MiB`);
  if (announced > maxBytes) {
    await response.body.cancel();
    throw tooLong();
  }
  const hash = createHash('sha256');
  const total = announced > 0 ? ` of ${Math.ceil(announced / mib)}` : '';
  let bytes = 0;
  let nextReport = 0;
  await pipeline(
    response.body,
    async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > maxBytes) throw tooLong();
        hash.update(chunk);
        if (bytes >= nextReport) {
          progress(`Downloading the image ${image.slug}: ${Math.floor(bytes / mib)}${total} MiB`);
          nextReport = bytes + 32 * mib;
        }
        yield chunk;
      }
    },
    createWriteStream(file, { mode: 0o600 }),
  );
  return hash.digest('hex');
}

function rejected({ slug }: DownloadSource, reason: string): HypervisorError {
  return new HypervisorError('image_rejected', `the image ${slug} is refused: ${reason}`, {
    permanent: true,
  });
}
