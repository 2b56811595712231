/** What is asked of whoever sits there; a secret without showing it. From a pipe, the next line of it. */
import { readSync } from 'node:fs';
import { exits, UsageError } from './failures.ts';

export async function ask(question: string, isSecret = false): Promise<string> {
  if (!process.stdin.isTTY) return nextLine(question);
  // Before the question is there: what is typed at once is not shown either.
  if (isSecret) process.stdin.setRawMode(true);
  process.stderr.write(`${question}: `);
  process.stdin.resume();
  try {
    return await new Promise<string>((resolve) => {
      let typed = '';
      const take = (chunk: Buffer) => {
        for (const letter of chunk.toString('utf8')) {
          if (letter === '\u0003') process.exit(exits.interrupted);
          else if (letter === '\u007f' || letter === '\b') typed = typed.slice(0, -1);
          else if (letter === '\r' || letter === '\n' || letter === '\u0004') {
            process.stdin.off('data', take);
            resolve(typed);
            return;
          } else typed += letter;
        }
      };
      process.stdin.on('data', take);
    });
  } finally {
    if (isSecret) process.stdin.setRawMode(false);
    process.stdin.pause();
    if (isSecret) process.stderr.write('\n');
  }
}

/** Byte by byte: what follows is for whoever asks next. */
function nextLine(question: string): string {
  const bytes: number[] = [];
  const one = Buffer.alloc(1);
  for (;;) {
    let found: number;
    try {
      found = readSync(0, one);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') continue;
      found = 0;
    }
    if (found === 0 || one[0] === 10) break;
    bytes.push(one[0] ?? 0);
  }
  if (bytes.length === 0) throw new UsageError(`${question} is asked for, and nobody answers.`);
  return Buffer.from(bytes).toString('utf8').replace(/\r$/, '');
}
