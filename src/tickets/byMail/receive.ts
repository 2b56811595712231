import { once } from 'node:events';
import type { Files } from '../../drivers/files/index.ts';
import type { MailIn, Receiver } from '../../drivers/mailIn/index.ts';
import { readAnswerAddress } from '../../events/index.ts';
import { type Context, causesOf, startLeading, statement, transaction } from '../../platform/index.ts';
import { keepMail } from './keep.ts';

const setFailing = statement<never, { problem: string; now: Date }>(
  'tickets.mailSourceFails',
  `insert into ticket_mail_source (failing_since, problem) values (:now, :problem)
   on conflict (one) do update set problem = excluded.problem,
     failing_since = coalesce(ticket_mail_source.failing_since, excluded.failing_since)`,
);
const setWell = statement<never>(
  'tickets.mailSourceIsWell',
  'update ticket_mail_source set failing_since = null, problem = null where failing_since is not null',
);

/** Has mails come in, as long as this process does jobs. Returns how to stop. */
export async function startReceiving(
  ctx: Context,
  url: string,
  { mailIn, files }: { mailIn: MailIn; files: Files },
): Promise<() => Promise<void>> {
  const isFromOneServer = mailIn.kind !== 'smtp' || ctx.config.mailInAuthserv !== null;
  let last: string | null | undefined;
  const receiver: Receiver = {
    accepts: (address) => readAnswerAddress(ctx.config, address) !== null,
    take: (mail) => keepMail(ctx, files, mail, isFromOneServer),
    stands: (problem) => {
      if (problem === last) return;
      last = problem;
      if (problem !== null) ctx.log.warn({ problem }, 'no mails come in');
      writeDown(ctx, problem).catch((error: Error) => {
        last = undefined; // said again the next time
        ctx.log.warn(
          { err: causesOf(error) },
          'how it stands with mails that come in could not be written down',
        );
      });
    },
  };
  if (!mailIn.capabilities.includes('alone')) {
    const { stop } = await mailIn.receive(receiver);
    return stop;
  }
  const work = async (signal: AbortSignal) => {
    const { stop } = await mailIn.receive(receiver);
    if (!signal.aborted) await once(signal, 'abort');
    await stop();
  };
  return startLeading(url, 'mails in', work, ctx.log);
}

async function writeDown(ctx: Context, problem: string | null): Promise<void> {
  await transaction(ctx, 'tickets.mailSource', (tx) =>
    problem === null
      ? tx.db.run(setWell)
      : tx.db.run(setFailing, { problem: problem.slice(0, 300), now: tx.clock.now() }),
  );
}
