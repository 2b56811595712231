import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { closeApi } from './api.ts';
import { limited, Stream } from './bytes.ts';
import { routes } from './route.ts';
import { Nothing } from './schema.ts';
import { type CallOptions, type Demo, received, startDemo } from './testbed.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await startDemo({ requestTimeoutMs: 600 });
});
beforeEach(() => {
  received.length = 0;
});
afterAll(() => closeApi(demo.app));

const call = (method: string, path: string, type: string | null, options: CallOptions = {}) => {
  const headers = { ...(type !== null && { 'content-type': type }), ...options.headers };
  return demo.call(method, `/api/bytes${path}`, { ...options, headers });
};

/** Opens a connection and sends the head of an upload, and more as it is told. */
async function upload(length: number): Promise<{ socket: Socket; answer: Promise<string> }> {
  const socket = connect(demo.port, '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(
    'PUT /api/bytes/large HTTP/1.1\r\nHost: x\r\ntoken: ada\r\n' +
      `Content-Type: application/octet-stream\r\nContent-Length: ${length}\r\n\r\n`,
  );
  return { socket, answer: answerOf(socket) };
}

/** What came back until the connection closed. */
function answerOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

describe('a raw body', () => {
  it('arrives byte by byte as it was sent, by an actor that the route declares', async () => {
    const sent = '{"b": 1,\r\n "a":  1.0, "b": 2}\u0000\ufeff';
    const { status, body } = await call('POST', '/hook', 'application/json; charset=utf-8', { body: sent });
    expect([status, Buffer.from(body.data.sent, 'latin1').toString()]).toEqual([200, sent]);
    expect(received).toEqual([{ bytes: Buffer.byteLength(sent), actor: 'system' }]);
  });

  it('is of a type that the route takes', async () => {
    for (const type of ['text/plain', 'image', 'application/json', 'application/pdfx']) {
      const { status, body } = await call('POST', '/small', type, { body: 'x' });
      expect([type, status, body.message]).toEqual([
        type,
        415,
        'Send Content-Type: image/* or application/pdf',
      ]);
    }
    expect(
      (
        await call('POST', '/hook', 'application/json', {
          body: 'x',
          headers: { 'content-encoding': 'gzip' },
        })
      ).status,
    ).toBe(415);
    expect(received).toEqual([]);
  });

  it('is there, and not longer than the route reads', async () => {
    const limit = {
      status: 413,
      body: { code: 'body_too_large', message: 'The body is too large; at most 1000 bytes are read' },
    };
    expect(await call('POST', '/hook', 'application/json', { body: 'x'.repeat(1_001) })).toMatchObject(limit);
    expect((await call('POST', '/hook', 'application/json', { body: 'x'.repeat(1_000) })).status).toBe(200);
    const { status, body } = await call('POST', '/hook', 'application/json');
    expect([status, body.details]).toEqual([400, [{ field: 'body', message: 'is missing' }]]);
  });
});

describe('a stream', () => {
  it('is handed over whole', async () => {
    const { status, body } = await call('PUT', '/large', 'application/octet-stream', {
      body: Buffer.alloc(3_000_000),
    });
    expect([status, body.data]).toEqual([200, { bytes: 3_000_000 }]);
    expect(received.length).toBeGreaterThan(1);
  });

  it('ends at the limit, whether or not its length was told', async () => {
    const told = await call('PUT', '/large', 'application/octet-stream', { body: Buffer.alloc(8_000_001) });
    expect([told.status, told.body.code, received]).toEqual([413, 'body_too_large', []]);
    const socket = connect(demo.port, '127.0.0.1');
    const answer = answerOf(socket);
    socket.write(
      'PUT /api/bytes/large HTTP/1.1\r\nHost: x\r\ntoken: ada\r\n' +
        'Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    for (let sent = 0; sent < 9; sent += 1) socket.write(`f4240\r\n${'x'.repeat(1_000_000)}\r\n`);
    expect(await answer).toMatch(/^(HTTP\/1\.1 413 |$)/);
    expect(received.at(-1)?.bytes).toBeLessThanOrEqual(8_000_000);
  });

  it('is read no faster than its handler takes it', async () => {
    let made = 0;
    const source = Readable.from(
      (function* () {
        for (; made < 1_000; made += 1) yield Buffer.alloc(65_536);
      })(),
    );
    const body = limited(source, 1e9);
    for await (const chunk of body) {
      expect(chunk).toHaveLength(65_536);
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(made).toBeLessThan(40);
  });

  it('that its sender breaks off breaks off for the handler, and is nobody else’s fault', async () => {
    const before = demo.logged.length;
    const { socket } = await upload(1_000_000);
    socket.write(Buffer.alloc(200_000));
    await expect.poll(() => received.length).toBeGreaterThan(0);
    socket.destroy();
    await expect
      .poll(() => demo.logged.slice(before).find(({ msg }) => msg === 'request'))
      .toMatchObject({ aborted: true });
    expect(demo.logged.slice(before).filter(({ level }) => level === 50)).toEqual([]);
  });

  it('that does not arrive in time is cut off', async () => {
    const { socket, answer } = await upload(1_000_000);
    const drip = setInterval(() => socket.write('x'), 50);
    const text = await answer.finally(() => clearInterval(drip));
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('left unread does not become the next request', async () => {
    const { status, headers } = await call('PUT', '/large?refuse=true', 'application/octet-stream', {
      body: Buffer.alloc(4_000_000),
    });
    expect([status, headers.get('connection')]).toEqual([409, 'close']);
    expect((await demo.call('GET', '/api/hello')).status).toBe(200);
  });

  it('cannot be repeated by a key', () => {
    const declare = () =>
      routes('', { tag: 'X' }, (route) => {
        route.post(
          '/x',
          { auth: 'account', operation: 'x', summary: 'X', body: Stream(['text/plain']), data: Nothing },
          () => ({}),
        );
      });
    expect(declare).toThrow('it takes idempotency: off');
  });
});

describe('a public write', () => {
  it('says whose act it is', () => {
    const declare = (auth: 'public' | 'account', actor?: 'visitor') => () =>
      routes('', { tag: 'X' }, (route) => {
        route.post(
          '/x',
          { auth, operation: 'x', summary: 'X', data: Nothing, ...(actor && { actor }) },
          () => ({}),
        );
      });
    expect(declare('public')).toThrow('a public write says whose act it is');
    expect(declare('public', 'visitor')).not.toThrow();
    expect(declare('account', 'visitor')).toThrow('actor is for public writes');
  });
});
