import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
