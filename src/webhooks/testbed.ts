import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  got: Received[];
  url: string;
}

/** Hosts of customers on this machine. `answer` says with which status, null never answers. */
export function receivers() {
  const servers: Server[] = [];
  return {
    async open(
      answer: (nth: number, received: Received) => number | null | Promise<number | null> = () => 200,
      host = '127.0.0.1',
    ): Promise<Receiver> {
      const got: Received[] = [];
      const server = createServer((request, response) => {
        let body = '';
        request.on('data', (chunk) => {
          body += chunk;
        });
        request.on('end', async () => {
          const received = { headers: request.headers, body };
          got.push(received);
          const status = await answer(got.length, received);
          if (status === null) return;
          response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('thanks\0');
        });
      });
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, host, resolve));
      return { got, url: `http://${host}:${(server.address() as AddressInfo).port}/in?a=1` };
    },
    close(): void {
      for (const server of servers.splice(0)) server.close().closeAllConnections();
    },
  };
}
