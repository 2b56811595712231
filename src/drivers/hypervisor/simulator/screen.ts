import { pngOf } from '../png.ts';
import type { SimulatedMachine } from './store.ts';

const size = { width: 320, height: 200 };
/** A dot of a letter is so many pixels wide and high; a letter has three dots by five, and one between it and the next. */
const dot = 2;
const [columnDots, lineDots] = [4, 7];
const margin = 8;
const light = 0xaa;

/** Five rows of a letter from the top, each an octal digit of three dots. */
const letters: Readonly<Record<string, string>> = {
  ...{ a: '25755', b: '65656', c: '34443', d: '65556', e: '74647', f: '74644', g: '34553', h: '55755' },
  ...{ i: '72227', j: '11152', k: '55655', l: '44447', m: '57755', n: '65555', o: '25552', p: '65644' },
  ...{ q: '25563', r: '65655', s: '34216', t: '72222', u: '55557', v: '55552', w: '55775', x: '55255' },
  ...{ y: '55222', z: '71247', 0: '75557', 1: '26227', 2: '61247', 3: '61216', 4: '55711', 5: '74616' },
  ...{ 6: '34757', 7: '71122', 8: '75757', 9: '75716', '-': '00700', ':': '02020', '.': '00002', _: '00007' },
};

/** What the screen of a simulated machine shows: that it is one, since when its guest is up, and as whom it waits. */
export function screenOf(id: string, { bootedAtMs, guest, identity }: SimulatedMachine): Buffer {
  const booted = new Date(bootedAtMs).toISOString().slice(0, 19).replace('T', ' ');
  const hostname = guest?.hostname ?? identity?.hostname ?? id;
  return pngOf(size, drawn([`simulated machine ${id}`, `booted ${booted}`, '', `${hostname} login: _`]));
}

function drawn(lines: readonly string[]): Buffer {
  const pixels = Buffer.alloc(size.width * size.height * 3);
  const wrapped = lines.flatMap((line) => line.match(/.{1,38}/g) ?? ['']);
  for (const [line, text] of wrapped.entries())
    for (const [column, letter] of [...text.toLowerCase()].entries())
      for (const [row, dots] of [...(letters[letter] ?? '00000')].entries())
        for (let nth = 0; nth < 3; nth += 1)
          if ((Number(dots) >> (2 - nth)) & 1)
            paint(pixels, margin + (column * columnDots + nth) * dot, margin + (line * lineDots + row) * dot);
  return pixels;
}

/** One dot of a letter. */
function paint(pixels: Buffer, x: number, y: number): void {
  for (let row = y; row < Math.min(y + dot, size.height); row += 1) {
    const at = (row * size.width + x) * 3;
    pixels.fill(light, at, at + dot * 3);
  }
}
