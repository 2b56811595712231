import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import type { Files } from '../../drivers/files/index.ts';
import { type IncomingMail, MailInError } from '../../drivers/mailIn/index.ts';
import { readAnswerAddress, wasGivenTo } from '../../events/index.ts';
import { networkOf } from '../../platform/http/index.ts';
import {
  AppError,
  type Context,
  causesOf,
  enqueue,
  type NamedJob,
  newId,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { mailById } from './rows.ts';

export const deciding: NamedJob<{ mailId: number }> = { name: 'tickets.readMail' };
/** The same for a mail to an address that we gave to somebody: no stranger's mail is read before it. */
export const decidingAnswer: NamedJob<{ mailId: number }> = { name: 'tickets.readAnswer' };

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
    clientNetwork: string | null;
    isCut: boolean;
    toAnswer: boolean;
    now: Date;
  }
>(
  'tickets.keepMail',
  `insert into ticket_mails (id, digest, file, size_bytes, return_path, recipients, client_ip, client_name,
     client_network, is_cut, to_answer, received_at, state)
   values (:id, :digest, :file, :sizeBytes, :returnPath, :recipients, :clientIp, :clientName, :clientNetwork, :isCut, :toAnswer, :now,
     'received')
   on conflict on constraint ticket_mails_once do nothing returning id`,
);

const broughtSince = statement<
  { bytes: number; of_client: number },
  { since: Date; network: string; least: number; toAnswer: boolean }
>(
  'tickets.mailsBroughtSince',
  `select coalesce(sum(greatest(size_bytes, :least::int)), 0)::bigint as bytes,
     coalesce(sum(greatest(size_bytes, :least::int)) filter (where client_network = :network), 0)::bigint as of_client
   from ticket_mails where ticket_id is null and received_at > :since and to_answer = :toAnswer`,
);

const beginFile = statement<never, { file: string; now: Date }>(
  'tickets.beginMailFile',
  'insert into ticket_mail_files (file, begun_at) values (:file, :now)',
);
const endFile = statement<never, { file: string }>(
  'tickets.endMailFile',
  'delete from ticket_mail_files where file = :file',
);
const takeLost = statement<{ file: string }, { before: Date; limit: number }>(
  'tickets.takeLostMailFiles',
  `delete from ticket_mail_files where file in
     (select file from ticket_mail_files where begun_at < :before order by begun_at, file limit :limit)
   returning file`,
);

// Of whoever may read the ticket: each has an address of their own, and there are few.
const mayAnswer = statement<{ user_id: number }, { tid: string; limit: number }>(
  'tickets.mayAnswer',
  `select m.user_id from tickets t join memberships m on m.organization_id = t.organization_id
   where t.tid = :tid order by m.user_id limit :limit`,
);
const mostAsked = 500;
/** Of what a mail says that it is for, more is not looked at. */
const mostRecipients = 10;

/** Whether a mail is for an address at which one of its ticket's people may answer, which nobody else can think of. */
async function isToAnswer(ctx: Context, recipients: readonly string[]): Promise<boolean> {
  for (const recipient of recipients.slice(0, mostRecipients)) {
    const told = readAnswerAddress(ctx.config, recipient);
    if (told === null || told === 'plain') continue;
    const people = await ctx.db.many(mayAnswer, { tid: told.code, limit: mostAsked });
    if (people.some(({ user_id: userId }) => wasGivenTo(ctx, told, userId))) return true;
  }
  return false;
}

const dayMs = 24 * 3_600_000;
/** What a mail counts at least: a row and a file cost more than what is in them. */
const least = 16_384;
const shareOfOne = 1 / 4;

/** Bytes under way in this process, by the network that they come from, of answers and of all others. */
const arrivingOf = { answers: new Map<string, number>(), others: new Map<string, number>() };

