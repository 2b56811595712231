import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import type { Files } from '../../drivers/files/index.ts';
import { type IncomingMail, MailInError } from '../../drivers/mailIn/index.ts';
import { type Context, enqueue, type NamedJob, newId, statement, transaction } from '../../platform/index.ts';

export const deciding: NamedJob<{ mailId: number }> = { name: 'tickets.readMail' };

const insert = statement<
  { id: number },
  {
    id: number;
    digest: Buffer;
    file: string;
    sizeBytes: number;
    returnPath: string | null;
    recipients: string[];
    clientIp: string | null;
    clientName: string | null;
    isCut: boolean;
    now: Date;
  }
>(
  'tickets.keepMail',
  `insert into ticket_mails (id, digest, file, size_bytes, return_path, recipients, client_ip, client_name, is_cut,
     received_at, state)
   values (:id, :digest, :file, :sizeBytes, :returnPath, :recipients, :clientIp, :clientName, :isCut, :now, 'received')
   on conflict on constraint ticket_mails_once do nothing returning id`,
);

/**
 * Keeps a mail for good, once however often it comes: the file first, then its row with the job that reads it. What a crash
 * leaves in between is a file that nobody knows; the mail comes again. Fails when it cannot be kept.
 */
export async function keepMail(ctx: Context, files: Files, mail: IncomingMail): Promise<void> {
  const id = newId();
  const file = `mails/${id}.eml`;
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const measured = new Transform({
    transform: (chunk: Buffer, _encoding, callback) => {
      hash.update(chunk);
      sizeBytes += chunk.length;
      callback(null, chunk);
    },
  });
  mail.content.once('error', (error) => measured.destroy(error));
  mail.content.once('close', () => {
    if (!mail.content.readableEnded)
      measured.destroy(new MailInError('mail_broken_off', 'the mail broke off before its end'));
  });
  await files.put(file, mail.content.pipe(measured));
  const row = {
    ...{ id, file, sizeBytes, digest: hash.digest(), isCut: mail.isCut },
    returnPath: mail.returnPath === null ? null : plain(mail.returnPath),
    recipients: mail.recipients.map(plain),
    ...{
      clientIp: mail.client?.ip ?? null,
      clientName: mail.client === null ? null : plain(mail.client.name),
    },
  };
  const isNew = await transaction(ctx, 'tickets.keepMail', async (tx) => {
    const kept = await tx.db.maybe(insert, { ...row, now: tx.clock.now() });
    if (kept !== null) await enqueue(tx, deciding, { mailId: id });
    return kept !== null;
  });
  if (!isNew) await files.delete(file);
}

/** Whoever brings a mail says what they like. */
function plain(text: string): string {
  return text
    .slice(0, 320)
    .replaceAll(/\p{Cc}/gu, ' ')
    .toWellFormed();
}
