import type { Files } from '../../drivers/files/index.ts';
import { ProgramError } from '../../platform/host/program.ts';
import { AppError, type Context, transaction } from '../../platform/index.ts';
import { keepAttachment } from '../attachments/keep.ts';
import { type Judged, type MailFiles, whereReplied } from './decide.ts';
import { filesIn } from './filesIn.ts';
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
  const nextName = () => mail.attachments?.[kept.attaching.length + kept.left.length];
  const take = async (content: AsyncIterable<Uint8Array>): Promise<void> => {
    const named = nextName();
    const name = named?.name ?? 'attachment';
    if (kept.attaching.length >= ctx.config.attachments.most) {
      kept.left.push(name);
      return;
    }
    try {
      const { id } = await keepAttachment(ctx, files, { organizationId, content });
      kept.attaching.push({ id, name, claimedType: named?.type ?? null });
    } catch (error) {
      if (!(error instanceof AppError) || !['attachment_too_large', 'attachments_full'].includes(error.code))
        throw error;
      kept.left.push(name);
    }
  };
  try {
    for await (const content of filesIn(await files.stream(mail.file))) await take(content);
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    ctx.log.warn({ err: error, mail: mail.id }, 'the files of a mail could not be taken out of it');
    for (let named = nextName(); named !== undefined; named = nextName()) kept.left.push(named.name);
  }
}
