import type { ImageSource } from '../drivers/hypervisor/index.ts';
import { record } from '../events/index.ts';
import { type Failure, saga, statement, type TxContext } from '../platform/index.ts';
import { imageFailed, imagePrepared } from './events.ts';
import { speaker } from './speaker.ts';

interface Payload {
  slug: string;
}

const imageToPrepare = statement<{ source: ImageSource }, { slug: string }>(
  'fleet.imageToPrepare',
  'select source from images where slug = :slug',
);
const nodeByName = statement<{ id: number }, { name: string }>(
  'fleet.nodeByName',
  'select id from nodes where name = :name',
);
const setProgress = statement<never, { slug: string; progress: string }>(
  'fleet.setImageProgress',
  `update images set progress = :progress where slug = :slug and state = 'preparing'`,
);
const endPreparing = statement<
  { id: number },
  { slug: string; state: 'failed' | 'ready'; error: string | null; now: Date | null }
>(
  'fleet.endPreparing',
  `update images set state = :state, error = :error, progress = null, prepared_at = coalesce(:now, prepared_at)
   where slug = :slug returning id`,
);

/** Builds or downloads an image on the node of this process, and keeps for staff how far it is and how it ended. */
export const imagePreparation = saga<Payload>({
  name: 'fleet.prepareImage',
  queue: 'bulk',
  steps: [
    {
      name: 'prepare',
      attempts: 3,
      do: async ({ ctx, drivers, payload }) => {
        const image = await ctx.db.maybe(imageToPrepare, { slug: payload.slug });
        if (image === null) return; // deleted meanwhile
        const node = await ctx.db.one(nodeByName, { name: ctx.config.nodeName });
        const spoken = speaker(async (progress) => {
          await ctx.db.run(setProgress, { slug: payload.slug, progress });
        });
        try {
          await drivers.hypervisor(node.id).ensureImage(image.source, (line) => {
            ctx.log.info({ image: payload.slug }, line);
            spoken.say(line);
          });
        } finally {
          await spoken.end();
        }
      },
    },
  ],
  succeeded: (ctx, { slug }) => end(ctx, slug, null),
  failed: (ctx, { slug }, failure) => end(ctx, slug, failure),
});

async function end(tx: TxContext, slug: string, failure: Failure | null): Promise<void> {
  const now = failure === null ? tx.clock.now() : null;
  const state = failure === null ? 'ready' : 'failed';
  const image = await tx.db.maybe(endPreparing, { slug, state, error: failure?.message ?? null, now });
  if (image === null) return;
  const about = { subject: { type: 'image', id: image.id }, organizationId: null };
  if (failure === null) await record(tx, imagePrepared, { ...about, data: { slug } });
  else await record(tx, imageFailed, { ...about, data: { slug, reason: failure.message } });
}
