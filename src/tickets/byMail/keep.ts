import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import type { Files } from '../../drivers/files/index.ts';
import { type IncomingMail, MailInError } from '../../drivers/mailIn/index.ts';
import {
  AppError,
  type Context,
  causesOf,
  enqueue,
  type NamedJob,
  newId,
  statement,
  transaction,
} from '../../platform/index.ts';

import { mailById } from './rows.ts';

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

const broughtSince = statement<
  { bytes: number; of_client: number },
  { since: Date; clientIp: string; least: number }
>(
  'tickets.mailsBroughtSince',
  `select coalesce(sum(greatest(size_bytes, :least::int)), 0)::bigint as bytes,
     coalesce(sum(greatest(size_bytes, :least::int)) filter (where client_ip = :clientIp), 0)::bigint as of_client
   from ticket_mails where ticket_id is null and received_at > :since`,
);

const dayMs = 24 * 3_600_000;
/** What a mail counts at least: a row and a file cost more than what is in them. */
const least = 16_384;
const shareOfOne = 1 / 4;

/** Bytes under way in this process, by who brings them. */
const arriving = new Map<string, number>();

/** How many bytes a client may still bring today, as it looks at each call. Null: any number, nobody is there to put off. */
async function roomFor(
  ctx: Context,
  { client }: IncomingMail,
  isFromOneServer: boolean,
): Promise<(() => number) | null> {
  if (client === null) return null;
  const most = ctx.config.mailInBytesPerDay;
  const mostOfOne = isFromOneServer ? most : most * shareOfOne;
  const since = new Date(ctx.clock.now().getTime() - dayMs);
  const kept = await ctx.db.one(broughtSince, { since, clientIp: client.ip, least });
  return () => {
    const underWay = [...arriving.values()].reduce((sum, bytes) => sum + bytes, 0);
    return Math.min(
      most - kept.bytes - underWay,
      mostOfOne - kept.of_client - (arriving.get(client.ip) ?? 0),
    );
  };
}

/**
 * Keeps a mail for good, once however often it comes: the file first, then its row with the job that reads it. What a crash
 * leaves in between is a file that nobody knows; the mail comes again. Fails when it cannot be kept: `mails_full` when as much
 * came within a day as may. `isFromOneServer`: whoever brings it does so for everybody.
 */
export async function keepMail(
  ctx: Context,
  files: Files,
  mail: IncomingMail,
  isFromOneServer = false,
): Promise<void> {
  const room = await roomFor(ctx, mail, isFromOneServer);
  const full = () => new MailInError('mails_full', 'as much came as may come in a day');
  if (room !== null && room() < least) throw full();
  const from = mail.client?.ip ?? '';
  const arrive = (bytes: number) => {
    const now = (arriving.get(from) ?? 0) + bytes;
    if (now > 0) arriving.set(from, now);
    else arriving.delete(from);
  };
  const id = newId();
  const file = `mails/${id}.eml`;
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const measured = new Transform({
    transform: (chunk: Buffer, _encoding, callback) => {
      hash.update(chunk);
      sizeBytes += chunk.length;
      arrive(chunk.length);
      if (room === null || room() >= 0) callback(null, chunk);
      else callback(full());
    },
  });
  // It may fail before the storage listens, which hears of it then.
  measured.on('error', () => undefined);
  mail.content.once('error', (error) => measured.destroy(error));
  mail.content.once('close', () => {
    if (!mail.content.readableEnded)
      measured.destroy(new MailInError('mail_broken_off', 'the mail broke off before its end'));
  });
  try {
    await files.put(file, mail.content.pipe(measured));
  } catch (error) {
    throw measured.errored instanceof MailInError ? measured.errored : error;
  } finally {
    arrive(-sizeBytes);
  }
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
  }).catch(async (error: unknown) => {
    // Where the database went away, the row may be there.
    const isCertain = !(error instanceof AppError && error.code === 'unavailable');
    if (isCertain && (await ctx.db.maybe(mailById, { id })) === null)
      await files.delete(file).catch((err: Error) => {
        ctx.log.warn({ err: causesOf(err), file }, 'the file of a mail that was not kept stays');
      });
    throw error;
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
