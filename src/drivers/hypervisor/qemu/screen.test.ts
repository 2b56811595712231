import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { pngOf } from '../png.ts';
import type { Monitor } from './monitor.ts';
import { machineScreens } from './screen.ts';

const picture = pngOf({ width: 2, height: 1 }, Buffer.from([0, 0, 0, 9, 9, 9]));

let dir: string;
let screen: string;
let asked: [name: string, args: unknown, timeoutMs: number | undefined][];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ik-screen-'));
  screen = join(dir, 'screen.png');
  asked = [];
});
afterEach(() => rmSync(dir, { recursive: true }));

/** A QEMU that does this when it is asked for its screen. */
function qemu(draw: () => unknown): Monitor {
  return {
    files: { id: 'm-1', screen },
    command: async (...call: (typeof asked)[number]) => {
      asked.push(call);
      return draw();
    },
  } as unknown as Monitor;
}

const read = (draw: () => unknown) => machineScreens().read(qemu(draw), async () => null);
const refused = expect.objectContaining({ code: 'screen_failed', permanent: false });

it('QEMU draws into a file that nobody else may read, by a name without a path, and nothing is left', async () => {
  let mode = 0;
  const draw = () => {
    mode = statSync(screen).mode & 0o777;
    writeFileSync(screen, picture);
  };
  expect(await read(draw)).toEqual(picture);
  expect(mode).toBe(0o600);
  expect(asked).toEqual([['screendump', { filename: 'screen.png', format: 'png' }, 3_000]]);
  expect(existsSync(screen)).toBe(false);
});

it.skipIf(process.getuid?.() !== 0)('the file belongs to the account that QEMU runs as', async () => {
  let uid = 0;
  const monitor = qemu(() => {
    uid = statSync(screen).uid;
    writeFileSync(screen, picture);
  });
  await machineScreens().read(monitor, async () => ({ uid: 65_534, gid: 65_534 }));
  expect(uid).toBe(65_534);
});

it('a link that somebody put there leads nowhere, and neither does one that comes in between', async () => {
  const other = join(dir, 'other');
  writeFileSync(other, 'a secret');
  symlinkSync(other, screen);
  expect(await read(() => writeFileSync(screen, picture))).toEqual(picture);
  const swap = () => {
    rmSync(screen);
    symlinkSync(other, screen);
  };
  await expect(read(swap)).rejects.toEqual(refused);
  expect(readFileSync(other, 'utf8')).toBe('a secret');
  expect(existsSync(screen)).toBe(false);
});

it.each<[string, () => unknown]>([
  ['nothing', () => undefined],
  ['no picture', () => writeFileSync(screen, 'root:x:0:0')],
  ['far too much', () => truncateSync(screen, 2 ** 40)],
  ['an error', () => Promise.reject(new Error('There is no console'))],
])('a QEMU that gives %s is refused, and nothing is left', async (_, draw) => {
  await expect(read(draw)).rejects.toEqual(refused);
  expect(existsSync(screen)).toBe(false);
});

it('who asks at once gets one picture, and who asks afterwards the next', async () => {
  const { promise: drawn, resolve: drawIt } = Promise.withResolvers<void>();
  const screens = machineScreens();
  const monitor = qemu(() => drawn.then(() => writeFileSync(screen, picture)));
  const several = [1, 2, 3].map(() => screens.read(monitor, async () => null));
  await expect.poll(() => asked.length).toBe(1);
  drawIt();
  expect(await Promise.all(several)).toEqual([picture, picture, picture]);
  expect(asked).toHaveLength(1);
  await screens.read(monitor, async () => null);
  expect(asked).toHaveLength(2);
});
