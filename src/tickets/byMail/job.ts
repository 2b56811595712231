import {
  type Context,
  type Queue,
  type Run,
  type Saga,
  saga,
  statement,
  type TxRun,
} from '../../platform/index.ts';
import { attachOf } from './attach.ts';
import { activeAt, decideMail, type Judged, type MailFiles, sayUnclaimed } from './decide.ts';
import { deciding, decidingAnswer } from './keep.ts';
import { type Line, type MailReport, type ReadMail, readMail } from './readMail.ts';
import { lockMailById, type MailRow, mailById } from './rows.ts';
import { provedBy } from './trusted.ts';

const writeDown = statement<
  never,
  {
    id: number;
    messageId: string | null;
    fromName: string | null;
    fromAddress: string | null;
    subject: string;
    text: string;
    quoted: string | null;
    attachments: string;
  }
>(
  'tickets.writeMailDown',
  `update ticket_mails set message_id = :messageId, from_name = :fromName, from_address = :fromAddress, subject = :subject,
     text = :text, quoted = :quoted, attachments = :attachments::jsonb
   where id = :id and state = 'received'`,
);

interface Payload {
  mailId: number;
}
interface State {
  judged: Judged;
  files: MailFiles;
}

/** What ends by itself: what keeps files is away or full, or names cannot be looked up. */
const outages = ['files_unreachable', 'files_full', 'attachments_unavailable', 'names_unreachable'];
/** About a minute; what lasts longer is tried again every hour. */
const attempts = 8;
/** How long a mail waits for that before staff has it unread. */
const waitsMs = 24 * 3_600_000;

/**
 * Reads a mail that was kept, finds out who it is from, and decides what becomes of it. Anybody can send any number: what
 * customers wait for has places of its own, and so have their answers.
 */
export const mailReading: Saga<Payload, State>[] = [
  readingIn('incoming', deciding.name, 'others'),
  readingIn('answers', decidingAnswer.name, 'answers'),
];

function readingIn(queue: Queue, name: string, line: Line): Saga<Payload, State> {
  return saga<Payload, State>({
    name,
    queue,
    steps: [
      { name: 'read', attempts, do: (run: Run<Payload, State>) => read(run, line) },
      { name: 'attach', attempts, do: attach },
      {
        name: 'decide',
        transactional: true,
        do: ({ ctx, payload, state }: TxRun<Payload, State>) =>
          decideMail(ctx, payload.mailId, state.judged ?? unreadable, state.files),
      },
    ],
    outages,
    // Whatever keeps it from being read: it is shown to staff, and holds up no other.
    failed: async (tx, { mailId }, { code }) => {
      const { state, subject, received_at: receivedAt } = await tx.db.one(lockMailById, { id: mailId });
      const waitedMs = tx.clock.now().getTime() - receivedAt.getTime();
      // It stays as it came, and the job is tried again.
      if (state === 'received' && outages.includes(code) && waitedMs < waitsMs) return undefined;
      // What was read and could not be decided: nobody could say who it is from.
      if (state === 'received')
        await sayUnclaimed(tx, mailId, subject === null ? 'unreadable' : 'sender_not_proved');
      return 'unwanted' as const;
    },
  });
}

const unreadable: Judged = { read: null };

async function attach({ ctx, drivers, payload, state }: Run<Payload, State>): Promise<Partial<State>> {
  const read = state.judged?.read ?? null;
  if (read === null) return {};
  const mail = await ctx.db.one(mailById, { id: payload.mailId });
  return { files: await attachOf(ctx, drivers.files, mail, read) };
}

async function read({ ctx, drivers, payload }: Run<Payload, State>, line: Line): Promise<Partial<State>> {
  const row = await ctx.db.one(mailById, { id: payload.mailId });
  const mail = await readMail(() => drivers.files.get(row.file), line);
  if (mail === null) return { judged: unreadable };
  await ctx.db.run(writeDown, {
    id: row.id,
    messageId: mail.messageId,
    fromName: mail.from?.name ?? null,
    fromAddress: mail.from?.address ?? null,
    ...{ subject: mail.subject, text: mail.text, quoted: mail.quoted },
    attachments: JSON.stringify(mail.attachments),
  });
  return {
    judged: {
      read: {
        recipients: [...row.recipients.map((address) => address.toLowerCase()), ...mail.recipients],
        references: mail.references,
        machine: machineIn(row, mail, ctx),
        report: mail.report satisfies MailReport | null,
        proved: await isProved({ ctx, drivers }, row, mail),
      },
    },
  };
}

/** One that goes back to nobody, or has a number as our own mails have, is a machine's whatever else it says. */
function machineIn(row: MailRow, mail: ReadMail, { config }: Context): string | null {
  if (mail.machine !== null) return mail.machine;
  if (row.return_path === '') return 'Return-Path: <>';
  const host = new URL(config.publicUrl).hostname;
  const isOurs = /^<\d{1,16}\.\d{1,6}\.[a-z_.]+@([^>]+)>$/.exec(mail.messageId ?? '')?.[1] === host;
  return isOurs ? 'Message-ID' : null;
}

/** Whether the mail is from whom it says, by those whose word counts here. */
async function isProved(
  { ctx, drivers }: Pick<Run<Payload, State>, 'ctx' | 'drivers'>,
  row: MailRow,
  mail: ReadMail,
): Promise<boolean> {
  if (mail.from === null) return false;
  const domain = mail.from.address.slice(mail.from.address.lastIndexOf('@') + 1);
  const { mailInAuthserv } = ctx.config;
  if (mailInAuthserv !== null) return provedBy(mail.results, mailInAuthserv, domain);
  const { client_ip: ip, client_name: name, return_path: returnPath } = row;
  if (ip === null || !drivers.mailIn.capabilities.includes('judges')) return false;
  // Who has no account is nobody here, whoever they are.
  if ((await ctx.db.maybe(activeAt, { address: mail.from.address })) === null) return false;
  const content = await drivers.files.stream(row.file);
  const judgement = await drivers.mailIn.judge({
    ...{ content, returnPath: returnPath ?? '', client: { ip, name: name ?? ip } },
  });
  return judgement.proved && judgement.domain === domain;
}
