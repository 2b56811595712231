/** A key that `ipmitool` takes as a command to itself, at the beginning of a line; sent twice it goes on to the server once. */
const escapeKey = '\x1d';
const lineEnds = [0x0d, 0x0a];

/** Has everything that is typed arrive as it was typed: customers' keys are no commands to our program. */
export class Escaping {
  readonly character = escapeKey;
  #isAtStart = true;

  escape(chunk: Buffer): Buffer {
    const parts: number[] = [];
    for (const byte of chunk) {
      const isEscape = byte === escapeKey.charCodeAt(0);
      if (isEscape && this.#isAtStart) parts.push(byte);
      parts.push(byte);
      this.#isAtStart = lineEnds.includes(byte);
    }
    return Buffer.from(parts);
  }
}
