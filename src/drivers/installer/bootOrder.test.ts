import { expect, it } from 'vitest';
import { bootOrderOf } from './bootOrder.ts';

/** Bytes that stand for themselves, in hexadecimal. */
const hex = (bytes: Buffer) => bytes.toString('hex');
const attributes = Buffer.from([7, 0, 0, 0]);
const order = (...numbers: number[]) =>
  `BootOrder ${hex(Buffer.concat([attributes, Buffer.from(Uint16Array.from(numbers).buffer)]))}`;
const node = (type: number, subtype: number, data: number[] = []) => [
  type,
  subtype,
  data.length + 4,
  0,
  ...data,
];
const ending = [0x7f, 0xff, 4, 0];
const pci = node(1, 1, [0, 3]);

function entry(number: string, path: number[], { is = 1, name = 'UEFI something' } = {}): string {
  const length = path.length + ending.length;
  const load = Buffer.alloc(6);
  load.writeUInt32LE(is, 0);
  load.writeUInt16LE(length, 4);
  const told = Buffer.from(`${name}\0`, 'utf16le');
  return `Boot${number} ${hex(Buffer.concat([attributes, load, told, Buffer.from([...path, ...ending])]))}`;
}

const mac = node(3, 11, [...Array(32).fill(0), 1]);
const partition = node(4, 1, Array(38).fill(1));

it('names what UEFI starts, in order, by what its paths lead to', () => {
  const text = [
    order(3, 1, 2, 0xa, 0xb, 0xc),
    entry('0001', [...pci, ...mac, ...node(3, 12, Array(23).fill(0))]),
    entry('0002', [...pci, ...mac]),
    entry('0003', [...partition, ...node(4, 4, [0x5c, 0, 0, 0])], { name: 'debian' }),
    entry('000A', [...pci, ...node(3, 23, Array(12).fill(0))]),
    entry('000B', [...pci, ...node(3, 5, [1, 0]), ...partition]),
    entry('000C', [...node(4, 7, Array(16).fill(0))]),
  ].join('\n');
  expect(bootOrderOf(text)).toEqual(['disk', 'network', 'disk', 'usb', 'other']);
});

it('leaves out what is switched off, what is no start, and what it does not have', () => {
  const text = [
    order(0, 1, 2, 9),
    entry('0000', pci, { is: 0x101 }),
    entry('0001', [...pci, ...mac], { is: 0 }),
    entry('0002', [...pci, ...node(3, 18, Array(6).fill(0))]),
  ].join('\n');
  expect(bootOrderOf(text)).toEqual(['disk']);
});

it('knows of none where there is none, and makes nothing of what is no variable', () => {
  expect(bootOrderOf('')).toBe(null);
  expect(bootOrderOf('BootOrder 07')).toBe(null);
  expect(bootOrderOf('BootOrder 07000000\nBoot0001 zz')).toEqual([]);
  const broken = [order(1, 2, 3), 'Boot0001 07000000', 'Boot0002 0700000001', `Boot0003 ${'00'.repeat(300)}`];
  expect(bootOrderOf(broken.join('\n'))).toEqual([]);
  // A node that says that it has no length leads nowhere.
  expect(bootOrderOf([order(1), entry('0001', [3, 11, 0, 0])].join('\n'))).toEqual(['other']);
});
