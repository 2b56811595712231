import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { powerDns } from './index.ts';

/** Whatever stands where PowerDNS should. */
let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function askAt(listener: RequestListener): Promise<unknown> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dns = powerDns({ url, apiKey: 'canary-dns-key', timeoutMs: 500 });
  return dns.setName('192.0.2.7', 'a.example.com').catch((error: unknown) => error);
}

const failure = (code: string, permanent: boolean) =>
  expect.objectContaining({ name: 'Error', code, permanent, message: expect.not.stringContaining('canary') });

describe('PowerDNS that is not well', () => {
  it.each([
    [401, true],
    [422, true],
    [429, false],
    [500, false],
    [503, false],
  ])('and answers %i is refused for good: %s', async (status, permanent) => {
    const error = await askAt((_request, response) => response.writeHead(status).end('{"error":"x"}'));
    expect(error).toEqual(failure('dns_refused', permanent));
  });

  it('and says nothing fails for now', async () => {
    expect(await askAt(() => undefined)).toEqual(failure('dns_unreachable', false));
  });

  it('and breaks off in its answer fails for now', async () => {
    const error = await askAt((request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('[');
      setImmediate(() => request.socket.destroy());
    });
    expect(error).toEqual(failure('dns_unreachable', false));
  });

  it('and is somebody else’s page fails for now', async () => {
    const error = await askAt((_request, response) => response.end('<html>It works!</html>'));
    expect(error).toEqual(failure('dns_unreachable', false));
  });

  it('and sends us elsewhere gets no key carried there', async () => {
    const keys: unknown[] = [];
    const error = await askAt((request, response) => {
      keys.push(request.url?.includes('elsewhere'));
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect(error).toEqual(failure('dns_unreachable', false));
    expect(keys).toEqual([false]);
  });
});
