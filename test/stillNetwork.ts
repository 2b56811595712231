import { connect, createServer, type Socket } from 'node:net';
import pg from 'pg';

/** Stands between the product and its database, as a network does that may stop carrying anything. */
export interface StillNetwork {
  /** Of the same database, through here. */
  url: string;
  /** From now on packets are swallowed: connections stay open, new ones too, and nobody hears a word any more. */
  swallow(): void;
  /** New connections get through again; those from before stay as they are. */
  carry(): void;
  close(): void;
}

export async function stillNetwork(databaseUrl: string): Promise<StillNetwork> {
  const { host, port, user, password, database } = new pg.Client({ connectionString: databaseUrl });
  const sockets = new Set<Socket>();
  let era = 0;
  let isStill = false;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const begun = era;
    const far = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    const carries = () => !isStill && begun === era;
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => carries() && to.write(bytes));
      from.on('end', () => carries() && to.end());
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        if (carries()) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: ours } = server.address() as { port: number };
  const as = `${encodeURIComponent(user ?? '')}${password ? `:${encodeURIComponent(password)}` : ''}`;
  return {
    url: `postgres://${as}@127.0.0.1:${ours}/${database}`,
    swallow() {
      isStill = true;
      era += 1;
    },
    carry() {
      isStill = false;
      era += 1;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