/** How many bytes a client may still bring today, as it looks at each call. Null: any number, nobody is there to put off. */
async function roomFor(
  ctx: Context,
  { client }: IncomingMail,
  isFromOneServer: boolean,
  toAnswer: boolean,
): Promise<(() => number) | null> {
  if (client === null) return null;
  const network = networkOf(client.ip);
  const most = ctx.config.mailInBytesPerDay;
  const mostOfOne = isFromOneServer ? most : most * shareOfOne;
  const since = new Date(ctx.clock.now().getTime() - dayMs);
  const kept = await ctx.db.one(broughtSince, { since, network, least, toAnswer });
  const arriving = toAnswer ? arrivingOf.answers : arrivingOf.others;
  return () => {
    const underWay = [...arriving.values()].reduce((sum, bytes) => sum + bytes, 0);
    return Math.min(most - kept.bytes - underWay, mostOfOne - kept.of_client - (arriving.get(network) ?? 0));
  };
}

/**
 * Keeps a mail for good, once however often it comes: the file first, then its row with the job that reads it. What a crash
 * leaves in between is a file whose name is written down, which goes a day later; the mail comes again. Fails when it cannot be kept: `mails_full` when as much
 * came within a day as may. `isFromOneServer`: whoever brings it does so for everybody.
 */
export async function keepMail(
  ctx: Context,
  files: Files,
  mail: IncomingMail,
  isFromOneServer = false,
): Promise<void> {
  const toAnswer = await isToAnswer(ctx, mail.recipients);
  const arriving = toAnswer ? arrivingOf.answers : arrivingOf.others;
  const room = await roomFor(ctx, mail, isFromOneServer, toAnswer);
  const full = () => new MailInError('mails_full', 'as much came as may come in a day');
  if (room !== null && room() < least) throw full();
  const network = mail.client === null ? null : networkOf(mail.client.ip);
  const from = network ?? '';
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
  await ctx.db.run(beginFile, { file, now: ctx.clock.now() });
  try {
    await files.put(file, mail.content.pipe(measured));
  } catch (error) {
    await endFileSoon(ctx, file);
    throw measured.errored instanceof MailInError ? measured.errored : error;
  } finally {
    arrive(-sizeBytes);
  }
  const row = {
    ...{ id, file, sizeBytes, digest: hash.digest(), isCut: mail.isCut, toAnswer },
    returnPath: mail.returnPath === null ? null : plain(mail.returnPath),
    recipients: mail.recipients.map(plain),
    ...{
      clientIp: mail.client?.ip ?? null,
      clientName: mail.client === null ? null : plain(mail.client.name),
      clientNetwork: network,
    },
  };
  const isNew = await transaction(ctx, 'tickets.keepMail', async (tx) => {
    const kept = await tx.db.maybe(insert, { ...row, now: tx.clock.now() });
    if (kept === null) return false;
    if ((await tx.db.run(endFile, { file })) === 0)
      throw new Error('it took so long that its file was taken away');
    await enqueue(tx, toAnswer ? decidingAnswer : deciding, { mailId: id });
    return true;
  }).catch(async (error: unknown) => {
    // Where the database went away, the row may be there.
    const isCertain = !(error instanceof AppError && error.code === 'unavailable');
    if (isCertain && (await ctx.db.maybe(mailById, { id })) === null) await forgetFile(ctx, files, file);
    throw error;
  });
  if (!isNew) await forgetFile(ctx, files, file);
}

async function forgetFile(ctx: Context, files: Files, file: string): Promise<void> {
  try {
    await files.delete(file);
  } catch (error) {
    ctx.log.warn({ err: causesOf(error as Error), file }, 'the file of a mail that was not kept goes later');
    return;
  }
  await endFileSoon(ctx, file);
}

/** Nothing is left under this name; where that cannot be written down, it is looked at once more later. */
async function endFileSoon(ctx: Context, file: string): Promise<void> {
  await ctx.db.run(endFile, { file }).catch((error: Error) => {
    ctx.log.debug({ err: causesOf(error), file }, 'the name of a file that is gone stays for a day');
  });
}

/** Files that were begun longer ago than any mail takes, and have no row: who wrote them died in between. */
export async function takeLostFiles(tx: TxContext, limit: number): Promise<string[]> {
  const before = new Date(tx.clock.now().getTime() - dayMs);
  return (await tx.db.many(takeLost, { before, limit })).map(({ file }) => file);
}

/** Whoever brings a mail says what they like. */
function plain(text: string): string {
  return text
    .slice(0, 320)
    .replaceAll(/\p{Cc}/gu, ' ')
    .toWellFormed();
}
