import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type Files, FilesError } from '../../drivers/files/index.ts';
import { type Context, dayOf, fail, newId, statement, transaction } from '../../platform/index.ts';
import { headBytes, typeOf } from './type.ts';

const dayMs = 86_400_000;

/** A file that is kept, and stands beside nothing yet. */
export interface KeptAttachment {
  id: number;
  /** SHA-256 of its bytes. */
  digest: Buffer;
}

interface Arriving {
  organizationId: number;
  content: AsyncIterable<Uint8Array>;
  /** How long it may be, when not as long as the configuration says. */
  mostBytes?: number;
  /** However much it is today: staff's, who answer. */
  isUnlimited?: boolean;
}

const lockQuota = statement<{ locked: unknown }, { organizationId: number }>(
  'tickets.lockAttachmentQuota',
  `select 1 as locked from pg_advisory_xact_lock(hashtextextended('ticket_attachments ' || :organizationId::bigint, 0))`,
);
const keptSince = statement<{ bytes: number }, { organizationId: number; since: Date }>(
  'tickets.attachedSince',
  `select coalesce(sum(bytes), 0)::bigint as bytes from ticket_attachments
   where organization_id = :organizationId and created_at > :since`,
);
const begin = statement<
  never,
  { id: number; organizationId: number; file: string; bytes: number; now: Date }
>(
  'tickets.beginAttachment',
  `insert into ticket_attachments (id, organization_id, file, bytes, created_at)
   values (:id, :organizationId, :file, :bytes, :now)`,
);
const finish = statement<never, { id: number; bytes: number; type: string; digest: Buffer; now: Date }>(
  'tickets.finishAttachment',
  `update ticket_attachments set bytes = :bytes, type = :type, digest = :digest, kept_at = :now
   where id = :id and forgotten_at is null`,
);
const noteFailure = statement<never, { id: number; failure: string; now: Date }>(
  'tickets.noteAttachmentFailure',
  'update ticket_attachments set bytes = 0, failed_at = :now, failure = :failure where id = :id',
);

/**
 * Keeps a file that somebody sends for a ticket, while it arrives and past the heap; its row is there before its first byte.
 * Never within a transaction, which would last as long as the sender takes. What is given to `writeMessage` within the hour
 * stands in the ticket; all else is taken away again, so after a crash, or when a ticket cannot be written, nothing is left. A
 * job that keeps the same file once more at its next try does no harm.
 *
 * `attachment_too_large`; `attachments_full` when the organization has sent as much today as it may;
 * `attachments_unavailable` when nothing can be kept, of which staff is told. What the sender's stream fails with comes out
 * as it is.
 */
export async function keepAttachment(
  ctx: Context,
  files: Files,
  { organizationId, content, mostBytes = ctx.config.attachments.bytes, isUnlimited = false }: Arriving,
): Promise<KeptAttachment> {
  const id = newId();
  const now = ctx.clock.now();
  const file = `tickets/${dayOf(now).slice(0, 7)}/${id}`;
  await transaction(ctx, 'tickets.beginAttachment', async (tx) => {
    await tx.db.one(lockQuota, { organizationId });
    const since = new Date(now.getTime() - dayMs);
    const { bytes } = await tx.db.one(keptSince, { organizationId, since });
    if (!isUnlimited && bytes + mostBytes > tx.config.attachments.bytesPerDay) throw fail('attachments_full');
    await tx.db.run(begin, { id, organizationId, file, bytes: mostBytes, now });
  });
  const seen = look(content, mostBytes);
  try {
    await files.put(file, Readable.from(seen.through, { objectMode: false }));
  } catch (error) {
    // Whatever the storage says then, it was not its fault.
    if (seen.failure !== null) {
      await forgetAttachments(ctx, files, [id]).catch((err: unknown) => {
        ctx.log.warn({ err }, 'what was left of an attachment goes later');
      });
      throw seen.failure.error;
    }
    if (!(error instanceof FilesError)) throw error;
    const failure = `${error.code}: ${error.message}`;
    await ctx.db.run(noteFailure, { id, failure, now: ctx.clock.now() });
    throw fail('attachments_unavailable', { retryAfterS: 30, cause: error });
  }
  const type = await typeOf(Buffer.concat(seen.head), seen.bytes <= headBytes);
  const digest = seen.hash.digest();
  const kept = await ctx.db.run(finish, { id, bytes: seen.bytes, type, digest, now: ctx.clock.now() });
  if (kept === 0) throw fail('attachments_unavailable', { cause: new Error('it took longer than it may') });
  return { id, digest };
}

/** What passes is counted, hashed, and looked at from its beginning. */
function look(content: AsyncIterable<Uint8Array>, mostBytes: number) {
  const seen = {
    bytes: 0,
    head: [] as Buffer[],
    hash: createHash('sha256'),
    failure: null as { error: unknown } | null,
    through: pass(),
  };
  async function* pass() {
    let isPassing = false;
    try {
      for await (const chunk of content) {
        if (seen.bytes < headBytes) seen.head.push(Buffer.from(chunk.subarray(0, headBytes - seen.bytes)));
        seen.bytes += chunk.length;
        if (seen.bytes > mostBytes) throw tooLarge(mostBytes);
        seen.hash.update(chunk);
        isPassing = true;
        yield chunk;
        isPassing = false;
      }
    } catch (error) {
      // What comes back from who takes the chunk, such as that a disk is full, is not the sender's.
      if (!isPassing) seen.failure = { error };
      throw error;
    }
  }
  return seen;
}

/** A file longer than one may be. */
export function tooLarge(mostBytes: number) {
  const mib = mostBytes / 1_048_576;
  const most = Number.isInteger(mib) ? `${mib} MiB` : `${mostBytes} bytes`;
  return fail('attachment_too_large', { message: `One of the files is too large; at most ${most} each` });
}

const markForgotten = statement<{ id: number; file: string }, { ids: number[]; now: Date }>(
  'tickets.markAttachmentsForgotten',
  `update ticket_attachments set forgotten_at = :now where id = any(:ids::bigint[]) and message_id is null
   returning id, file`,
);
const remove = statement<never, { id: number }>(
  'tickets.removeAttachment',
  'delete from ticket_attachments where id = :id and forgotten_at is not null',
);

/** Takes away those that stand beside nothing, file first; what stands in a ticket stays. Fails as the driver does. */
export async function forgetAttachments(ctx: Context, files: Files, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  for (const { id, file } of await ctx.db.many(markForgotten, { ids: [...ids], now: ctx.clock.now() })) {
    await files.delete(file);
    await ctx.db.run(remove, { id });
  }
}
