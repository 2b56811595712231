import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ProgramError, runProgram } from '../../platform/host/program.ts';
import { type JudgedMail, type Judgement, MailInError } from './contract.ts';

/** What the domain name system says, by name and type, as in `example.com TXT`; for tests. */
export type Names = Record<string, string[][]>;

/** What the process is asked; the mail follows in a line of its own. */
export interface Asked {
  returnPath: string;
  client: JudgedMail['client'];
  names: Names | null;
  bySpf: boolean;
}
/** What it answers; `later`: trying again may help. */
export type Answered = { judgement: Judgement } | { later: string };

const longestMs = 30_000;
const memoryMib = 256;
const longestOutput = 100_000;

const program = fileURLToPath(new URL('./judgeProcess.ts', import.meta.url));

let queue: Promise<unknown> = Promise.resolve();

/**
 * Judges a mail in a process of its own, one after another: a mail can be made to keep a processor busy for minutes. One
 * that takes too long is not proved.
 */
export async function judgeApart(
  { content, ...asked }: JudgedMail,
  { names = null, bySpf = true }: { names?: Names | null | undefined; bySpf?: boolean } = {},
): Promise<Judgement> {
  const raw = await buffer(content);
  const judging = queue.then(() => apart({ ...asked, names, bySpf }, raw));
  queue = judging.catch(() => undefined);
  return await judging;
}

async function apart(asked: Asked, raw: Buffer): Promise<Judgement> {
  const argv = [process.execPath, `--max-old-space-size=${memoryMib}`, program];
  const input = Buffer.concat([Buffer.from(`${JSON.stringify(asked)}\n`), raw]);
  try {
    const { stdout } = await runProgram(argv, { input, timeoutMs: longestMs, longestOutput });
    const answered = JSON.parse(stdout) as Answered;
    if ('later' in answered) throw new MailInError('names_unreachable', answered.later);
    return answered.judgement;
  } catch (error) {
    if (error instanceof ProgramError)
      return { proved: false, why: 'it could not be judged within its time' };
    throw error;
  }
}
