import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder, syncTree } from '../../../platform/host/durable.ts';
import { ensurePackages } from '../../../platform/host/packages.ts';
import { runAsRoot } from '../../../platform/host/program.ts';
import { withFileLock } from '../../debian/index.ts';
import { HypervisorError, type ImageSource, type Progress } from '../contract.ts';
import { hostPackages } from '../host.ts';
import { checkImageSlug, checkSameImage, contentsOf } from '../imageSource.ts';
import { debian12Recipe } from './debian-12.ts';
import { downloadImage } from './download.ts';
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
      checkImageSlug(image.slug);
      const key = `${image.slug} ${contentsOf(image)}`;
      const current = building.get(key);
      if (current) return current;
      const started = make(dir, image, progress).finally(() => building.delete(key));
      building.set(key, started);
      return started;
    },
    async find(slug) {
      checkImageSlug(slug);
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

/** Images of ours that start with a kernel of their own. */
export async function imagesAtHand(dir: string): Promise<string[]> {
  const slugs = await readdir(dir).catch(() => []);
  const found = await Promise.all(slugs.map((slug) => describe(dir, slug)));
  return slugs.filter((_, index) => found[index]?.boot);
}

async function describe(dir: string, slug: string): Promise<ImageDescription | null> {
  const text = await readFile(join(dir, slug, 'image.json'), 'utf8').catch(() => null);
  return text === null ? null : JSON.parse(text);
}

/** Whether the image is there. Earlier versions did not write the source down; theirs is believed to fit. */
async function isMade(dir: string, image: ImageSource): Promise<boolean> {
  const found = await describe(dir, image.slug);
  if (found?.source) checkSameImage(image, found.source);
  return found !== null;
}

async function make(dir: string, image: ImageSource, progress: Progress): Promise<void> {
  if (await isMade(dir, image)) return;
  await mkdir(dir, { recursive: true });
  await withFileLock(join(dir, `${image.slug}.lock`), async () => {
    if (await isMade(dir, image)) return; // another process built it while we waited
    const temporary = join(dir, `${image.slug}.partial`);
    await removeLeftovers(temporary);
    await mkdir(temporary);
    const description = await buildOrDownload(image, temporary, progress);
    const { slug: _, ...source } = image;
    const kept: ImageDescription = { ...description, source };
    await writeFile(join(temporary, 'image.json'), JSON.stringify(kept, null, 2));
    // Nobody looks at it again: a power cut must not leave an empty disk under the name of all that are made of it.
    await syncTree(temporary);
    await rename(temporary, join(dir, image.slug));
    await syncFolder(dir);
    progress(`The image ${image.slug} is ready`);
  });
}

/** What a build that was cut off left may belong to root, with parts of this host mounted in it. */
async function removeLeftovers(dir: string): Promise<void> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  const inside = mounts.filter((mount) => mount.startsWith(`${dir}/`));
  // Later ones may stand on earlier ones.
  for (const mount of inside.reverse()) await runAsRoot(['umount', mount]);
  await runAsRoot(['rm', '-rf', '--one-file-system', dir]);
}

async function buildOrDownload(
  image: ImageSource,
  dir: string,
  progress: Progress,
): Promise<ImageDescription> {
  try {
    if (image.kind === 'download') return await downloadImage(image, dir, progress);
    const recipe = recipes[image.recipe];
    if (recipe) {
      // What only this image needs is installed when somebody first wants the image.
      await ensurePackages(
        hostPackages.filter((wanted) => wanted.use === image.recipe),
        progress,
      );
      return await recipe.build(dir, progress);
    }
  } catch (cause) {
    if (cause instanceof HypervisorError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HypervisorError('image_build_failed', `the image ${image.slug}: ${reason}`, { cause });
  }
  throw new HypervisorError('image_unknown', `no recipe named ${image.recipe}`, { permanent: true });
}
