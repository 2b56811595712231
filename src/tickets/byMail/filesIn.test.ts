import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { ProgramError } from '../../platform/host/program.ts';
import { filesIn } from './filesIn.ts';

const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

function mailWith(files: Buffer[]): Buffer {
  const parts = files.map(
    (file, nth) =>
      `--b\r\nContent-Type: application/octet-stream; name="${nth}.bin"\r\nContent-Transfer-Encoding: base64\r\n` +
      `Content-Disposition: attachment; filename="${nth}.bin"\r\n\r\n${file.toString('base64').replaceAll(/.{76}/g, '$&\r\n')}\r\n`,
  );
  const head =
    'From: a@example.com\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n';
  return Buffer.from(`${head}--b\r\nContent-Type: text/plain\r\n\r\nHello\r\n${parts.join('')}--b--\r\n`);
}

async function read(mail: Readable, take: (nth: number) => boolean = () => true): Promise<string[]> {
  const found: string[] = [];
  let nth = 0;
  for await (const file of filesIn(mail)) {
    const pieces: Buffer[] = [];
    for await (const piece of file) {
      pieces.push(Buffer.from(piece));
      if (!take(nth)) break;
    }
    found.push(take(nth) ? sha(Buffer.concat(pieces)) : 'left');
    nth += 1;
  }
  return found;
}

const files = [randomBytes(700_000), Buffer.alloc(0), randomBytes(1), randomBytes(300_000)];

it('gives each file of a mail as it was, also behind one that nobody read to its end', async () => {
  const raw = mailWith(files);
  expect(await read(Readable.from([raw]))).toEqual(files.map(sha));
  expect(await read(Readable.from([raw]), (nth) => nth !== 0)).toEqual(['left', ...files.slice(1).map(sha)]);
});

it('fails as its storage does where that breaks off, and not as a mail that ends', async () => {
  const raw = mailWith(files);
  const breaking = Readable.from(
    (async function* () {
      yield raw.subarray(0, raw.length / 2);
      throw new Error('the storage went away');
    })(),
  );
  await expect(read(breaking)).rejects.toThrow('the storage went away');
});

it('fails for a mail with more parts than any that somebody wrote, and the process ends', async () => {
  const many = mailWith(Array.from({ length: 1_100 }, () => Buffer.from('x')));
  await expect(read(Readable.from([many]))).rejects.toThrow(ProgramError);
});
