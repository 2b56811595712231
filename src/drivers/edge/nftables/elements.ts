import { type Asker, dumpOf } from './asker.ts';
import { type TableFamily, table } from './base.ts';

// linux/netfilter/nf_tables.h
const messages = { newElements: 0x0a0c, getElements: 0x0a0d } as const;
const ofList = { table: 1, set: 2, elements: 3 } as const;
const ofElement = { key: 1, expression: 7 } as const;
const ofKey = { value: 1 } as const;
const ofExpression = { data: 2 } as const;
const ofCounter = { bytes: 1, packets: 2 } as const;

/** A set of ours that counts by address, and by a number of so many bytes behind it. */
export interface CountingSet {
  of: TableFamily;
  name: string;
  family: 4 | 6;
  numberBytes: 0 | 1 | 2;
}

export type See = (address: string, number: number | null, packets: number, bytes: number) => void;

/**
 * Shows what each element of a set has counted; a set that there is not has none. Thousands are read every second, so nothing
 * is made of an element but the text of its address. Fails with `edge_refused`.
 */
export async function eachCount({ ask }: Pick<Asker, 'ask'>, set: CountingSet, see: See): Promise<void> {
  const question: [number, string][] = [
    [ofList.table, table],
    [ofList.set, set.name],
  ];
  const answer = await ask(dumpOf(messages.getElements, set.of, question));
  // A message is as long as it says, and its attributes begin behind its head (struct nlmsghdr and nfgenmsg).
  for (let at = 0; at + 20 <= answer.length; at = aligned(at + answer.readUInt32LE(at))) {
    if (answer.readUInt16LE(at + 4) !== messages.newElements) continue;
    const list = find(answer, at + 20, at + answer.readUInt32LE(at), ofList.elements);
    for (
      let each = list + 4;
      list !== none && each < endOf(answer, list);
      each = aligned(endOf(answer, each))
    )
      seeElement(answer, each, set, see);
  }
}

/** Places in what the kernel tells are those of an attribute's head: its length and type, two bytes each, before what is in it. */
type Place = number;
const none: Place = -1;

function seeElement(told: Buffer, element: Place, { family, numberBytes }: CountingSet, see: See): void {
  const key = inside(told, inside(told, element, ofElement.key), ofKey.value);
  const counter = inside(told, inside(told, element, ofElement.expression), ofExpression.data);
  const [packets, bytes] = [inside(told, counter, ofCounter.packets), inside(told, counter, ofCounter.bytes)];
  if (key === none || packets === none || bytes === none) return;
  const [address, number] = [key + 4, key + 4 + (family === 4 ? 4 : 16)];
  see(
    family === 4 ? fourAt(told, address) : sixAt(told, address),
    numberBytes === 0 ? null : told.readUIntBE(number, numberBytes),
    countAt(told, packets + 4),
    countAt(told, bytes + 4),
  );
}

function inside(told: Buffer, outer: Place, type: number): Place {
  return outer === none ? none : find(told, outer + 4, endOf(told, outer), type);
}

function find(told: Buffer, from: number, end: number, type: number): Place {
  for (let at = from; at + 4 <= end; at = aligned(endOf(told, at)))
    // The two highest bits say how it is written.
    if ((told.readUInt16LE(at + 2) & 0x3fff) === type) return at;
  return none;
}

function endOf(told: Buffer, place: Place): number {
  // One shorter than its head would never end.
  return place + Math.max(4, told.readUInt16LE(place));
}

function aligned(at: number): number {
  return (at + 3) & ~3;
}

function countAt(told: Buffer, at: number): number {
  return told.readUInt32BE(at) * 2 ** 32 + told.readUInt32BE(at + 4);
}

function fourAt(told: Buffer, at: number): string {
  return `${told[at]}.${told[at + 1]}.${told[at + 2]}.${told[at + 3]}`;
}

/** As everybody writes it (RFC 5952): the longest run of zeros, the first of several, is left out. */
export function sixAt(told: Buffer, at: number): string {
  let [run, runLength] = [0, 1];
  for (let from = 0; from < 8; from += 1) {
    let length = 0;
    while (from + length < 8 && told.readUInt16BE(at + 2 * (from + length)) === 0) length += 1;
    if (length > runLength) [run, runLength] = [from, length];
  }
  let text = '';
  for (let part = 0; part < 8; part += 1) {
    const isLeftOut = runLength > 1 && part >= run && part < run + runLength;
    if (isLeftOut) text += part === run ? '::' : '';
    else
      text += (text === '' || text.endsWith(':') ? '' : ':') + told.readUInt16BE(at + 2 * part).toString(16);
  }
  return text;
}
