import { type Files, FilesError } from '../../drivers/files/index.ts';
import type { Bytes } from '../../platform/http/index.ts';
import {
  type Context,
  fail,
  type OrganizationContext,
  requireOwn,
  requireRow,
  statement,
} from '../../platform/index.ts';

interface Row {
  id: number;
  organization_id: number;
  file: string;
  name: string;
  type: string;
  bytes: number;
}

const columns = 'a.id, a.organization_id, a.file, a.name, a.type, a.bytes';

// One of a note is for a customer none at all.
const shownById = statement<Row, { id: number }>(
  'tickets.attachmentById',
  `select ${columns} from ticket_attachments a join ticket_messages m on m.id = a.message_id
   where a.id = :id and m.kind <> 'note'`,
);
const anyById = statement<Row, { id: number }>(
  'tickets.attachmentForStaff',
  `select ${columns} from ticket_attachments a where a.id = :id and a.message_id is not null`,
);

/** In SQL: what stands beside the message `m`, as JSON. */
export const attachmentsBeside = `(select coalesce(json_agg(json_build_object('id', a.id, 'name', a.name, 'type', a.type, 'size', a.bytes)
  order by a.number), '[]'::json) from ticket_attachments a where a.message_id = m.id)`;

/** A file of a ticket of the caller's organization. `not_found`, `forbidden`, `attachments_unavailable`. */
export async function readAttachment(ctx: OrganizationContext, files: Files, id: number): Promise<Bytes> {
  return openFile(ctx, files, await requireOwn(ctx, shownById, { id }));
}

/** The same, whoever's it is, those of notes too. */
export async function readAttachmentAsStaff(ctx: Context, files: Files, id: number): Promise<Bytes> {
  return openFile(ctx, files, await requireRow(ctx, anyById, { id }));
}

/** What somebody sent, to be saved and never shown by a browser. `attachments_unavailable`. */
export async function openFile(
  ctx: Context,
  files: Files,
  { file, name, type, bytes }: Pick<Row, 'file' | 'name' | 'type' | 'bytes'>,
): Promise<Bytes> {
  try {
    return { body: await files.stream(file), type, name, length: bytes, isStrangers: true };
  } catch (error) {
    if (!(error instanceof FilesError)) throw error;
    // Its row says that it was kept: that it is gone is somebody's mistake, which the log tells.
    if (error.code === 'file_absent') ctx.log.error({ err: error }, 'a file that somebody sent is gone');
    throw fail('attachments_unavailable', {
      message:
        error.code === 'file_absent'
          ? 'This file is lost on our side; ask whoever sent it for another copy'
          : 'Files cannot be read right now; try again shortly',
      ...(error.code !== 'file_absent' && { retryAfterS: 30 }),
      cause: error,
    });
  }
}
