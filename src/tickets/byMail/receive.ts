import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Files } from '../../drivers/files/index.ts';
import type { MailIn, Receiver, Receiving } from '../../drivers/mailIn/index.ts';
import { readAnswerAddress } from '../../events/index.ts';
import { type Context, causesOf, type Leading, statement, transaction } from '../../platform/index.ts';
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

const askAgainMs = 1_000;

/** Has mails come in, from when this process may do jobs on. Returns how to stop. */
export async function startReceiving(
  ctx: Context,
  leading: Leading,
  { mailIn, files }: { mailIn: MailIn; files: Files },
  mayWork: () => Promise<boolean>,
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
  if (!mailIn.capabilities.includes('alone')) return listen(ctx, mailIn, receiver, mayWork);
  const work = async (signal: AbortSignal) => {
    const { stop } = await mailIn.receive(receiver);
    if (!signal.aborted) await once(signal, 'abort');
    await stop();
  };
  return leading.start('mails in', work, mayWork);
}

/** Listens from the first moment on that it may: where that is now, a port that is taken ends the start. */
async function listen(
  ctx: Context,
  mailIn: MailIn,
  receiver: Receiver,
  mayWork: () => Promise<boolean>,
): Promise<() => Promise<void>> {
  if (await mayWork()) return (await mailIn.receive(receiver)).stop;
  const halt = new AbortController();
  const { signal } = halt;
  const begin = async (): Promise<Receiving | null> => {
    while (!signal.aborted) {
      try {
        if (await mayWork()) return await mailIn.receive(receiver);
      } catch (error) {
        ctx.log.warn({ err: causesOf(error as Error) }, 'no mails come in yet; trying again');
      }
      await pause(askAgainMs, undefined, { signal }).catch(() => undefined);
    }
    return null;
  };
  const begun = begin();
  return async () => {
    halt.abort();
    await (await begun)?.stop();
  };
}

async function writeDown(ctx: Context, problem: string | null): Promise<void> {
  await transaction(ctx, 'tickets.mailSource', (tx) =>
    problem === null
      ? tx.db.run(setWell)
      : tx.db.run(setFailing, { problem: problem.slice(0, 300), now: tx.clock.now() }),
  );
}
