import { enqueue, job, type PeriodicJob, statement, type TxContext } from '../../platform/index.ts';
import { forgetAttachments } from './keep.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const batch = 100;

/** Nobody's file goes at once, and is tried again by itself while the storage is away. */
export const attachmentForgetting = job<{ ids: number[] }>(
  'tickets.forgetAttachments',
  ({ ctx, drivers, payload }) => forgetAttachments(ctx, drivers.files, payload.ids),
  { outages: ['files_unreachable', 'files_full'] },
);

// One whose job came to no end is taken up again a day later.
const markUnused = statement<
  { id: number },
  { now: Date; unusedSince: Date; forgottenBefore: Date; limit: number }
>(
  'tickets.markUnusedAttachments',
  `update ticket_attachments set forgotten_at = :now where id in
     (select id from ticket_attachments where message_id is null and created_at < :unusedSince
        and (forgotten_at is null or forgotten_at < :forgottenBefore)
      order by created_at, id limit :limit for update skip locked)
   returning id`,
);

const nextUnused = statement<{ at: Date | null }>(
  'tickets.nextUnusedAttachment',
  `select min(greatest(created_at + interval '${hourMs / 1_000} seconds', forgotten_at + interval '${dayMs / 1_000} seconds')) as at
   from ticket_attachments where message_id is null`,
);

/** Takes away what was sent and then stood in no ticket: its sender went away, or we did. */
export async function forgetUnusedAttachments(tx: TxContext): Promise<'more' | 'done'> {
  const now = tx.clock.now();
  const unusedSince = new Date(now.getTime() - hourMs);
  const forgottenBefore = new Date(now.getTime() - dayMs);
  const rows = await tx.db.many(markUnused, { now, unusedSince, forgottenBefore, limit: batch });
  if (rows.length === 0) return 'done';
  await enqueue(tx, attachmentForgetting, { ids: rows.map(({ id }) => id) });
  return rows.length === batch ? 'more' : 'done';
}

export const forgettingAttachments: PeriodicJob = {
  name: 'tickets.forgetUnusedAttachments',
  intervalMs: 60_000,
  due: nextUnused,
  work: forgetUnusedAttachments,
};
