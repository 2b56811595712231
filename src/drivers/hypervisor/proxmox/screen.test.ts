import { duplexPair } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hypervisor } from '../contract.ts';
import { pixelsOf } from '../screenConformance.ts';
import { byteReader } from './byteReader.ts';
import { pictureOf } from './picture.ts';
import { answerTo } from './screen.ts';
import { type ProxmoxBed, proxmoxBed } from './testbed.ts';

let bed: ProxmoxBed;
let driver: Hypervisor;
beforeAll(async () => {
  bed = await proxmoxBed(45);
  driver = bed.open();
  await driver.ensureImage({ slug: 'made', kind: 'build', recipe: 'made' }, () => undefined);
  await driver.createDisk(bed.spec(1));
  await driver.writeIdentity(bed.spec(1), bed.identity);
  await driver.start(bed.spec(1));
});
afterAll(async () => {
  await driver?.close();
  bed?.remove();
});

it('answers a challenge by DES, the bits of each byte of the password mirrored', () => {
  // The key of a well-known example of DES, 133457799BBCDFF1, as a password.
  const password = Buffer.from('c82cea9ed93dfb8f', 'hex').toString('latin1');
  const challenge = Buffer.from('0123456789abcdef0123456789abcdef', 'hex');
  expect(answerTo(challenge, password).toString('hex')).toBe('85e813540f0ab40585e813540f0ab405');
});

it('lets a viewer of ours through to the screen, without a password of its own', async () => {
  const viewer = await driver.openConsole(bed.spec(1).id, 'vnc');
  const reader = byteReader(viewer);
  expect(String(await reader.take(12))).toBe('RFB 003.008\n');
  viewer.write('RFB 003.008\n');
  expect([...(await reader.take(2))]).toEqual([1, 1]);
  viewer.write(Buffer.of(1));
  expect((await reader.take(4)).readUInt32BE()).toBe(0);
  viewer.write(Buffer.of(1));
  const head = await reader.take(24);
  expect([head.readUInt16BE(0), head.readUInt16BE(2)]).toEqual([40, 20]);
  expect(String(await reader.take(4))).toBe('QEMU');
  viewer.destroy();
});

it('takes a picture with red, green and blue in their places', async () => {
  const { width, height, pixels } = pixelsOf(await driver.readScreen(bed.spec(1).id));
  expect([width, height]).toEqual([40, 20]);
  // The upper half has no red, the lower half all of it; green is the same everywhere; blue goes up by three.
  expect([...pixels.subarray(0, 6)]).toEqual([0, 170, 0, 0, 170, 3]);
  expect([...pixels.subarray(40 * 10 * 3, 40 * 10 * 3 + 3)]).toEqual([255, 170, 0]);
});

describe('a screen that is up to no good', () => {
  const message = (...parts: (Buffer | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part)));
  const number = (value: number, bytes: 2 | 4) => {
    const written = Buffer.alloc(bytes);
    written.writeUIntBE(value, 0, bytes);
    return written;
  };
  const head = (width: number, height: number, name: number) =>
    message(number(width, 2), number(height, 2), Buffer.alloc(16), number(name, 4));
  const piece = (x: number, y: number, width: number, height: number, encoding = 0) =>
    message(
      [0, 0],
      number(1, 2),
      ...[x, y, width, height].map((each) => number(each, 2)),
      number(encoding, 4),
    );

  it.each<[string, Buffer]>([
    ['is larger than any', head(5_000, 10, 0)],
    ['has no size', head(0, 10, 0)],
    ['has a name without an end', head(10, 10, 2 ** 31)],
    ['draws beside itself', message(head(4, 4, 0), piece(2, 2, 4, 4))],
    ['draws in a way that nobody asked for', message(head(4, 4, 0), piece(0, 0, 4, 4, 7))],
    ['has more on its clipboard than any', message(head(4, 4, 0), [3, 0, 0, 0], number(2 ** 31, 4))],
    ['says what is not known', message(head(4, 4, 0), [9])],
    ['says half', head(4, 4, 0).subarray(0, 10)],
  ])('gives no picture and is let go of when it %s', { timeout: 20_000 }, async (_what, said) => {
    const [ours, theirs] = duplexPair();
    theirs.on('error', () => undefined).resume();
    theirs.write(said);
    await expect(pictureOf('test-1', ours)).rejects.toMatchObject({
      code: 'screen_failed',
      permanent: false,
    });
    expect(ours.destroyed).toBe(true);
  });
});
