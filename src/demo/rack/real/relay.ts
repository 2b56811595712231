import { rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface SerialRelay {
  port: number;
  /** Whether the BMC holds its end. */
  isConnected(): boolean;
  close(): void;
}

/**
 * The wire between a server's serial port, which connects to the socket or the port `server`, and its BMC, which connects to `port` (0: one that is free): a BMC that finds nobody there tries again only
 * after seconds, and a server comes and goes.
 */
export async function startRelay(serverAt: string | number, port = 0): Promise<SerialRelay> {
  const ends: { bmc: Socket | null; server: Socket | null } = { bmc: null, server: null };
  const join = (own: 'bmc' | 'server', other: 'bmc' | 'server') =>
    createServer((socket) => {
      ends[own]?.destroy();
      ends[own] = socket;
      socket.on('data', (chunk) => void ends[other]?.write(chunk));
      socket.on('error', () => undefined);
      socket.once('close', () => {
        if (ends[own] === socket) ends[own] = null;
      });
    });
  if (typeof serverAt === 'string') rmSync(serverAt, { force: true });
  const [bmc, server] = [join('bmc', 'server'), join('server', 'bmc')];
  await new Promise<void>((resolve) => bmc.listen(port, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => {
    if (typeof serverAt === 'string') server.listen(serverAt, resolve);
    else server.listen(serverAt, '127.0.0.1', resolve);
  });
  return {
    port: (bmc.address() as AddressInfo).port,
    isConnected: () => ends.bmc !== null,
    close() {
      for (const each of [bmc, server]) each.close();
      for (const each of [ends.bmc, ends.server]) each?.destroy();
    },
  };
}
