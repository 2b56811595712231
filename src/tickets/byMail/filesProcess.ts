/**
 * The program that takes the files out of one mail: the mail comes by standard input, and they go out one after another, each as
 * pieces with their length in front, and one of no length behind the last.
 */
import type { Readable } from 'node:stream';
import type { AttachmentStream } from 'mailparser';
import { isReport, openParser } from './parseMail.ts';

const write = (bytes: Uint8Array) =>
  new Promise<void>((resolve) => void process.stdout.write(bytes, () => resolve()));

async function send(piece: Buffer): Promise<void> {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(piece.length);
  await write(Buffer.concat([length, piece]));
}

async function sendFile({ content, release }: AttachmentStream): Promise<void> {
  for await (const piece of content as Readable) if (piece.length > 0) await send(piece);
  await send(Buffer.alloc(0));
  release?.();
}

const parser = openParser();
parser.on('data', (data: AttachmentStream | { type: 'text' }) => {
  if (data.type === 'text') return;
  if (isReport(data)) (data.content as Readable).once('end', () => data.release?.()).resume();
  else void sendFile(data);
});
process.stdin.pipe(parser);
