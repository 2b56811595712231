import { createConnection, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { HypervisorError } from '../contract.ts';
import type { ConsoleKind } from '../management.ts';
import { sharedLines } from '../sharedLines.ts';
import type { MachineFiles } from './files.ts';

export interface Consoles {
  open(files: MachineFiles, kind: ConsoleKind): Promise<Duplex>;
  close(): void;
}

/**
 * Consoles of running machines. QEMU takes any number of screens, but one listener on the serial line: so all
 * who look at a machine's line share one connection here, and see and type the same. Every console ends when
 * its machine's process does, since the connection is to that process.
 */
export function machineConsoles(): Consoles {
  const lines = sharedLines();

  return {
    async open(files, kind) {
      if (kind === 'vnc') return connect(files.vncSocket, files.id);
      return lines.attach(files.id, () => connect(files.serialSocket, files.id));
    },
    close: () => lines.close(),
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
