/** The thread that reads mails. */
import { parentPort } from 'node:worker_threads';
import { parseMail } from './parseMail.ts';
import type { ThreadAnswer } from './readMail.ts';

parentPort?.on('message', async ({ id, raw }: { id: number; raw: Uint8Array }) => {
  const answer: ThreadAnswer = await parseMail(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)).then(
    (mail) => ({ id, mail }),
    (error: unknown) => ({ id, error: error instanceof Error ? error.message : String(error) }),
  );
  parentPort?.postMessage(answer);
});
