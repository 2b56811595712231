import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { run, runAsRoot } from '../../../platform/host/run.ts';
import { HypervisorError, type ImageSource, type Progress } from '../contract.ts';
import { debian12Recipe } from './debian-12.ts';
import { withFileLock } from './lock.ts';
import type { ImageDescription, Recipe } from './recipe.ts';
import { tinyRecipe } from './tiny.ts';

/** Images this driver can build by itself. */
export const recipes: Record<string, Recipe> = { tiny: tinyRecipe, 'debian-12': debian12Recipe };

export interface ImageStore {
  ensure(image: ImageSource, progress: Progress): Promise<void>;
  /** The image's folder and description; `image_unknown` when it was never made. */
  find(slug: string): Promise<ImageDescription & { dir: string }>;
}

/** Finished images in `dir/<slug>/`, read-only from the moment they carry that name. */
export function imageStore(dir: string): ImageStore {
  const building = new Map<string, Promise<void>>();
  return {
    ensure(image, progress) {
      checkSlug(image.slug);
      const current = building.get(image.slug);
      if (current) return current;
      const started = make(dir, image, progress).finally(() => building.delete(image.slug));
      building.set(image.slug, started);
      return started;
    },
    async find(slug) {
      checkSlug(slug);
      const description = await describe(dir, slug);
      if (description) return { ...description, dir: join(dir, slug) };
      throw new HypervisorError('image_unknown', `no image ${slug} on this node`, { permanent: true });
    },
  };
}

/** Builds the image of a recipe into `dir`, under the recipe's name, unless it is there: as for tests, ahead. */
export function buildImage(dir: string, recipe: string, progress: Progress): Promise<void> {
  return imageStore(dir).ensure({ slug: recipe, kind: 'build', recipe }, progress);
}

function checkSlug(slug: string): void {
  if (/^[a-z0-9][a-z0-9.-]{0,63}$/.test(slug)) return;
  throw new HypervisorError('spec_invalid', `not an image slug: ${JSON.stringify(slug)}`, {
    permanent: true,
  });
}

async function describe(dir: string, slug: string): Promise<ImageDescription | null> {
  const text = await readFile(join(dir, slug, 'image.json'), 'utf8').catch(() => null);
  return text === null ? null : JSON.parse(text);
}

async function make(dir: string, image: ImageSource, progress: Progress): Promise<void> {
  if (await describe(dir, image.slug)) return;
  await mkdir(dir, { recursive: true });
  await withFileLock(join(dir, `${image.slug}.lock`), async () => {
    if (await describe(dir, image.slug)) return; // another process built it while we waited
    const temporary = join(dir, `${image.slug}.partial`);
    // What a build that was cut off left may belong to root.
    await runAsRoot(['rm', '-rf', temporary]);
    await mkdir(temporary);
    const description = await buildOrDownload(image, temporary, progress);
    await writeFile(join(temporary, 'image.json'), JSON.stringify(description, null, 2));
    await rename(temporary, join(dir, image.slug));
    progress(`The image ${image.slug} is ready`);
  });
}

async function buildOrDownload(
  image: ImageSource,
  dir: string,
  progress: Progress,
): Promise<ImageDescription> {
  try {
    if (image.kind === 'download') return await download(image, dir, progress);
    const recipe = recipes[image.recipe];
    if (recipe) return await recipe.build(dir, progress);
  } catch (cause) {
    if (cause instanceof HypervisorError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HypervisorError('image_build_failed', `the image ${image.slug}: ${reason}`, { cause });
  }
  throw new HypervisorError('image_unknown', `no recipe named ${image.recipe}`, { permanent: true });
}

type Download = Extract<ImageSource, { kind: 'download' }>;

/** Fetches a vendor's cloud image, refuses it when its checksum differs, and stores it as qcow2. */
async function download(image: Download, dir: string, progress: Progress): Promise<ImageDescription> {
  const file = join(dir, 'download');
  const response = await fetch(image.url);
  if (!response.ok || response.body === null) throw new Error(`${image.url} answered ${response.status}`);
  const totalMib = Math.round(Number(response.headers.get('content-length') ?? 0) / 2 ** 20);
  let bytes = 0;
  let reportedMib = 0;
  const body = Readable.fromWeb(response.body).on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes / 2 ** 20 - reportedMib < 50) return;
    reportedMib = Math.round(bytes / 2 ** 20);
    progress(`Downloading the image ${image.slug}: ${reportedMib} of ${totalMib || '?'} MiB`);
  });
  await pipeline(body, createWriteStream(file));
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  if (hash.digest('hex') !== image.sha256.toLowerCase()) {
    const message = `the image ${image.slug} does not have the checksum that is expected`;
    throw new HypervisorError('image_rejected', message, { permanent: true });
  }
  return { guest: 'cloud-init', boot: null, diskBytes: await acceptDisk(image.slug, file, dir) };
}

/** Converts a foreign disk to a plain qcow2. One that names a backing file could pull in a file of ours. */
async function acceptDisk(slug: string, file: string, dir: string): Promise<number> {
  const info = JSON.parse((await run(['qemu-img', 'info', '--output=json', file])).stdout);
  const harmless =
    ['qcow2', 'raw'].includes(info.format) && !info['backing-filename'] && !info['full-backing-filename'];
  const external = info['format-specific']?.data?.['data-file'];
  if (!harmless || external) {
    throw new HypervisorError('image_rejected', `the image ${slug} is not a plain disk`, { permanent: true });
  }
  const target = join(dir, 'disk.qcow2');
  await run(['qemu-img', 'convert', '-f', info.format, '-O', 'qcow2', file, target], { timeoutMs: 600_000 });
  await rm(file);
  return Number(info['virtual-size']);
}
