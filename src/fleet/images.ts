import type { ImageSource } from '../drivers/hypervisor/index.ts';
import { type Context, fail, statement } from '../platform/index.ts';

export interface Image {
  slug: string;
  name: string;
  version: string;
  source: ImageSource;
  minMemoryMib: number;
  minDiskGib: number;
  /** Of one that is downloaded: staff offers it for servers, too. */
  forServers: boolean;
}

const columns = `slug, name, version, source, min_memory_mib as "minMemoryMib", min_disk_gib as "minDiskGib", for_servers as "forServers"`;

const imageBySlug = statement<Image, { slug: string }>(
  'fleet.image',
  `select ${columns} from images where slug = :slug and active`,
);
const knownImage = statement<Image, { slug: string }>(
  'fleet.knownImage',
  `select ${columns} from images where slug = :slug`,
);
const activeImages = statement<Image>(
  'fleet.images',
  `select ${columns} from images where active order by slug`,
);
const rejectedAt = statement<{ slug: string }, { nodeId: number; slug: string }>(
  'fleet.imageRejectedAt',
  `select i.slug from cluster_images i join nodes n on n.cluster_id = i.cluster_id
   where n.id = :nodeId and i.slug = :slug and i.state = 'rejected'`,
);
const insertImage = statement<
  { id: number },
  {
    slug: string;
    name: string;
    version: string;
    source: object;
    minMemoryMib: number;
    minDiskGib: number;
    forServers: boolean;
    now: Date;
  }
>(
  'fleet.insertImage',
  `insert into images (slug, name, version, source, min_memory_mib, min_disk_gib, for_servers, created_at)
   values (:slug, :name, :version, :source, :minMemoryMib, :minDiskGib, :forServers, :now)
     on conflict (slug) do nothing returning id`,
);

/** Adds an image; null when there is one of that slug already, which then stays as it is. */
export async function addImage(
  ctx: Context,
  image: Omit<Image, 'forServers'> & { forServers?: boolean },
): Promise<number | null> {
  const row = await ctx.db.maybe(insertImage, {
    slug: image.slug,
    name: image.name,
    version: image.version,
    source: image.source,
    minMemoryMib: image.minMemoryMib,
    minDiskGib: image.minDiskGib,
    forServers: image.forServers ?? false,
    now: ctx.clock.now(),
  });
  return row?.id ?? null;
}

export function listImages(ctx: Context): Promise<Image[]> {
  return ctx.db.many(activeImages);
}

/** The image of that name that is on offer; `not_found` when there is none. */
export async function requireImage(ctx: Context, slug: string): Promise<Image> {
  const image = await ctx.db.maybe(imageBySlug, { slug });
  if (image !== null) return image;
  const offered = (await listImages(ctx)).map((each) => each.slug).join(', ');
  throw fail('not_found', {
    message: `There is no operating-system image called ${slug}; there are ${offered || 'none'}`,
  });
}

/** Whether the cluster that a node is a member of was found unable to have an image; of a host of our own never. */
export async function isRejectedAt(ctx: Context, nodeId: number, slug: string): Promise<boolean> {
  return (await ctx.db.maybe(rejectedAt, { nodeId, slug })) !== null;
}

/** The image that a machine was ordered with, which staff may have taken off the offer since; null: deleted. */
export function findImage(ctx: Context, slug: string): Promise<Image | null> {
  return ctx.db.maybe(knownImage, { slug });
}

/** The same, where nothing can be done without it. */
export async function requireOrderedImage(ctx: Context, slug: string): Promise<Image> {
  const image = await findImage(ctx, slug);
  if (image === null) throw new Error(`the image ${slug} is gone`);
  return image;
}

/** What an image needs and a machine of this size does not have, in words; null when it fits. */
export function reasonAgainst(image: Image, size: { memoryMib: number; diskGib: number }): string | null {
  if (size.memoryMib < image.minMemoryMib) return `${image.name} needs ${image.minMemoryMib} MiB of memory`;
  if (size.diskGib < image.minDiskGib) return `${image.name} needs ${image.minDiskGib} GiB of storage`;
  return null;
}
