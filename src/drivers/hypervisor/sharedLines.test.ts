import { type Duplex, duplexPair } from 'node:stream';
import { expect, it } from 'vitest';
import { sharedLines } from './sharedLines.ts';

const gather = (stream: Duplex) => {
  const seen = { text: '' };
  stream.on('data', (chunk: Buffer) => {
    seen.text += chunk.toString();
  });
  return seen;
};

it('all who join a line see the same, type into the same, and are first given what was printed last', async () => {
  const [guest, line] = duplexPair();
  const lines = sharedLines();
  let opened = 0;
  const attach = () =>
    lines.attach('one', async () => {
      opened += 1;
      return line;
    });
  const first = await attach();
  const seen = gather(first);
  guest.write(`${'x'.repeat(20_000)}login: `);
  await expect.poll(() => seen.text).toMatch(/login: $/);
  const second = await attach();
  const later = gather(second);
  await expect.poll(() => later.text).toMatch(/^x+login: $/);
  expect(later.text.length).toBe(2 ** 14);
  const typed = gather(guest);
  first.write('a');
  second.write('b');
  await expect.poll(() => typed.text).toBe('ab');
  guest.write('more');
  await expect.poll(() => [seen, later].every(({ text }) => text.endsWith('login: more'))).toBe(true);
  expect(opened).toBe(1);
  first.destroy();
  second.destroy();
  await expect.poll(() => line.destroyed).toBe(true);
});
