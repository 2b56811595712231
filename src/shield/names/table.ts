/** Rows of a table of networks, in order: where each begins and ends, and what it is called. */
export interface Networks {
  /** Of IPv4 the addresses, of IPv6 their first 64 bits. */
  starts: Uint32Array | BigUint64Array;
  ends: Uint32Array | BigUint64Array;
  /** Which name. */
  names: Uint32Array;
}

/** A table as it stands in memory: plain buffers, so that a thread can hand it over. */
export interface Table {
  four: Networks;
  six: Networks;
  /** All names one after the other, and where each ends. */
  text: Uint8Array;
  ends: Uint32Array;
}

/** What a table of networks calls an address (of IPv6 by its number); null where it has none. */
export function lookUp({ four, six, text, ends }: Table, address: number | bigint): string | null {
  const isFour = typeof address === 'number';
  const nth = isFour ? find(four, address) : find(six, address >> 64n);
  if (nth === null) return null;
  const from = nth === 0 ? 0 : (ends[nth - 1] as number);
  return Buffer.from(text.buffer, text.byteOffset + from, (ends[nth] as number) - from).toString('utf8');
}

function find({ starts, ends, names }: Networks, value: number | bigint): number | null {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] as number | bigint) <= value) low = middle + 1;
    else high = middle;
  }
  if (low === 0 || (ends[low - 1] as number | bigint) < value) return null;
  return names[low - 1] as number;
}

export function bytesOf({ four, six, text, ends }: Table): number {
  const columns = [four, six].flatMap((each) => [each.starts, each.ends, each.names]);
  return [...columns, text, ends].reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** Rows of a file, each once. */
type Rows = AsyncIterable<Row>;
interface Row {
  /** Numbers, as text. */
  start: string;
  end: string;
  /** What the network between them is called. */
  name: string;
}

/** Makes a table of the rows of its two files. */
export async function makeTable(four: Rows, six: Rows): Promise<Table> {
  const known = new Map<string, number>();
  const nameOf = (name: string): number => {
    const nth = known.get(name);
    if (nth !== undefined) return nth;
    known.set(name, known.size);
    return known.size - 1;
  };
  const fours = await networksOf(four, nameOf, Uint32Array, Number);
  const sixes = await networksOf(six, nameOf, BigUint64Array, (text) => BigInt(text) >> 64n);
  const texts = [...known.keys()].map((name) => Buffer.from(name, 'utf8'));
  let at = 0;
  const ends = Uint32Array.from(texts, ({ length }) => {
    at += length;
    return at;
  });
  return { four: fours, six: sixes, text: new Uint8Array(Buffer.concat(texts)), ends };
}

type Column = Uint32Array<ArrayBuffer> | BigUint64Array<ArrayBuffer>;

/** Into columns that grow, since plain arrays of so many numbers take ten times the room. */
async function networksOf(
  rows: Rows,
  nameOf: (name: string) => number,
  kind: typeof Uint32Array | typeof BigUint64Array,
  numberOf: (text: string) => number | bigint,
): Promise<Networks> {
  let room = 1_024;
  let columns = {
    starts: new kind(room) as Column,
    ends: new kind(room) as Column,
    names: new Uint32Array(room),
  };
  const resized = (length: number) => {
    const copy = <Of extends Column>(from: Of, to: Of): Of => {
      to.set(from.subarray(0, length) as never);
      return to;
    };
    return {
      starts: copy(columns.starts, new kind(length) as Column),
      ends: copy(columns.ends, new kind(length) as Column),
      names: copy(columns.names, new Uint32Array(length)),
    };
  };
  let count = 0;
  for await (const { start, end, name } of rows) {
    if (count === room) {
      room *= 2;
      columns = resized(room);
    }
    columns.starts[count] = numberOf(start) as never;
    columns.ends[count] = numberOf(end) as never;
    columns.names[count] = nameOf(name);
    count += 1;
  }
  return resized(count);
}

/** Reads `16777216,16777471,13335,"Cloudflare, Inc."`; null for what is no row. `nameFrom` makes a name of what follows the numbers. */
export function readRow(
  line: string,
  nameFrom: (first: string, second: string | null) => string,
): Row | null {
  const [start = '', end = '', first] = line.split(',', 3);
  if (first === undefined || !/^\d+$/.test(start) || !/^\d+$/.test(end)) return null;
  const rest = line.slice(start.length + end.length + first.length + 3);
  const second = rest.startsWith('"') ? rest.slice(1, -1).replaceAll('""', '"') : rest;
  return { start, end, name: nameFrom(first, second === '' ? null : second) };
}
