import { fileURLToPath } from 'node:url';
import { ProgramError, runProgram } from '../../platform/host/program.ts';

/** What a mail says, as plain data of bounded size. */
export interface ReadMail {
  messageId: string | null;
  /** What it says that it answers, the nearest last. */
  references: string[];
  /** Who it says it is from, when that is one address. */
  from: { name: string; address: string } | null;
  subject: string;
  /** For whom it is, as its head says. */
  recipients: string[];
  text: string;
  /** What was written before and stands below or above it. */
  quoted: string | null;
  attachments: { name: string; type: string; size_bytes: number }[];
  /** By what a machine is known; null when somebody wrote it. */
  machine: string | null;
  report: MailReport | null;
  /** The topmost Authentication-Results of its head. */
  results: string | null;
  /** How many signatures it claims to have. */
  signatures: number;
}

export interface MailReport {
  messageId: string;
  recipient: string;
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';
  status: string;
  diagnostic: string;
}

/** Longer than any mail takes that somebody wrote: a second for 25 MiB. */
const longestMs = 30_000;
const memoryMib = 256;
const longestOutput = 4 * 1_024 * 1_024;

const program = fileURLToPath(new URL('./readProcess.ts', import.meta.url));

/** Answers and what strangers send stand in lines of their own. */
export type Line = 'answers' | 'others';
const lines: Record<Line, Promise<unknown>> = { answers: Promise.resolve(), others: Promise.resolve() };

/**
 * Reads a mail in a process of its own, one after another in each line. A mail can be made to keep a processor busy or to fill memory, and a
 * thread that runs out of memory takes its whole process along: this one ends alone. Null: the mail cannot be read.
 */
export function readMail(load: () => Promise<Buffer>, line: Line = 'others'): Promise<ReadMail | null> {
  const reading = lines[line].then(async () => apart(await load()));
  lines[line] = reading.catch(() => undefined);
  return reading;
}

async function apart(raw: Buffer): Promise<ReadMail | null> {
  const argv = [process.execPath, `--max-old-space-size=${memoryMib}`, program];
  try {
    const { stdout } = await runProgram(argv, { input: raw, timeoutMs: longestMs, longestOutput });
    return JSON.parse(stdout) as ReadMail;
  } catch (error) {
    if (error instanceof ProgramError) return null;
    throw error;
  }
}
