import { openCable } from './cable.ts';

/** What a process sends to its database, counted on the way. */
export interface StatementTap {
  /** The same database, over the tap. All that go over it are of one server. */
  through(url: string): string;
  /** How often each statement was sent since the last look, by its name; what has none by its first words. */
  take(): Map<string, number>;
  close(): Promise<void>;
}

export async function openStatementTap(): Promise<StatementTap> {
  let counts = new Map<string, number>();
  const cable = await openCable(() => reader((name) => counts.set(name, (counts.get(name) ?? 0) + 1)));
  return {
    through: cable.through,
    take() {
      const taken = counts;
      counts = new Map();
      return taken;
    },
    close: cable.close,
  };
}

/** Reads what a client sends (PostgreSQL's protocol, version 3): one without a type at first, then a type and a length each. */
function reader(onStatement: (name: string) => void): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let hasBegun = false;
  let bound = '';
  const parsed = new Map<string, string>();
  const text = (bytes: Buffer, from: number): string => bytes.toString('utf8', from, bytes.indexOf(0, from));
  const firstWords = (sql: string) => sql.trim().replaceAll(/\s+/g, ' ').slice(0, 60);
  const readOne = (type: string, body: Buffer): void => {
    if (type === 'Q') onStatement(firstWords(text(body, 0)));
    if (type === 'P') {
      const name = text(body, 0);
      parsed.set(name, name === '' ? firstWords(text(body, 1)) : name);
    }
    if (type === 'B') bound = text(body, body.indexOf(0) + 1);
    if (type === 'E') onStatement(parsed.get(bound) ?? bound);
  };
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const head = hasBegun ? 1 : 0;
      if (rest.length < head + 4) return;
      const length = rest.readUInt32BE(head);
      if (rest.length < head + length) return;
      if (hasBegun) readOne(rest.toString('latin1', 0, 1), rest.subarray(5, 1 + length));
      // A client that asks for encryption first begins once more.
      else hasBegun = rest.readUInt32BE(4) !== 80_877_103;
      rest = rest.subarray(head + length);
    }
  };
}
