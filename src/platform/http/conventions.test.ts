import { request as rawRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeApi } from './api.ts';
import { routes } from './route.ts';
import { IdParams, Nothing } from './schema.ts';
import { type Demo, picture, startDemo } from './testbed.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => closeApi(demo.app));

describe('the envelope', () => {
  it('wraps what a handler returns, with status 200', async () => {
    const { status, body, headers } = await demo.call('POST', '/api/dashboard/notes/poke');
    expect([status, body]).toEqual([200, { success: true, data: {} }]);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('sends nothing that the schema does not name when responses are not checked', async () => {
    const unchecked = await startDemo({ env: { CHECK_RESPONSES: 'off' } });
    expect((await unchecked.call('GET', '/api/leak')).body.data).toEqual({ name: 'x' });
    await closeApi(unchecked.app);
  });

  it('makes a 500 of an answer outside its schema when responses are checked, and logs the field', async () => {
    const { status, text } = await demo.call('GET', '/api/leak');
    expect(status).toBe(500);
    expect(text).not.toContain('password_hash');
    expect(JSON.stringify(demo.logged.at(-2))).toContain('/data/password_hash is not in the schema');
  });

  it('makes a 500 of an error that the route does not declare when responses are checked', async () => {
    expect((await demo.call('GET', '/api/undeclared')).body.code).toBe('internal_error');
  });

  it('carries headers and bytes where a handler asks for them', async () => {
    expect((await demo.call('GET', '/api/hello')).headers.get('set-cookie')).toBe('a=b');
    const file = await demo.call('GET', '/api/file');
    expect(file.text).toBe('%PDF');
    expect(file.headers.get('content-type')).toBe('application/pdf');
    expect(file.headers.get('content-disposition')).toBe(
      `attachment; filename="Rechnung _1_ _.pdf"; filename*=UTF-8''Rechnung%20%221%22%20%C3%BC.pdf`,
    );
  });

  it('sends bytes that have a tag once, and again when they are others', async () => {
    const get = (headers = {}) => demo.call('GET', '/api/picture', { headers });
    const first = await get();
    expect([first.status, first.text]).toEqual([200, 'one']);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    const known = { 'if-none-match': first.headers.get('etag') ?? '' };
    const same = await get(known);
    expect([same.status, same.text]).toEqual([304, '']);
    expect(same.headers.get('etag')).toBe(first.headers.get('etag'));
    picture.bytes = Buffer.from('two');
    const other = await get(known);
    expect([other.status, other.text]).toEqual([200, 'two']);
    expect(other.headers.get('etag')).not.toBe(first.headers.get('etag'));
  });
});

describe('errors', () => {
  it('have the body of the specification', async () => {
    const { status, body } = await demo.call('GET', '/api/dashboard/notes', { as: 'nobody' });
    expect(status).toBe(401);
    expect(body).toEqual({
      success: false,
      error: 'Unauthorized',
      message: 'Invalid or expired API key',
      code: 'unauthorized',
      request_id: expect.any(String),
    });
  });

  it('say nothing about what went wrong inside, and log it under the request id', async () => {
    const { status, body, text } = await demo.call('GET', '/api/crash', {
      headers: { 'x-request-id': 'my-1' },
    });
    expect([status, body.code, body.request_id]).toEqual([500, 'internal_error', 'my-1']);
    expect(text).not.toContain('1234');
    expect(demo.logged.find((line) => line.request_id === 'my-1' && 'err' in line)).toBeDefined();
  });

  it('say that a value is wrong when it takes the database to notice, and log that no check of ours did', async () => {
    for (const code of ['22007', '22008', '22P02']) {
      const refused = routes('', { tag: 'Refused' }, (route) => {
        route.get(
          '/refused',
          { auth: 'public', operation: 'refuse', summary: 'Refuse', data: Nothing },
          () => {
            throw Object.assign(new Error('date/time field value out of range'), { code });
          },
        );
      });
      const refusing = await startDemo({ routes: [refused] });
      const { status, body } = await refusing.call('GET', '/api/refused');
      expect([status, body.code]).toEqual([400, 'invalid_request']);
      expect(refusing.logged.find(({ level }) => level === 40)).toMatchObject({
        err: { code },
      });
      await closeApi(refusing.app);
    }
  });

  it('answer unknown paths with 404', async () => {
    for (const path of ['/nowhere', `/api/dashboard/notes/${'9'.repeat(2000)}`]) {
      const { status, body } = await demo.call('GET', path);
      expect([status, body.success]).toEqual([404, false]);
    }
  });

  it('answer a method that a path does not have with 405 and those it has', async () => {
    for (const method of ['DELETE', 'PROPFIND']) {
      const { status, headers, body } = await demo.call(method, '/api/hello');
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
      expect(body).toMatchObject({ success: false, error: 'Method Not Allowed', code: 'method_not_allowed' });
    }
  });

  it('answer broken percent-encoding, broken HTTP and oversized headers in the same shape', async () => {
    expect((await raw('GET /api/%E0%A4%A HTTP/1.1\r\nHost: x\r\n\r\n')).body.code).toBe('malformed_request');
    expect((await raw('NONSENSE\r\n\r\n')).body.code).toBe('malformed_request');
    const large = await raw(`GET /api/hello HTTP/1.1\r\nHost: x\r\nX-Much: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect([large.status, large.body.code]).toEqual([431, 'headers_too_large']);
  });
});

describe('the address of a caller', () => {
  const seen = async (forwarded: string) => {
    const headers = { 'x-forwarded-for': forwarded };
    const { status, body } = await proxied.call('GET', '/api/hello', { as: null, headers });
    return [status, body.data?.hello];
  };
  let proxied: Demo;
  beforeAll(async () => {
    proxied = await startDemo({ env: { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMITS: 'on' } });
  });
  afterAll(() => closeApi(proxied.app));

  it('is what trusted proxies say, without the zone', async () => {
    expect(await seen('203.0.113.9')).toEqual([200, '203.0.113.9']);
    expect(await seen('2001:db8::1')).toEqual([200, '2001:db8::1']);
    expect(await seen('fe80::1%eth0')).toEqual([200, 'fe80::1']);
  });

  it("is the connection's when what they say is no address", async () => {
    for (const text of [
      '1:2:3:4:5:6:7:8::1',
      'unknown',
      "1.2.3.4'; --",
      '203.0.113.9:443',
      '%eth0',
      'fe80::g%1',
    ]) {
      expect(await seen(text)).toEqual([200, '127.0.0.1']);
    }
  });

  it('is the last one before the proxies that are trusted, of both families, however many forward', async () => {
    const chained = await startDemo({
      env: { TRUSTED_PROXIES: '127.0.0.0/8,10.1.0.0/16,fd00:1::/32', HOST: '127.0.0.1' },
    });
    const of = async (forwarded: string) => {
      const headers = { 'x-forwarded-for': forwarded };
      return (await chained.call('GET', '/api/hello', { as: null, headers })).body.data.hello;
    };
    expect(await of('203.0.113.9, 10.1.2.3')).toBe('203.0.113.9');
    expect(await of('2001:db8::9, fd00:1:2::3, 10.1.255.1')).toBe('2001:db8::9');
    expect(await of('203.0.113.9, ::ffff:10.1.2.3')).toBe('203.0.113.9');
    // What stands before it anybody can write.
    expect(await of('198.51.100.1, 203.0.113.9, fd00:1::3')).toBe('203.0.113.9');
    expect(await of('198.51.100.1, 10.2.0.1, 10.1.2.3')).toBe('10.2.0.1');
    expect(await of('198.51.100.1, fd00:2::3')).toBe('fd00:2::3');
    expect(await of('10.1.2.3, fd00:1::3')).toBe('10.1.2.3');
    await closeApi(chained.app);
  });

  it("is the connection's where no proxy is trusted", async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' };
    expect((await demo.call('GET', '/api/hello', { as: null, headers })).body.data.hello).toBe('127.0.0.1');
  });

  it('opens /metrics only when it is allowed itself', async () => {
    const metrics = async (forwarded: string) =>
      (await proxied.call('GET', '/metrics', { as: null, headers: { 'x-forwarded-for': forwarded } })).status;
    expect([await metrics('203.0.113.9'), await metrics('unknown')]).toEqual([403, 403]);
  });
});

describe('declarations', () => {
  it('are refused when an option would be ignored, names nothing, or the path and its params disagree', () => {
    const declare = (path: string, options: object) => () =>
      routes('/x', { tag: 'X' }, (route) => {
        route.get(
          path,
          { auth: 'account', operation: 'x', summary: 'X', data: Nothing, ...options },
          () => ({}),
        );
      });
    expect(declare('/a', { permission: 'x' })).toThrow('permission is for');
    expect(declare('/a', { staffRoles: ['x'] })).toThrow('staffRoles is for');
    expect(declare('/:id', {})).toThrow('its path names [id]');
    expect(declare('/:id', { params: IdParams })).not.toThrow();
    expect(declare('/a', { operation: 'Get note' })).toThrow('operation is a name in camelCase');
  });
});

describe('request ids', () => {
  it('come back when they can stand in a log, and are replaced otherwise', async () => {
    const sent = await demo.call('GET', '/api/hello', { headers: { 'x-request-id': 'abc.DEF_1-2' } });
    expect(sent.headers.get('x-request-id')).toBe('abc.DEF_1-2');
    for (const bad of ['a b', '<script>', 'x'.repeat(101), '']) {
      const { headers } = await demo.call('GET', '/api/hello', { headers: { 'x-request-id': bad } });
      expect(headers.get('x-request-id')).toMatch(/^[\w.]+-[0-9a-z]+$/);
    }
  });

  it('stand in a log line that names the pattern, not what was sent', async () => {
    await demo.call('GET', '/api/dashboard/notes/5?x=secret', { headers: { 'x-request-id': 'line-1' } });
    await expect
      .poll(() => demo.logged.find((line) => line.request_id === 'line-1'))
      .toMatchObject({
        method: 'GET',
        route: '/api/dashboard/notes/:id',
        status: 400,
        user: 7,
        organization: 1,
      });
    expect(JSON.stringify(demo.logged)).not.toContain('"ada"');
    expect(JSON.stringify(demo.logged)).not.toContain('x=secret');
  });
});

describe('shapes', () => {
  const post = (body: unknown) => demo.call('POST', '/api/dashboard/notes/poke', { body });
  const create = (body: unknown) => demo.call('POST', '/api/dashboard/notes', { body });

  it('are refused with every problem named in clear words', async () => {
    const { status, body } = await create({ text: 5, mood: 'odd', extra: 1, tags: [{ id: '1' }, {}, 3] });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.details).toEqual(
      expect.arrayContaining([
        { field: 'text', message: 'must be a string, not an integer' },
        { field: 'mood', message: 'must be one of good, bad' },
        { field: 'extra', message: 'is not a field of this request; there are text, mood, tags' },
        { field: 'tags[0].id', message: 'must be an integer, not a string: send 1 without quotes' },
        { field: 'tags[1].id', message: 'is missing' },
        { field: 'tags[2]', message: 'must be an object, not an integer' },
      ]),
    );
    expect(body.details).toHaveLength(6);
  });

  it('never coerce, and check params and query strictly', async () => {
    const get = async (path: string) => (await demo.call('GET', `/api/dashboard/notes${path}`)).body;
    expect((await get('/abc')).details).toEqual([{ field: 'id', message: 'must be an integer' }]);
    expect((await get('/9007199254740993')).code).toBe('invalid_request');
    expect((await get('/0')).code).toBe('invalid_request');
    for (const query of [
      'page=0',
      'page=x',
      'limit=101',
      'page=1&page=2',
      'nope=1',
      'page[]=1',
      'mood=%00',
      'mood=%zz',
      '__proto__=1',
      'page=1.5',
      'page=',
      'page=%2B1',
    ]) {
      const body = await get(`?${query}`);
      expect([query, body.code, body.details?.length]).toEqual([query, 'invalid_request', 1]);
    }
    expect((await get('?page=2&limit=25&mood=bad')).data).toMatchObject({
      pages: 3,
      current_page: 2,
      entries: 1,
      total: 51,
      next_cursor: null,
    });
  });

  it('let a body be absent or empty where none is needed', async () => {
    for (const body of [undefined, '', '{}', ' {} ']) expect((await post(body)).status).toBe(200);
    for (const body of ['null', '[]', '1', '{"a":1}'])
      expect((await post(body)).body.code).toBe('invalid_request');
  });

  it('refuse bodies that other readers disagree about', async () => {
    const code = async (body: unknown) => (await post(body)).body.code;
    expect(await code('{"a":1,"a":2}')).toBe('duplicate_key');
    expect(await code('{"a":1,"\\u0061":2}')).toBe('duplicate_key');
    expect(await code('['.repeat(33) + ']'.repeat(33))).toBe('nesting_too_deep');
    expect(await code('['.repeat(500_000))).toBe('nesting_too_deep');
    expect(await code('{')).toBe('invalid_json');
    expect(await code(new Uint8Array([0x22, 0xff, 0x22]))).toBe('invalid_json');
    for (const body of [
      '{"__proto__":1}',
      '{"constructor":1}',
      '{"a":"\\u0000"}',
      '{"a":"\\ud800"}',
      '{"a":1e400}',
      '{"a":9007199254740993}',
    ]) {
      expect([body, await code(body)]).toEqual([body, 'invalid_request']);
    }
  });

  it('are limited in size and type', async () => {
    const large = await create({ text: 'x'.repeat(1_048_576) });
    expect([large.status, large.body.code]).toEqual([413, 'body_too_large']);
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/json; charset=latin1',
      'nonsense',
      'application/jsonp',
    ]) {
      const { status, body } = await demo.call('POST', '/api/dashboard/notes/poke', {
        body: '{}',
        headers: { 'content-type': type },
      });
      expect([type, status, body.code]).toEqual([type, 415, 'unsupported_media_type']);
    }
    for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8']) {
      expect(
        (
          await demo.call('POST', '/api/dashboard/notes/poke', {
            body: '{}',
            headers: { 'content-type': type },
          })
        ).status,
      ).toBe(200);
    }
    const zipped = await demo.call('POST', '/api/dashboard/notes/poke', {
      body: '{}',
      headers: { 'content-encoding': 'gzip' },
    });
    expect(zipped.status).toBe(415);
  });

  it('stay cheap to refuse when they are wrong in many places', async () => {
    const { body } = await create({ text: 'x', tags: Array(200_000).fill(1) });
    expect(body.details.length).toBeLessThan(5);
  });

  it('can be answered in a route’s own words', async () => {
    const checkout = (body: unknown) => demo.call('POST', '/api/cart/checkout', { body });
    expect((await checkout({})).body).toMatchObject({
      code: 'demo_fields',
      message: 'fields are missing',
      details: [{ field: 'products', message: 'is missing' }],
    });
    expect((await checkout({ products: [{ id: '1' }] })).body.code).toBe('invalid_request');
  });
});

describe('every answer', () => {
  it('has headers that keep browsers from misusing it, and none for other origins', async () => {
    for (const path of ['/api/hello', '/nowhere', '/api/crash', '/livez']) {
      const { headers } = await demo.call('GET', path, { headers: { origin: 'https://evil.example' } });
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('access-control-allow-origin')).toBeNull();
      expect(headers.get('x-request-id')).not.toBeNull();
    }
  });

  it('to HEAD is the one to GET without a body', async () => {
    const { status, text } = await demo.call('HEAD', '/api/hello');
    expect([status, text]).toEqual([200, '']);
  });

  it('to OPTIONS names the methods of the path', async () => {
    const { status, headers } = await demo.call('OPTIONS', '/api/dashboard/notes/5', { as: null });
    expect([status, headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS, PATCH']);
  });
});

describe('probes', () => {
  it('tell whether the process lives and whether it can serve', async () => {
    expect((await demo.call('GET', '/livez')).status).toBe(200);
    expect((await demo.call('GET', '/readyz')).status).toBe(200);
    const broken = await startDemo({ ready: () => Promise.reject(new Error('no')) });
    const { status, headers, body } = await broken.call('GET', '/readyz');
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'unavailable', '2']);
    await closeApi(broken.app);
  });

  it('show metrics to loopback only, and not through a proxy nobody trusts', async () => {
    const { status, text } = await demo.call('GET', '/metrics');
    expect(status).toBe(200);
    expect(text).toContain('innkeeper_http_request_duration_seconds_bucket');
    expect(text).toContain('nodejs_eventloop_lag');
    expect(text).toMatch(/^innkeeper_http_requests_in_flight 1$/m);
    expect((await demo.call('GET', '/metrics', { headers: { 'x-forwarded-for': '127.0.0.1' } })).status).toBe(
      403,
    );
  });

  it('count each request in the bucket of its time, by method, route and class of status', async () => {
    const sample = /^innkeeper_http_request_duration_seconds_(\w+)\{(.*)\} (\S+)$/;
    const samplesOf = async (kind: string, ...labels: string[]) =>
      (await demo.call('GET', '/metrics')).text
        .split('\n')
        .map((line) => sample.exec(line) ?? [])
        .filter((found) => found[1] === kind && labels.every((label) => found[2]?.includes(label)))
        .map((found) => Number(found[3]));
    const livez = ['method="GET"', 'route="/livez"', 'status="2xx"'];
    const refused = ['route="/api/dashboard/notes/:id"', 'status="4xx"'];
    const [before = 0] = await samplesOf('count', ...livez);
    for (let i = 0; i < 3; i += 1) await demo.call('GET', '/livez');
    await demo.call('GET', '/api/dashboard/notes/0');
    const buckets = await samplesOf('bucket', ...livez);
    expect(buckets).toEqual(buckets.toSorted((a, b) => a - b));
    expect(buckets.at(-1)).toBe(before + 3);
    expect(await samplesOf('count', ...livez)).toEqual([before + 3]);
    expect((await samplesOf('sum', ...livez))[0]).toBeGreaterThan(0);
    expect((await samplesOf('count', ...refused))[0]).toBeGreaterThan(0);
  });
});

describe('shutting down', () => {
  it('finishes requests under way and takes no new ones', async () => {
    const stopping = await startDemo();
    const slow = stopping.call('GET', '/api/slow');
    await new Promise((resolve) => setTimeout(resolve, 50));
    const closed = closeApi(stopping.app);
    expect((await slow).status).toBe(200);
    await closed;
    await expect(stopping.call('GET', '/livez')).rejects.toThrow();
  });

  it('cuts streams of events at once', async () => {
    const stopping = await startDemo();
    const response = await fetch(`${stopping.url}/api/events`);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('data: 1\n\n');
    const rest = reader?.read().catch(() => ({ done: true }));
    const start = performance.now();
    await closeApi(stopping.app);
    expect(performance.now() - start).toBeLessThan(2_000);
    expect((await rest)?.done).toBe(true);
  });

  it('does not wait longer than it was told', async () => {
    const stopping = await startDemo();
    const slow = stopping.call('GET', '/api/slow').catch(() => null);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const start = performance.now();
    await closeApi(stopping.app, 50);
    expect(performance.now() - start).toBeLessThan(250);
    expect(await slow).toBeNull();
  });
});

/** Sends bytes that no HTTP client would send. */
function raw(text: string): Promise<{ status: number; body: { code: string } }> {
  return new Promise((resolve, reject) => {
    const socket = connect(demo.port, '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      received += chunk;
      const [head = '', body] = received.split('\r\n\r\n');
      if (!body?.endsWith('}')) return;
      socket.destroy();
      resolve({ status: Number(head.split(' ')[1]), body: JSON.parse(body) });
    });
  });
}

it('a body that stops in the middle harms nobody', async () => {
  await new Promise<void>((resolve) => {
    const half = rawRequest(`${demo.url}/api/dashboard/notes`, {
      method: 'POST',
      headers: {
        token: 'ada',
        'x-organization-id': '1',
        'content-type': 'application/json',
        'content-length': '100',
      },
    });
    half.on('error', () => resolve());
    half.write('{"te');
    setTimeout(() => half.destroy(), 50);
  });
  expect((await demo.call('GET', '/livez')).status).toBe(200);
});
