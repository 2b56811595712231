import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { HypervisorError, type ImageSource, type Progress } from '../contract.ts';
import { checkImageSlug, contentsOf } from '../imageSource.ts';
import { imageStore } from '../images/store.ts';
import type { ClusterFacts } from './cluster.ts';
import { calling } from './failure.ts';
import type { ClusterFiles } from './files.ts';
import type { ProxmoxOptions } from './options.ts';

/** An image as a node has it. */
export interface NodeImage {
  /** What a disk is made from: `files:import/…`. */
  volume: string;
  guest: 'cloud-init';
}

export interface ClusterImages {
  /** On this node; null: on every one that answers. */
  ensure(image: ImageSource, node: string | null, progress: Progress): Promise<void>;
  /** `image_unknown` when a node does not have it. */
  find(node: string, slug: string): Promise<NodeImage>;
}

/**
 * Images are built or downloaded here, checked, and sent to every node, or once where nodes share the storage. All that is to be known
 * of one stands in its name, since the engine takes no notes of files: slug and checksum.
 */
export function clusterImages(
  options: ProxmoxOptions,
  cluster: ClusterFacts,
  files: ClusterFiles,
): ClusterImages {
  const local = imageStore(options.imagesDir);
  const uploading = new Map<string, Promise<void>>();
  const sumOf = (image: ImageSource) =>
    createHash('sha256').update(contentsOf(image)).digest('hex').slice(0, 12);
  const form = /^innkeeper_([a-z0-9][a-z0-9.-]{0,63})_([0-9a-f]{12})\.qcow2$/;

  async function known(node: string, slug: string): Promise<{ name: string; sum: string } | null> {
    for (const name of await files.names(node, 'import')) {
      const [, of, sum] = form.exec(name) ?? [];
      if (of === slug && sum !== undefined) return { name, sum };
    }
    return null;
  }

  /** Nodes that have to be sent what all of them are to have. */
  async function nodes(wanted: string | null): Promise<string[]> {
    const { storages, nodes: all } = await cluster.overview();
    const answering = all.filter(({ answers }) => answers).map(({ name }) => name);
    const there = storages.filter(
      ({ storage, node }) => storage === options.files && answering.includes(node),
    );
    const [shared] = there.filter(({ isShared }) => isShared);
    const meant = shared ? [shared] : there.filter(({ node }) => (wanted ?? node) === node);
    if (meant.length > 0) return meant.map(({ node }) => node);
    throw new HypervisorError('host_not_ready', `no node that answers has a storage ${options.files}`);
  }

  async function make(image: ImageSource, wanted: string | null, progress: Progress): Promise<void> {
    const lacking: string[] = [];
    for (const node of await nodes(wanted)) {
      const there = await known(node, image.slug);
      if (there === null) lacking.push(node);
      else if (there.sum !== sumOf(image))
        throw new HypervisorError(
          'image_rejected',
          `${image.slug} is here already, made from another source; choose another slug`,
          { permanent: true },
        );
    }
    if (lacking.length === 0) return;
    await local.ensure(image, progress);
    const { dir, ...description } = await local.find(image.slug);
    if (description.boot !== null || description.guest !== 'cloud-init')
      throw new HypervisorError(
        'image_rejected',
        `${image.slug} brings no boot loader, and a cluster’s hosts have no kernel of ours to start it with`,
        { permanent: true },
      );
    const path = join(dir, 'disk.qcow2');
    const sha256 = await sha256Of(path);
    for (const node of lacking) {
      progress(`Uploading the image ${image.slug} to ${node}`);
      const name = `innkeeper_${image.slug}_${sumOf(image)}.qcow2`;
      await calling('image_build_failed', files.send(node, 'import', name, { path }, sha256));
    }
    progress(`The image ${image.slug} is ready in the cluster`);
  }

  return {
    async ensure(image, node, progress) {
      checkImageSlug(image.slug);
      const key = `${image.slug} ${contentsOf(image)} ${node ?? ''}`;
      const started = uploading.get(key) ?? make(image, node, progress).finally(() => uploading.delete(key));
      uploading.set(key, started);
      return started;
    },
    async find(node, slug) {
      checkImageSlug(slug);
      const found = await known(node, slug);
      if (found) return { volume: `${options.files}:import/${found.name}`, guest: 'cloud-init' };
      throw new HypervisorError('image_unknown', `no image ${slug} on ${node}`, { permanent: true });
    },
  };
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
