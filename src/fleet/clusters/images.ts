import type { ImageSource } from '../../drivers/hypervisor/index.ts';
import {
  type Context,
  enqueue,
  type Failure,
  saga,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { speaker } from '../speaker.ts';

interface Payload {
  clusterId: number;
  slug: string;
}

const wantedIn = statement<
  { cluster_id: number; slug: string },
  { clusterId: number | null; slug: string | null; again: boolean }
>(
  'fleet.imagesForClusters',
  // What a cluster cannot have it is not asked for again, unless somebody wants it so.
  `insert into cluster_images as known (cluster_id, slug)
   select c.id, i.slug from clusters c cross join images i
   where c.fit_generation > 0 and i.active and (:clusterId::bigint is null or c.id = :clusterId)
     and (:slug::text is null or i.slug = :slug)
   on conflict (cluster_id, slug) do update set state = 'preparing', progress = null, error = null
     where known.state = 'failed' or (:again::boolean and known.state = 'rejected')
   returning cluster_id, slug`,
);
const imageFor = statement<{ source: ImageSource }, Payload>(
  'fleet.imageForCluster',
  `select i.source from cluster_images c join images i on i.slug = c.slug
   where c.cluster_id = :clusterId and c.slug = :slug and c.state = 'preparing'`,
);
const setProgress = statement<never, Payload & { progress: string }>(
  'fleet.setClusterImageProgress',
  `update cluster_images set progress = :progress where cluster_id = :clusterId and slug = :slug and state = 'preparing'`,
);
const endImage = statement<never, Payload & { state: string; error: string | null; now: Date | null }>(
  'fleet.endClusterImage',
  `update cluster_images set state = :state, error = :error, progress = null, prepared_at = coalesce(:now, prepared_at)
   where cluster_id = :clusterId and slug = :slug`,
);

/**
 * Has clusters get the operating systems that are on offer and that they have not yet: all of them, or one of each. `again`: also what one
 * of them could not have when it was asked last.
 */
export async function bringImages(
  tx: TxContext,
  wanted: { clusterId?: number; slug?: string; again?: boolean },
): Promise<void> {
  const { clusterId = null, slug = null, again = false } = wanted;
  for (const row of await tx.db.many(wantedIn, { clusterId, slug, again })) {
    const payload = { clusterId: row.cluster_id, slug: row.slug };
    await enqueue(tx, clusterImage, payload, { organizationId: null });
  }
}

/** Builds or downloads an image on the host of this process, where it is not there yet, and uploads it to a cluster. */
export const clusterImage = saga<Payload>({
  name: 'fleet.bringImage',
  queue: 'bulk',
  steps: [
    {
      name: 'upload',
      attempts: 3,
      do: async ({ ctx, drivers, payload }) => {
        const image = await ctx.db.maybe(imageFor, payload);
        if (image === null) return; // deleted meanwhile
        const spoken = speaker(async (progress) => {
          await ctx.db.run(setProgress, { ...payload, progress });
        });
        try {
          await drivers.clusters.of(payload.clusterId).ensureImage(image.source, (line) => {
            ctx.log.info({ image: payload.slug, cluster: payload.clusterId }, line);
            spoken.say(line);
          });
        } finally {
          await spoken.end();
        }
      },
    },
  ],
  succeeded: (tx, payload) => end(tx, payload, null),
  // It stands with the cluster and the image, where it is tried again.
  failed: async (tx, payload, failure) => {
    await end(tx, payload, failure);
    return failure.code === 'image_rejected' ? 'unwanted' : undefined;
  },
});

async function end(tx: Context, payload: Payload, failure: Failure | null): Promise<void> {
  const now = failure === null ? tx.clock.now() : null;
  const state = failure === null ? 'ready' : failure.code === 'image_rejected' ? 'rejected' : 'failed';
  await tx.db.run(endImage, { ...payload, state, error: failure?.message ?? null, now });
}
