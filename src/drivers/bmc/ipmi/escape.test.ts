import { expect, it } from 'vitest';
import { Escaping } from './escape.ts';

/** What `ipmitool` makes of it: the key at the beginning of a line is a command to it, and twice it is the key. */
function arrives(bytes: Buffer, key: number): Buffer | 'a command' {
  const out: number[] = [];
  let isAtStart = true;
  for (let at = 0; at < bytes.length; at += 1) {
    let byte = bytes[at] ?? 0;
    if (isAtStart && byte === key) {
      at += 1;
      byte = bytes[at] ?? 0;
      if (byte !== key) return 'a command';
    }
    out.push(byte);
    isAtStart = byte === 13 || byte === 10;
  }
  return Buffer.from(out);
}

it('whatever customers type arrives as it was typed, in whichever pieces', () => {
  const keys = [0x1d, 0x0d, 0x0a, 0x2e, 0x61];
  for (let nth = 0; nth < 3_000; nth += 1) {
    const typed = Buffer.from(
      Array.from({ length: 1 + (nth % 7) }, (_, at) => keys[(nth * 7 + at * (nth % 11)) % 5] ?? 0),
    );
    const escaping = new Escaping();
    const cut = nth % typed.length;
    const sent = Buffer.concat([
      escaping.escape(typed.subarray(0, cut)),
      escaping.escape(typed.subarray(cut)),
    ]);
    expect(arrives(sent, escaping.character.charCodeAt(0))).toEqual(typed);
  }
});
