import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { tarArchive } from '../../debian/index.ts';
import { HypervisorError, type ImageSource, type Progress } from '../contract.ts';
import { formBody } from '../formats/form.ts';
import { checkImageSlug, checkSameImage, contentsOf, type Source } from '../imageSource.ts';
import type { ImageDescription } from '../images/recipe.ts';
import { imageStore } from '../images/store.ts';
import { asJson, asList, asText, asTexts, type IncusClient } from './client.ts';
import { calling, IncusRefusal } from './failure.ts';
import type { IncusOptions } from './options.ts';

/** An image as the cluster has it. */
export interface ClusterImage extends ImageDescription {
  fingerprint: string;
}

export interface ClusterImages {
  ensure(image: ImageSource, progress: Progress): Promise<void>;
  /** `image_unknown` when it was never uploaded. */
  find(slug: string): Promise<ClusterImage>;
}

/** What we note of an image in its properties. */
const own = { slug: 'innkeeper.slug', description: 'innkeeper.description' } as const;

/**
 * Images are built or downloaded here, checked, and uploaded once; to its members the cluster brings them by itself. An image is
 * the engine's split form, a small archive of facts and the disk, whose fingerprint is that of both: so uploading it twice makes one.
 */
export function clusterImages(options: IncusOptions, client: IncusClient): ClusterImages {
  const local = imageStore(options.imagesDir);
  const uploading = new Map<string, Promise<void>>();

  async function known(slug: string): Promise<ClusterImage | null> {
    const images = asList(await client.read('/1.0/images', { recursion: '1' }), 'images');
    for (const image of images) {
      const properties = asTexts(image.properties, 'properties of an image');
      if (properties[own.slug] !== slug) continue;
      const description = asJson(properties[own.description] ?? '{}', 'the description of an image');
      return {
        ...(description as ImageDescription),
        fingerprint: asText(image.fingerprint, 'a fingerprint'),
      };
    }
    return null;
  }

  async function isThere(image: ImageSource): Promise<boolean> {
    const found = await known(image.slug);
    if (found?.source) checkSameImage(image, found.source);
    return found !== null;
  }

  async function make(image: ImageSource, progress: Progress): Promise<void> {
    if (await isThere(image)) return;
    // What is built here starts from a kernel outside of its disk: it need not be made to know that.
    if (image.kind === 'build' && options.directBoot === undefined) throw withoutBootLoader(image.slug);
    await local.ensure(image, progress);
    const { dir, ...description } = await local.find(image.slug);
    if (description.boot !== null && !options.directBoot?.(description)) throw withoutBootLoader(image.slug);
    const { slug, ...source } = image;
    progress(`Uploading the image ${slug} to the cluster`);
    await upload(slug, { ...description, source }, join(dir, 'disk.qcow2'));
    progress(`The image ${slug} is ready in the cluster`);
  }

  async function upload(
    slug: string,
    description: ImageDescription & { source: Source },
    disk: string,
  ): Promise<void> {
    const alias = `${slug}-${createHash('sha256').update(contentsOf(description.source)).digest('hex').slice(0, 12)}`;
    const properties = {
      [own.slug]: slug,
      [own.description]: JSON.stringify(description),
      description: alias,
    };
    // JSON is YAML too. The day is none: the same image has the same fingerprint whenever it is made.
    const facts = JSON.stringify({ architecture: 'x86_64', creation_date: 1, properties });
    const form = await formBody([
      {
        name: 'metadata',
        filename: 'metadata.tar',
        content: tarArchive([{ path: 'metadata.yaml', content: facts }]),
      },
      { name: 'rootfs.img', filename: 'disk.qcow2', content: { path: disk } },
    ]);
    const sent = client.upload('/1.0/images', form, { 'content-type': form.type });
    await calling('image_build_failed', sent).catch(async (error: unknown) => {
      if (!(await known(slug))) throw error; // unless another was faster
    });
    const { fingerprint } = (await known(slug)) ?? {};
    const named = client.change('POST', '/1.0/images/aliases', { name: alias, target: fingerprint });
    await named.catch((error: unknown) => {
      if (!(error instanceof IncusRefusal) || error.status !== 409) throw error;
    });
  }

  return {
    async ensure(image, progress) {
      checkImageSlug(image.slug);
      const key = `${image.slug} ${contentsOf(image)}`;
      const started = uploading.get(key) ?? make(image, progress).finally(() => uploading.delete(key));
      uploading.set(key, started);
      return started;
    },
    async find(slug) {
      checkImageSlug(slug);
      const found = await known(slug);
      if (found) return found;
      throw new HypervisorError('image_unknown', `no image ${slug} in this cluster`, { permanent: true });
    },
  };
}

function withoutBootLoader(slug: string): HypervisorError {
  return new HypervisorError(
    'image_rejected',
    `${slug} brings no boot loader, and a cluster’s hosts have no kernel of ours to start it with`,
    { permanent: true },
  );
}
