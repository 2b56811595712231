import { record } from '../events/index.ts';
import { type ListRequest, listData, pagedList } from '../platform/http/index.ts';
import {
  type Context,
  enqueue,
  fail,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import type { ImageChange, NewImage } from './changes.ts';
import { bringImages } from './clusters/images.ts';
import { imageCreated, imageDeleted, imagePreparing, imageUpdated } from './events.ts';
import { addImage, type Image } from './images.ts';
import { imagePreparation } from './prepareImage.ts';
import { serverSystemOf } from './serverImages.ts';

type Named = Pick<Image, 'slug' | 'name' | 'version'>;

interface ImageRow extends Named {
  id: number;
  source: Image['source'];
  min_memory_mib: number;
  min_disk_gib: number;
  active: boolean;
  for_servers: boolean;
  state: 'new' | 'preparing' | 'ready' | 'failed';
  progress: string | null;
  error: string | null;
  prepared_at: Date | null;
  created_at: Date;
  clusters: {
    id: number;
    name: string;
    state: 'preparing' | 'ready' | 'failed' | 'rejected';
    progress: string | null;
    error: string | null;
  }[];
}

const selectImage = `
  select t.id, t.slug, t.name, t.version, t.source, t.min_memory_mib, t.min_disk_gib, t.active, t.for_servers, t.state, t.progress,
    t.error, t.prepared_at, t.created_at,
    coalesce((select jsonb_agg(jsonb_build_object('id', c.id, 'name', c.name, 'state', ci.state, 'progress', ci.progress,
        'error', ci.error) order by c.name)
      from cluster_images ci join clusters c on c.id = ci.cluster_id where ci.slug = t.slug), '[]') as clusters
  from images t`;
const imageForStaff = statement<ImageRow, { slug: string }>(
  'fleet.imageForStaff',
  `${selectImage} where t.slug = :slug`,
);
const lock = statement<never, { slug: string }>(
  'fleet.lockImage',
  'select id from images where slug = :slug for update',
);
const updateImage = statement<
  never,
  {
    slug: string;
    name: string;
    version: string;
    minMemoryMib: number;
    minDiskGib: number;
    active: boolean;
    forServers: boolean;
  }
>(
  'fleet.updateImage',
  `update images set name = :name, version = :version, min_memory_mib = :minMemoryMib,
     min_disk_gib = :minDiskGib, active = :active, for_servers = :forServers where slug = :slug`,
);
const beginPreparing = statement<never, { slug: string }>(
  'fleet.beginPreparing',
  `update images set state = 'preparing', progress = null, error = null where slug = :slug`,
);
const hasOwnHosts = statement<{ has: boolean }>(
  'fleet.hasOwnHosts',
  `select exists (select 1 from nodes where cluster_id is null and runs_machines)
     or not exists (select 1 from clusters) as has`,
);
const deleteImage = statement<never, { slug: string }>(
  'fleet.deleteImage',
  'delete from images where slug = :slug',
);
const images = pagedList<ImageRow>({
  name: 'fleet.imageList',
  from: 'images t',
  select: selectImage,
  key: { by: 't.slug', type: 'text', of: (row) => row.slug },
  sorts: { slug: null },
  order: 'slug',
});

export async function listImagesForStaff(ctx: Context, query: ListRequest) {
  const { rows, at } = await images(ctx, query);
  return listData('images', rows.map(view), at);
}

export async function readImage(ctx: Context, slug: string) {
  const row = await requireRow(ctx, imageForStaff, { slug });
  return { image: view(row) };
}

/** Nobody changes the image until the transaction ends. */
export async function lockImage(tx: TxContext, slug: string): Promise<void> {
  await tx.db.many(lock, { slug });
}

async function lockImageForStaff(ctx: TxContext, slug: string) {
  await lockImage(ctx, slug);
  return readImage(ctx, slug);
}

/** Adds an image and has it built or downloaded; `conflict` when there is one of that slug. */
export async function createImage(ctx: Context, image: NewImage) {
  if (image.source.kind === 'download') checkUrl(image.source.url);
  const forServers = offeredForServers(image, image.for_servers);
  return transaction(ctx, 'fleet.createImage', async (tx) => {
    const { slug, name, version, min_memory_mib: minMemoryMib, min_disk_gib: minDiskGib } = image;
    const source = { slug, ...image.source };
    const id = await addImage(tx, {
      ...{ slug, name, version, source, minMemoryMib, minDiskGib, forServers },
    });
    if (id === null) throw fail('conflict', { message: `There is an image called ${image.slug} already` });
    await record(tx, imageCreated, { ...about(id), data: { slug, source } });
    await bringImages(tx, { slug });
    return prepare(tx, { id, slug });
  });
}

/** Whether staff offers one for servers that is downloaded; of those that we build it follows from what they are. */
function offeredForServers({ source }: Pick<NewImage, 'source'>, wanted: boolean | undefined): boolean {
  if (source.kind === 'download') return wanted ?? false;
  const isThere = serverSystemOf({ source: { slug: '', ...source }, forServers: false }) !== null;
  if (wanted === undefined || wanted === isThere) return false;
  const message = isThere
    ? 'is true of this image: we build it for servers as well'
    : 'is false of this image, which is built for machines alone';
  throw fail('invalid_request', { details: [{ field: 'for_servers', message }] });
}

// What is downloaded is believed by its checksum alone; a name or password in the URL would be shown to all of staff.
function checkUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'https:' && url.username === '' && url.password === '') return;
  const message = 'must be an https URL without a user name or password';
  throw fail('invalid_request', { details: [{ field: 'source.url', message }] });
}

