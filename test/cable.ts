import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

/** What lies between a product and its database, and can be cut. */
export interface Cable {
  /** The same database, over the cable. All that go over it are of one server. */
  through(url: string): string;
  /** All connections end, and none begins. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  close(): Promise<void>;
}

/** `listen` makes one ear for each connection, which hears what is sent to the database. */
export async function openCable(listen?: () => (bytes: Buffer) => void): Promise<Cable> {
  let target: NetConnectOpts | null = null;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (target === null) throw new Error('nothing goes over the cable yet');
    const far = connect(target);
    if (listen !== undefined) near.on('data', listen());
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one
        .on('error', () => other.destroy())
        .once('close', () => {
          sockets.delete(one);
          other.destroy();
        });
    }
  });
  const listenAt = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
  await listenAt(0);
  const { port } = server.address() as { port: number };
  const cut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const each of sockets) each.destroy();
    });
  return {
    through(url) {
      // Not `URL` as it is: it refuses an empty host, which means a unix socket.
      const parsed = new URL(url.replace('@/', '@localhost/'));
      const folder = parsed.searchParams.get('host');
      const own = Number(parsed.port || parsed.searchParams.get('port') || 5_432);
      target = folder === null ? { host: parsed.hostname, port: own } : { path: `${folder}/.s.PGSQL.${own}` };
      for (const name of ['host', 'port']) parsed.searchParams.delete(name);
      parsed.hostname = '127.0.0.1';
      parsed.port = String(port);
      return parsed.href;
    },
    cut,
    mend: () => listenAt(port),
    close: async () => {
      if (server.listening) await cut();
    },
  };
}
