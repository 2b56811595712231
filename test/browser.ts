import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Browser, chromium } from 'playwright-core';

/** Debian's own, which `test/packages.ts` installs; without it the test fails, and says so. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-background-networking', '--disable-gpu'],
  });
}

/**
 * A place where customers reach a product that starts later: its address is known before. Passes on what it is asked to
 * the port that `to` names then.
 */
export async function openDoor(to: () => string): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((asked, answer) => {
    const { hostname, port } = new URL(to());
    const passed = request(
      { hostname, port, method: asked.method, path: asked.url, headers: asked.headers },
      (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
      },
    );
    passed.on('error', (error) => answer.writeHead(502).end(error.message));
    // Whoever goes away is gone behind the door, too: a stream would go on for nobody.
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  // A connection that becomes a WebSocket is passed on as it is, both ways.
  const through = new Set<Duplex>();
  server.on('upgrade', (asked, near, head) => {
    const { hostname, port } = new URL(to());
    const far = connect(Number(port), hostname, () => {
      const headers = asked.rawHeaders.reduce(
        (lines, part, nth) => lines + part + (nth % 2 === 0 ? ': ' : '\r\n'),
        '',
      );
      far.write(`${asked.method} ${asked.url} HTTP/1.1\r\n${headers}\r\n`);
      far.write(head);
      near.pipe(far).pipe(near);
    });
    const ends: [Duplex, Duplex][] = [
      [near, far],
      [far, near],
    ];
    for (const [one, other] of ends) {
      through.add(one);
      one.on('error', () => undefined); // 'close' follows
      one.on('close', () => {
        through.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of through) socket.destroy();
      }),
  };
}