/** Changes what is said of an image. Its source stays: machines' disks are layered over what it became. */
export async function changeImage(ctx: Context, slug: string, change: ImageChange) {
  return transaction(ctx, 'fleet.changeImage', async (tx) => {
    const { image } = await lockImageForStaff(tx, slug);
    const next = { ...image, ...change };
    const { name, version, min_memory_mib: minMemoryMib, min_disk_gib: minDiskGib, active } = next;
    const forServers = offeredForServers(image, change.for_servers ?? image.for_servers);
    await tx.db.run(updateImage, { slug, name, version, minMemoryMib, minDiskGib, active, forServers });
    if (active && !image.active) await bringImages(tx, { slug });
    await record(tx, imageUpdated, { ...about(image.id), data: { slug, change } });
    return readImage(tx, slug);
  });
}

/**
 * Builds or downloads an image again, as after a failure. One that is being made, or is ready, stays as it is: its
 * files are made once, since machines' disks are layered over them.
 */
export async function prepareImage(ctx: Context, slug: string) {
  return transaction(ctx, 'fleet.requestImage', async (tx) => {
    const { image } = await lockImageForStaff(tx, slug);
    await bringImages(tx, { slug, again: true });
    const isDue = image.state === 'new' || image.state === 'failed';
    return isDue ? prepare(tx, image) : readImage(tx, slug);
  });
}

async function prepare(tx: TxContext, { id, slug }: { id: number; slug: string }) {
  // Where all machines run in clusters nobody would take the job.
  if (!(await tx.db.one(hasOwnHosts)).has) return readImage(tx, slug);
  await tx.db.run(beginPreparing, { slug });
  await record(tx, imagePreparing, { subject: { type: 'image', id }, organizationId: null, data: { slug } });
  await enqueue(tx, imagePreparation, { slug }, { organizationId: null });
  return readImage(tx, slug);
}

/** Removes an image that no machine was made from; otherwise `conflict`. */
export async function removeImage(ctx: Context, slug: string) {
  return transaction(ctx, 'fleet.removeImage', async (tx) => {
    const { image } = await lockImageForStaff(tx, slug);
    try {
      await tx.db.run(deleteImage, { slug });
    } catch (error) {
      if (!isReferenced(error)) throw error;
      const message = `Machines run on ${slug}; set active to false so that nobody orders it any more`;
      throw fail('conflict', { message, cause: error });
    }
    await record(tx, imageDeleted, { ...about(image.id), data: { slug } });
    return {};
  });
}

function isReferenced(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23503';
}

function view({ source, for_servers: forServers, ...image }: ImageRow) {
  const { slug: _, ...shown } = source;
  return { ...image, source: shown, for_servers: serverSystemOf({ source, forServers }) !== null };
}

function about(id: number) {
  return { subject: { type: 'image', id }, organizationId: null };
}
