import type { Readable } from 'node:stream';
import type { AttachmentStream } from 'mailparser';
import type { Files } from '../../drivers/files/index.ts';
import { AppError, type Context, transaction } from '../../platform/index.ts';
import { keepAttachment } from '../attachments/keep.ts';
import { type Judged, type MailFiles, whereReplied } from './decide.ts';
import { isReport, openParser } from './parseMail.ts';
import type { MailRow } from './rows.ts';

let queue: Promise<unknown> = Promise.resolve();

/**
 * Keeps the files of a mail that will be a reply, one after another and past the heap; mails wait for each other. Those that are too large or too many stay
 * in the mail alone. What comes to stand in no ticket after all is forgotten within the hour.
 */
export async function attachOf(
  ctx: Context,
  files: Files,
  mail: MailRow,
  read: NonNullable<Judged['read']>,
): Promise<MailFiles> {
  const kept: MailFiles = { attaching: [], left: [] };
  if ((mail.attachments ?? []).length === 0) return kept;
  const organizationId = await transaction(ctx, 'tickets.whereMailGoes', (tx) =>
    whereReplied(tx, mail, read),
  );
  if (organizationId === null) return kept;
  const keeping = queue.then(() => keepAll(ctx, files, mail, { organizationId, kept }));
  queue = keeping.catch(() => undefined);
  await keeping;
  return kept;
}

async function keepAll(
  ctx: Context,
  files: Files,
  mail: MailRow,
  { organizationId, kept }: { organizationId: number; kept: MailFiles },
): Promise<void> {
  const parser = openParser();
  const take = async (data: AttachmentStream): Promise<void> => {
    const named = mail.attachments?.[kept.attaching.length + kept.left.length];
    const name = named?.name ?? 'attachment';
    const content = data.content as Readable;
    if (kept.attaching.length >= ctx.config.attachments.most) {
      kept.left.push(name);
      content.resume();
      return;
    }
    try {
      const { id } = await keepAttachment(ctx, files, { organizationId, content });
      kept.attaching.push({ id, name, claimedType: named?.type ?? null });
    } catch (error) {
      if (!(error instanceof AppError) || !['attachment_too_large', 'attachments_full'].includes(error.code))
        throw error;
      kept.left.push(name);
      content.resume();
    }
  };
  const source = await files.stream(mail.file);
  await new Promise<void>((resolve, reject) => {
    parser.on('data', (data: AttachmentStream | { type: 'text' }) => {
      if (data.type === 'text') return;
      if (isReport(data)) {
        (data.content as Readable).once('end', () => data.release?.()).resume();
        return;
      }
      take(data).then(() => data.release?.(), reject);
    });
    parser.once('error', reject);
    parser.once('end', resolve);
    source.once('error', reject);
    source.pipe(parser);
  }).finally(() => source.destroy());
}
