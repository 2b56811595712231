import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Hypervisor } from '../contract.ts';
import { pixelsOf } from '../screenConformance.ts';
import { byteReader } from './byteReader.ts';
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
