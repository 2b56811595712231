import { Readable } from 'node:stream';
import { fail } from '../errors.ts';
import { tooLarge } from './bytes.ts';

const quote = 0x22;
const backslash = 0x5c;
const deepest = 32;
/** No field's name that matters is longer. */
const longestName = 100;

/** What is diverted: the text under `content` of each object of the list under `field`. */
interface Diverted {
  field: string;
  content: string;
  /** All of the body but what is diverted. */
  mostBytes: number;
  /** Takes a file while it arrives; it has to be read to its end. */
  take(content: Readable): Promise<void>;
}

interface Level {
  kind: 'object' | 'list';
  /** Of an object: the name whose value comes or came last; null while the next text is a name. */
  name: string | null;
}

/**
 * Reads a JSON text while it arrives, up to a few texts in it that are files in base64: those go by as bytes, and stand in what
 * is returned as empty texts. Whether the rest is JSON is for its reader to say. `invalid_request` for what is no base64.
 */
export async function divertFiles(source: AsyncIterable<Uint8Array>, diverted: Diverted): Promise<Buffer> {
  const reader = new JsonReader(source, diverted);
  await reader.read();
  return reader.rest();
}

class JsonReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #diverted: Diverted;
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;
  #isEnd = false;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  readonly #levels: Level[] = [];
  #taken = 0;

  constructor(source: AsyncIterable<Uint8Array>, diverted: Diverted) {
    this.#chunks = source[Symbol.asyncIterator]();
    this.#diverted = diverted;
  }

  rest(): Buffer {
    return Buffer.concat(this.#kept);
  }

  async read(): Promise<void> {
    while (await this.#more()) {
      const start = this.#at;
      while (this.#at < this.#chunk.length && this.#chunk[this.#at] !== quote) {
        this.#structure(this.#chunk[this.#at] ?? 0);
        this.#at += 1;
      }
      const isText = this.#at < this.#chunk.length;
      if (isText) this.#at += 1;
      this.#keep(this.#chunk.subarray(start, this.#at));
      if (isText) await this.#text();
    }
  }

  #structure(code: number): void {
    const level = this.#levels.at(-1);
    if (code === 0x7b || code === 0x5b) {
      if (this.#levels.length >= deepest) throw fail('nesting_too_deep');
      this.#levels.push({ kind: code === 0x7b ? 'object' : 'list', name: null });
    } else if (code === 0x7d || code === 0x5d) {
      this.#levels.pop();
    } else if (code === 0x2c && level !== undefined) {
      level.name = null;
    }
  }

  /** Behind the quote that opens a text. */
  async #text(): Promise<void> {
    const level = this.#levels.at(-1);
    if (level?.kind === 'object' && level.name === null) {
      level.name = nameOf(await this.#plainText(longestName));
      return;
    }
    if (!this.#isFile()) {
      await this.#plainText(0);
      return;
    }
    const field = `${this.#diverted.field}[${this.#taken}].${this.#diverted.content}`;
    this.#taken += 1;
    const content = Readable.from(decoded(this.#rawText(), field), { objectMode: false });
    await this.#diverted.take(content);
    if (!content.readableEnded) throw new Error('a file was not read to its end');
    this.#keep(Buffer.from([quote]));
  }

  #isFile(): boolean {
    const [whole, list, each, ...deeper] = this.#levels;
    if (deeper.length > 0 || each?.kind !== 'object' || each.name !== this.#diverted.content) return false;
    return whole?.kind === 'object' && whole.name === this.#diverted.field && list?.kind === 'list';
  }

  /** Keeps a text to its closing quote, and returns its beginning as it is written; null when it is longer. */
  async #plainText(most: number): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    let length = 0;
    for await (const part of this.#rawText()) {
      this.#keep(part);
      length += part.length;
      if (length <= most) parts.push(part);
    }
    this.#keep(Buffer.from([quote]));
    return length <= most ? Buffer.concat(parts) : null;
  }

  /** What stands between two quotes, with escapes as they are, each whole. Reads over the closing one. */
  async *#rawText(): AsyncGenerator<Buffer> {
    for (;;) {
      if (!(await this.#more())) throw breaksOff();
      const start = this.#at;
      const { at, isEnd } = endOfPart(this.#chunk, start);
      this.#at = isEnd ? at + 1 : at;
      if (at > start) yield this.#chunk.subarray(start, at);
      if (isEnd) return;
      // An escape that goes on in the next chunk.
      if (at < this.#chunk.length) yield await this.#escape();
    }
  }

  async #escape(): Promise<Buffer> {
    const bytes = [await this.#byte(), await this.#byte()];
    if (bytes[1] === 0x75) for (let nth = 0; nth < 4; nth += 1) bytes.push(await this.#byte());
    return Buffer.from(bytes);
  }

  async #byte(): Promise<number> {
    if (!(await this.#more()))
      throw fail('invalid_json', { message: 'The body is not valid JSON: it breaks off' });
    const byte = this.#chunk[this.#at] ?? 0;
    this.#at += 1;
    return byte;
  }

  async #more(): Promise<boolean> {
    while (this.#at >= this.#chunk.length && !this.#isEnd) {
      const next = await this.#chunks.next();
      this.#isEnd = next.done === true;
      if (next.done !== true) {
        this.#chunk = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
        this.#at = 0;
      }
    }
    return this.#at < this.#chunk.length;
  }

  #keep(bytes: Buffer): void {
    this.#keptBytes += bytes.length;
    if (this.#keptBytes > this.#diverted.mostBytes) throw tooLarge(this.#diverted.mostBytes);
    this.#kept.push(Buffer.from(bytes));
  }
}

/** Where a text ends in a chunk: at its closing quote, before an escape that is not whole, or with the chunk. */
function endOfPart(chunk: Buffer, start: number): { at: number; isEnd: boolean } {
  let from = start;
  let closing = chunk.indexOf(quote, from);
  for (;;) {
    const escaped = chunk.indexOf(backslash, from);
    if (closing >= 0 && (escaped < 0 || closing < escaped)) return { at: closing, isEnd: true };
    if (escaped < 0) return { at: chunk.length, isEnd: false };
    const length = chunk[escaped + 1] === 0x75 ? 6 : 2;
    if (escaped + length > chunk.length) return { at: escaped, isEnd: false };
    from = escaped + length;
    if (closing >= 0 && closing < from) closing = chunk.indexOf(quote, from);
  }
}

function breaksOff() {
  return fail('invalid_json', { message: 'The body is not valid JSON: it breaks off' });
}

/** What an escape stands for; what is none stays as it is. */
function unescaped(written: string): string {
  return written.replaceAll(/\\(?:u[0-9a-fA-F]{4}|.)/g, (escaped) => {
    try {
      return String(JSON.parse(`"${escaped}"`));
    } catch {
      return escaped;
    }
  });
}

/** A name as it is meant; empty for one that cannot matter. */
function nameOf(written: Buffer | null): string {
  return written === null ? '' : unescaped(written.toString('latin1'));
}

/** Base64 as RFC 4648 has it, with padding, in a text of JSON whose letters may be escaped. */
async function* decoded(parts: AsyncIterable<Buffer>, field: string): AsyncGenerator<Buffer> {
  let left = '';
  let isPadded = false;
  for await (const part of parts) {
    const written = part.toString('latin1');
    const text = written.includes('\\') ? unescaped(written) : written;
    // After its padding nothing comes, but more of that.
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || (isPadded && !/^=*$/.test(text))) throw noBase64(field);
    isPadded ||= text.endsWith('=');
    left += text;
    const whole = left.length - (left.length % 4);
    // The last four stay: only of them it is known whether they end as they may.
    const ready = isPadded ? 0 : whole - (whole > 0 && left.length === whole ? 4 : 0);
    if (ready > 0) {
      yield Buffer.from(left.slice(0, ready), 'base64');
      left = left.slice(ready);
    }
  }
  const last = Buffer.from(left, 'base64');
  if (last.toString('base64') !== left) throw noBase64(field);
  if (last.length > 0) yield last;
}

function noBase64(field: string) {
  return fail('invalid_request', {
    details: [{ field, message: 'must be base64 with padding, in one line' }],
  });
}
