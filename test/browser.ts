import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';

/** Debian's own, which `test/packages.ts` installs; without it the test fails, and says so. */
/** Where Debian puts Chromium without its windows: the same pages for two thirds of the processor's time. */
export const chromiumProgram = '/usr/bin/chromium-headless-shell';

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumProgram,
    args: ['--no-sandbox', '--disable-background-networking', '--disable-gpu'],
  });
}

/** A device for passkeys that knows its owner, and the session by which a test tells it what to do. */
export interface PasskeyDevice {
  devtools: CDPSession;
  authenticatorId: string;
}

/** Gives the browser of a page a device for passkeys, which answers whenever it is asked. */
export async function addPasskeyDevice(page: Page): Promise<PasskeyDevice> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return { devtools, authenticatorId };
}

export interface Door {
  url: string;
  /** Nobody is reached any more, and what was open is cut off, as when the product is gone. */
  shut(): void;
  unshut(): void;
  close(): Promise<void>;
}

/**
 * A place where customers reach a product that starts later: its address is known before. Passes on what it is asked to
 * the port that `to` names then.
 */
export async function openDoor(to: () => string): Promise<Door> {
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
  let isShut = false;
  const open = new Set<Duplex>();
  server.on('connection', (socket) => {
    // The port stays taken: another program could have it when customers are to come back.
    if (isShut) return socket.destroy();
    open.add(socket);
    socket.on('close', () => open.delete(socket));
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
    shut() {
      isShut = true;
      for (const socket of open) socket.destroy();
    },
    unshut() {
      isShut = false;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of through) socket.destroy();
      }),
  };
}
