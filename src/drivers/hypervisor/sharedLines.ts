import { Duplex } from 'node:stream';

/** Serial lines that take one listener each, shared by all who look at them. */
export interface SharedLines {
  /**
   * Joins the line of that name, which `open` opens for the first; its last listener closes it. Who joins later is first given what was
   * printed last, some screens of it.
   */
  attach(name: string, open: () => Promise<Duplex>): Promise<Duplex>;
  /** Ends the line of that name for all who look at it, where it does not end by itself. */
  end(name: string): void;
  close(): void;
}

const slowReaderBytes = 2 ** 20;
const keptBytes = 2 ** 14;

export function sharedLines(): SharedLines {
  const lines = new Map<string, Promise<SharedLine>>();

  function line(name: string, open: () => Promise<Duplex>): Promise<SharedLine> {
    const known = lines.get(name);
    if (known) return known;
    const opening = open().then((socket) => {
      socket.once('close', forget);
      return sharedLine(socket);
    });
    const forget = () => {
      if (lines.get(name) === opening) lines.delete(name);
    };
    opening.catch(forget);
    lines.set(name, opening);
    return opening;
  }

  function end(name: string): void {
    lines
      .get(name)
      ?.then((shared) => shared.close())
      .catch(() => undefined);
    lines.delete(name);
  }

  return {
    async attach(name, open) {
      for (;;) {
        const opening = line(name, open);
        const stream = (await opening).attach();
        if (stream) return stream;
        if (lines.get(name) === opening) lines.delete(name); // its last listener has just left
      }
    },
    end,
    close() {
      for (const name of [...lines.keys()]) end(name);
    },
  };
}

interface SharedLine {
  /** Null when the line has ended. */
  attach(): Duplex | null;
  close(): void;
}

function sharedLine(socket: Duplex): SharedLine {
  const readers = new Set<Duplex>();
  let printed = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    printed = Buffer.concat([printed, chunk].map((each) => each.subarray(-keptBytes))).subarray(-keptBytes);
    for (const reader of readers) {
      if (reader.readableLength > slowReaderBytes) reader.destroy();
      else reader.push(chunk);
    }
  });
  socket.once('close', () => {
    for (const reader of readers) reader.destroy();
  });
  return {
    attach() {
      if (socket.destroyed) return null;
      const reader = new Duplex({
        allowHalfOpen: false,
        read: () => undefined,
        write: (chunk, _encoding, done) => {
          if (socket.destroyed) done();
          else socket.write(chunk, () => done());
        },
        destroy: (error, done) => {
          readers.delete(reader);
          if (readers.size === 0) socket.destroy();
          done(error);
        },
      });
      if (printed.length > 0) reader.push(Buffer.from(printed));
      readers.add(reader);
      return reader;
    },
    close: () => socket.destroy(),
  };
}
