import { createConnection, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { HypervisorError } from '../contract.ts';
import type { ConsoleKind } from '../management.ts';
import type { MachineFiles } from './files.ts';

export interface Consoles {
  open(files: MachineFiles, kind: ConsoleKind): Promise<Duplex>;
  close(): void;
}

const slowReaderBytes = 2 ** 20;

/**
 * Consoles of running machines. QEMU takes any number of screens, but one listener on the serial line: so all
 * who look at a machine's line share one connection here, and see and type the same. Every console ends when
 * its machine's process does, since the connection is to that process.
 */
export function machineConsoles(): Consoles {
  const lines = new Map<string, Promise<SharedLine>>();

  function line(files: MachineFiles): Promise<SharedLine> {
    const known = lines.get(files.id);
    if (known) return known;
    const opening = connect(files.serialSocket, files.id).then((socket) => {
      socket.once('close', forget);
      return sharedLine(socket);
    });
    const forget = () => {
      if (lines.get(files.id) === opening) lines.delete(files.id);
    };
    opening.catch(forget);
    lines.set(files.id, opening);
    return opening;
  }

  return {
    async open(files, kind) {
      if (kind === 'vnc') return connect(files.vncSocket, files.id);
      for (;;) {
        const opening = line(files);
        const stream = (await opening).attach();
        if (stream) return stream;
        if (lines.get(files.id) === opening) lines.delete(files.id); // its last listener has just left
      }
    },
    close() {
      for (const each of lines.values()) each.then((shared) => shared.close()).catch(() => undefined);
      lines.clear();
    },
  };
}

function connect(path: string, id: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once('error', (cause) =>
      reject(new HypervisorError('not_running', `${id} has no console: it is not running`, { cause })),
    );
    socket.once('connect', () => {
      socket.removeAllListeners('error').on('error', () => socket.destroy());
      resolve(socket);
    });
  });
}

interface SharedLine {
  /** Null when the line has ended. */
  attach(): Duplex | null;
  close(): void;
}

function sharedLine(socket: Socket): SharedLine {
  const readers = new Set<Duplex>();
  socket.on('data', (chunk: Buffer) => {
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
      readers.add(reader);
      return reader;
    },
    close: () => socket.destroy(),
  };
}
