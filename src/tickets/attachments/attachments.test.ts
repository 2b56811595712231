import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Response } from '../../../test/client.ts';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { type Files, FilesError, folderFiles } from '../../drivers/files/index.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-attachments-'));
const folder = folderFiles({ dir });
/** While it is true, the storage answers nobody. */
let isAway = false;
const away = async () => {
  throw new FilesError('files_unreachable', 'connect ECONNREFUSED');
};
/** While it is true, it takes the beginning of a file and has no room for the rest. */
let isFull = false;
const full = async (content: Buffer | Readable) => {
  const noRoom = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const disk = new Writable({ write: (_chunk, _encoding, done) => done(noRoom) });
  await pipeline(Buffer.isBuffer(content) ? Readable.from([content]) : content, disk).catch((cause) => {
    throw new FilesError('files_full', 'there is no room', { cause });
  });
};
const files: Files = {
  ...folder,
  put: (name, content) => (isAway ? away() : isFull ? full(content) : folder.put(name, content)),
  stream: (...given) => (isAway ? away() : folder.stream(...given)),
  delete: (...given) => (isAway ? away() : folder.delete(...given)),
};

let product: TestProduct;
let ana: Person;
let stranger: Person;
beforeAll(async () => {
  product = await startTestProduct({ drivers: { files }, env: { STAFF_EMAIL: 'noc@example.com' } });
  [ana, stranger] = [await newCustomer(product), await newCustomer(product)];
});
afterAll(async () => {
  await product.stop();
  rmSync(dir, { recursive: true, force: true });
});

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const opening = { subject: 'It is down', department: 'support', priority: 'high', message: 'See beside.' };
const base64 = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64');
const inFolder = () =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;

type Who = Pick<Person, 'key'> & { organizationId?: number };

async function form(
  path: string,
  who: Who,
  parts: [string, string | { bytes: Buffer | string; name: string; type?: string }][],
  headers: Record<string, string> = {},
) {
  const data = new FormData();
  for (const [name, value] of parts) {
    if (typeof value === 'string') data.append(name, value);
    else data.append(name, new Blob([value.bytes], { type: value.type ?? '' }), value.name);
  }
  const response = await fetch(`${product.url}/api${path}`, {
    method: 'POST',
    headers: { ...identity(who), ...headers },
    body: data,
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Response['body'],
  };
}
const identity = ({ key, organizationId }: Who) => ({
  token: key,
  ...(organizationId !== undefined && { 'x-organization-id': String(organizationId) }),
});
const fields: [string, string][] = Object.entries(opening);

async function download(path: string, who: Who) {
  const response = await fetch(`${product.url}/api${path}`, { headers: identity(who) });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** Nothing is different after a request that is refused: no row, no file. */
async function refused(send: () => Promise<{ status: number; body: Response['body'] }>) {
  await settled(product);
  const before = [await contents(product), inFolder()];
  const { status, body } = await send();
  expect([await contents(product), inFolder()]).toEqual(before);
  return { status, code: body.code, details: body.details, message: body.message };
}

describe('files come with a ticket', () => {
  it('in JSON, and are given back byte for byte, to be saved and never shown', async () => {
    const name = 'Übersicht "1".png';
    const { body } = await ana.post('/dashboard/tickets/create', {
      ...opening,
      attachments: [
        { name, content_base64: base64(png) },
        { content_base64: base64('<script>alert(1)</script>\n'), name: 'page.html' },
        { name: 'empty.txt', content_base64: '' },
      ],
    });
    const [reply] = body.data.ticket.replies;
    const id = expect.any(Number);
    expect(reply.attachments).toEqual([
      { id, name: 'Übersicht _1_.png', type: 'image/png', size: png.length },
      { id, name: 'page.html', type: 'text/plain', size: 26 },
      { id, name: 'empty.txt', type: 'text/plain', size: 0 },
    ]);
    const read = await ana.get(`/dashboard/tickets/${body.data.ticket.tid}`);
    expect(read.body.data.ticket.replies).toEqual([reply]);

    const { response, bytes } = await download(
      `/dashboard/tickets/attachments/${reply.attachments[0].id}`,
      ana,
    );
    expect([response.status, bytes.equals(png)]).toEqual([200, true]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(png.length),
      'content-disposition': `attachment; filename="_bersicht _1_.png"; filename*=UTF-8''%C3%9Cbersicht%20_1_.png`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(response.headers.get('set-cookie')).toBeNull();
    const page = await download(`/dashboard/tickets/attachments/${reply.attachments[1].id}`, ana);
    expect([page.response.headers.get('content-type'), page.bytes.toString()]).toEqual([
      'text/plain',
      '<script>alert(1)</script>\n',
    ]);
    const empty = await download(`/dashboard/tickets/attachments/${reply.attachments[2].id}`, ana);
    expect([empty.response.status, empty.bytes.length]).toEqual([200, 0]);
  });

  it('as a form, with a new ticket and with a reply, and numbers among its fields', async () => {
    const sent = await form('/dashboard/tickets/create', ana, [
      ...fields,
      ['attachments', { bytes: png, name: 'C:\\shots\\ä <1>.png', type: 'image/png' }],
      ['attachments', { bytes: 'two', name: 'two.txt', type: 'text/plain' }],
    ]);
    expect(sent.status, JSON.stringify(sent.body)).toBe(200);
    const { tid } = sent.body.data.ticket;
    expect(sent.body.data.ticket.replies[0].attachments).toMatchObject([
      { name: 'ä _1_.png' },
      { name: 'two.txt' },
    ]);
    const reply = await form(`/dashboard/tickets/${tid}`, ana, [
      ['attachments', { bytes: '', name: '' }],
      ['message', 'Once more'],
      ['attachments', { bytes: Buffer.alloc(3_000_000, 7), name: 'large.bin' }],
    ]);
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    const [attachment] = reply.body.data.ticket.replies[1].attachments;
    expect(attachment).toMatchObject({
      name: 'large.bin',
      size: 3_000_000,
      type: 'text/plain',
    });
    const { bytes } = await download(`/dashboard/tickets/attachments/${attachment.id}`, ana);
    expect(bytes.equals(Buffer.alloc(3_000_000, 7))).toBe(true);
    const number = await refused(() =>
      form('/dashboard/tickets/create', ana, [...fields, ['service_id', '4242']]),
    );
    expect([number.status, number.code]).toEqual([404, 'not_found']);
  });

  it('in JSON as every encoder writes it', async () => {
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7) % 256));
    const plain = base64(bytes);
    const written = [
      plain,
      plain.replaceAll('/', '\\/'),
      plain.replaceAll('+', '\\u002B').replaceAll('/', '\\u002f').replaceAll('=', '\\u003d'),
    ];
    for (const text of written) {
      const body = `{"subject":"Escaped","department":"support","priority":"low","message":"\\"x\\\\","attachments":[{"content\\u005fbase64":"${text}","name":"a.bin"}]}`;
      const sent = await ana.request('POST', '/dashboard/tickets/create', body);
      expect(sent.status, JSON.stringify(sent.body).slice(0, 500)).toBe(200);
      const [reply] = sent.body.data.ticket.replies;
      expect(reply.message).toBe('"x\\');
      const got = await download(`/dashboard/tickets/attachments/${reply.attachments[0].id}`, ana);
      expect(got.bytes.equals(bytes)).toBe(true);
    }
  });

  it('once for a key, however the form is packed the second time', async () => {
    const parts = (text: string): Parameters<typeof form>[2] => [
      ...fields,
      ['attachments', { bytes: text, name: 'a.txt', type: 'text/plain' }],
    ];
    const key = { 'idempotency-key': `form-${Date.now()}` };
    const first = await form('/dashboard/tickets/create', ana, parts('same'), key);
    await settled(product);
    const before = [await contents(product), inFolder()];
    const again = await form('/dashboard/tickets/create', ana, parts('same'), key);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    const other = await form('/dashboard/tickets/create', ana, parts('diff'), key);
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    expect([await contents(product), inFolder()]).toEqual(before);
  });

  it('up to ten of ten MiB, past the heap', async () => {
    const large = Buffer.alloc(10 * 1_048_576, 'x');
    const ten = Array.from({ length: 10 }, (_, nth): [string, { bytes: Buffer; name: string }] => [
      'attachments',
      { bytes: large, name: `${nth}.txt` },
    ]);
    const sent = await form('/dashboard/tickets/create', ana, [...fields, ...ten]);
    expect(sent.status, JSON.stringify(sent.body)).toBe(200);
    expect(sent.body.data.ticket.replies[0].attachments.map((each: { size: number }) => each.size)).toEqual(
      Array.from({ length: 10 }, () => large.length),
    );
  }, 60_000);
});

describe('what is no attachment is refused, and nothing changes', () => {
  const json = (attachments: unknown, change: object = {}) =>
    refused(() => ana.post('/dashboard/tickets/create', { ...opening, ...change, attachments }));

  it.each([
    ['a text called a picture', 'photo.png', base64('hello')],
    [
      'a program called a picture',
      'photo.jpg',
      base64(Buffer.concat([Buffer.from('MZ'), Buffer.alloc(600, 3)])),
    ],
    ['a picture called a document', 'report.pdf', base64(png)],
  ])('%s', async (_, name, content_base64) => {
    const answer = await json([{ name, content_base64 }]);
    expect(answer).toMatchObject({
      ...{ status: 400, code: 'attachment_refused' },
      details: [
        { field: 'attachments[0]', message: expect.stringMatching(/^is called \.\w+, and is none$/) },
      ],
    });
  });

  it.each([
    '%%%%',
    'aGVsbG8',
    'aGVsbG8=!',
    'aGVs\nbG8=',
    'aGVsbG9=',
    'a',
    '====',
    'aGVs=bG8',
    'aGVsbG8-',
    'aGVs bG8=',
  ])('what is no base64: %j', async (content_base64) => {
    expect(await json([{ name: 'a.bin', content_base64 }])).toMatchObject({
      ...{ status: 400, code: 'invalid_request' },
      details: [
        { field: 'attachments[0].content_base64', message: 'must be base64 with padding, in one line' },
      ],
    });
  });

  it.each(['a\r\nb.txt', 'a\u0085.txt', 'a\u2028b', '', 'x'.repeat(256)])(
    'a name such as %j',
    async (name) => {
      const answer = await json([{ name, content_base64: 'aGVsbG8=' }]);
      expect(answer).toMatchObject({ status: 400, details: [{ field: 'attachments[0].name' }] });
    },
  );

  it('one more, one longer, and lists of another shape', async () => {
    const one = { name: 'a.txt', content_base64: 'aGVsbG8=' };
    expect(await json(Array.from({ length: 11 }, () => one))).toMatchObject({
      status: 400,
      code: 'too_many_files',
    });
    expect(
      await json([one, { name: 'b.txt', content_base64: base64(Buffer.alloc(10_485_761, 'x')) }]),
    ).toMatchObject({
      ...{ status: 413, code: 'attachment_too_large' },
      message: 'One of the files is too large; at most 10 MiB each',
    });
    for (const shape of [
      'x',
      {},
      [one.name],
      [{ name: 'x' }],
      [{ ...one, content_base64: 5 }],
      [{ ...one, more: 1 }],
      [[one]],
    ])
      expect(await json(shape), JSON.stringify(shape)).toMatchObject({
        status: 400,
        code: 'invalid_request',
      });
    expect(await json([one], { message: 'x'.repeat(2_000_000) })).toMatchObject({ status: 413 });
    expect(await json([one], { department: 'nowhere' })).toMatchObject({
      status: 400,
      code: 'unknown_department',
    });
    expect(await json([one], { service_id: 4242 })).toMatchObject({ status: 404 });
    const deep = `{"attachments":${'['.repeat(40)}${']'.repeat(40)}}`;
    expect(await refused(() => ana.request('POST', '/dashboard/tickets/create', deep))).toMatchObject({
      code: 'nesting_too_deep',
    });
    for (const text of [
      '{"attachments":[{"name":"a","content_base64":"aGVs',
      '{"a":"b',
      '{]',
      '{"attachments":[{"content_base64":"aGVs"}',
      '"',
    ])
      expect(await refused(() => ana.request('POST', '/dashboard/tickets/create', text)), text).toMatchObject(
        {
          ...{ status: 400, code: 'invalid_json' },
        },
      );
  });

  it('a form that lies or goes on without end', async () => {
    const send = (parts: Parameters<typeof form>[2]) =>
      refused(() => form('/dashboard/tickets/create', ana, parts));
    expect(
      await send([...fields, ['attachments', { bytes: png, name: 'a.png', type: 'text/html' }]]),
    ).toMatchObject({
      details: [{ field: 'attachments[0]', message: 'is said to be text/html, and is not' }],
    });
    expect(await send([...fields, ['other', { bytes: 'x', name: 'x' }]])).toMatchObject({
      details: [{ field: 'other' }],
    });
    expect(await send([...fields, ['attachments', 'text']])).toMatchObject({
      details: [{ field: 'attachments' }],
    });
    expect(await send([...fields, ['subject', 'Twice']])).toMatchObject({
      status: 400,
      code: 'duplicate_key',
    });
    expect(await send([...fields, ['unknown', 'x']])).toMatchObject({ details: [{ field: 'unknown' }] });
    expect(await send([...fields, ['__proto__', 'x']])).toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
    expect(await send([['message', 'Nothing else']])).toMatchObject({ status: 400, code: 'invalid_request' });
    const one = ['attachments', { bytes: 'x', name: 'x.txt' }] as [string, { bytes: string; name: string }];
    expect(await send([...fields, ...Array.from({ length: 11 }, () => one)])).toMatchObject({
      code: 'too_many_files',
    });
    expect(
      await send([...fields, ['attachments', { bytes: Buffer.alloc(10_485_761, 'x'), name: 'a.txt' }]]),
    ).toMatchObject({ status: 413, code: 'attachment_too_large' });
    expect(await send([...fields, ['message', 'x'.repeat(300_000)]])).toMatchObject({ status: 400 });
  });

  const raw = (body: string, type = 'multipart/form-data; boundary=b') =>
    refused(async () => {
      const response = await fetch(`${product.url}/api/dashboard/tickets/create`, {
        method: 'POST',
        headers: { ...identity(ana), 'content-type': type },
        body,
      });
      return { status: response.status, body: await response.json() };
    });

  it('a form of 100,000 parts', async () => {
    const parts = Array.from(
      { length: 100_000 },
      (_, nth) => `--b\r\nContent-Disposition: form-data; name="a${nth}"\r\n\r\nx\r\n`,
    );
    expect(await raw(`${parts.join('')}--b--\r\n`)).toMatchObject({
      ...{ status: 400, code: 'invalid_request' },
      details: [{ message: expect.stringContaining('too many parts') }],
    });
  });

  it('a form that is none', async () => {
    expect(await raw('x', 'multipart/form-data')).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(await raw('x')).toMatchObject({ status: 400 });
    expect(
      await raw('--b\r\nContent-Disposition: form-data; name="message"\r\n\r\nbreaks off'),
    ).toMatchObject({
      status: 400,
    });
    const encoded =
      '--b\r\nContent-Disposition: form-data; name="attachments"; filename="a.txt"\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n--b--\r\n';
    expect(await raw(encoded)).toMatchObject({ status: 400, details: [{ field: 'attachments' }] });
    expect(await raw('x=1', 'application/x-www-form-urlencoded')).toMatchObject({ status: 415 });
    expect(await raw('{}', 'application/json; charset=latin1')).toMatchObject({ status: 415 });
  });

  it('a file whose sender goes away', async () => {
    await settled(product);
    const before = [await contents(product), inFolder()];
    const url = new URL(product.url);
    const socket = connect(Number(url.port), url.hostname);
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write(
      `POST /api/dashboard/tickets/create HTTP/1.1\r\nHost: x\r\ntoken: ${ana.key}\r\nx-organization-id: ${ana.organizationId}\r\n` +
        'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 5000000\r\n\r\n' +
        `--b\r\nContent-Disposition: form-data; name="attachments"; filename="a.bin"\r\n\r\n${'x'.repeat(500_000)}`,
    );
    const rows = async () =>
      (await sql(product, 'select 1 from ticket_attachments where kept_at is null')).length;
    await until(rows, (count) => count === 1);
    socket.destroy();
    await until(rows, (count) => count === 0);
    expect([await contents(product), inFolder()]).toEqual(before);
  });
});

describe('who gets a file', () => {
  it('is who may read the ticket, and nobody a note’s but staff', async () => {
    const word = 'planted4711';
    const { body } = await ana.post('/dashboard/tickets/create', {
      ...opening,
      attachments: [{ name: 'open.txt', content_base64: base64('open') }],
    });
    const { tid, replies } = body.data.ticket;
    const note = await product.staff.post(`/staff/tickets/${tid}/notes`, {
      message: 'For us',
      attachments: [{ name: `${word}.txt`, content_base64: base64(word) }],
    });
    const [, noted] = note.body.data.ticket.messages;
    expect(noted.attachments).toMatchObject([{ name: `${word}.txt` }]);
    const staffKey = { key: product.demo.staff.api_key };
    const asStaff = await download(`/staff/tickets/attachments/${noted.attachments[0].id}`, staffKey);
    expect([asStaff.response.status, asStaff.bytes.toString()]).toEqual([200, word]);

    const file = `/dashboard/tickets/attachments/${replies[0].attachments[0].id}`;
    const viewer = await newMember(product, ana.organizationId, 'viewer');
    expect((await download(file, viewer)).response.status).toBe(200);
    expect((await download(file, stranger)).response.status).toBe(403);
    expect((await download(file, { key: '' })).response.status).toBe(401);
    const inQuery = await fetch(`${product.url}/api${file}?organization_id=${ana.organizationId}`, {
      headers: { token: ana.key },
    });
    expect(inQuery.status).toBe(200);
    expect((await ana.get(`/dashboard/tickets/attachments/${noted.attachments[0].id}`)).status).toBe(404);

    await settled(product);
    const seen = [
      await ana.get(`/dashboard/tickets/${tid}`),
      await ana.get('/dashboard/tickets'),
      await ana.get(`/dashboard/tickets?search=${word}`),
      await ana.get(`/dashboard/organizations/${ana.organizationId}/activity`),
      await ana.get('/dashboard/account/export'),
    ];
    expect(JSON.stringify(seen)).not.toContain(word);
    const told = await sql(
      product,
      `select 1 from journal where organization_id is not null and data::text like '%${word}%'`,
    );
    const mailed = await sql(product, `select 1 from mails where body like '%${word}%'`);
    expect([told, mailed]).toEqual([[], []]);
  });

  it('learns of it by mail, with where it is, and does not get it by mail', async () => {
    const { body } = await ana.post('/dashboard/tickets/create', opening);
    const { tid } = body.data.ticket;
    const answer = await form(`/staff/tickets/${tid}/replies`, { key: product.demo.staff.api_key }, [
      ['message', 'Here it is'],
      ['attachments', { bytes: 'the manual', name: 'manual.txt', type: 'text/plain' }],
    ]);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const { id } = answer.body.data.ticket.messages[1].attachments[0];
    await settled(product);
    const [mail] = await sql<{ body: string }>(
      product,
      `select body from mails where recipient = $1 and body like '%manual.txt%'`,
      ana.email,
    );
    expect(mail?.body).toContain(
      `/api/dashboard/tickets/attachments/${id}?organization_id=${ana.organizationId}`,
    );
    expect(mail?.body).not.toContain('the manual');
    const owned = await fetch(`${product.url}/api/dashboard/account/export`, { headers: identity(ana) });
    expect(await owned.text()).toContain('manual.txt');
  });

  it('has it also after the ticket was merged or split', async () => {
    const sent = (name: string) => ({
      ...opening,
      attachments: [{ name, content_base64: base64(name) }],
    });
    const one = (await ana.post('/dashboard/tickets/create', sent('one.txt'))).body.data.ticket;
    const two = (await ana.post('/dashboard/tickets/create', sent('two.txt'))).body.data.ticket;
    await product.staff.post(`/staff/tickets/${one.tid}/merge`, { into: two.tid });
    const merged = (await ana.get(`/dashboard/tickets/${two.tid}`)).body.data.ticket;
    const names = (ticket: typeof merged) =>
      ticket.replies.flatMap((reply: { attachments: { name: string }[] }) =>
        reply.attachments.map(({ name }) => name),
      );
    expect(names(merged)).toEqual(['one.txt', 'two.txt']);
    const split = await product.staff.post(`/staff/tickets/${two.tid}/split`, {
      message_ids: [merged.replies[0].id],
      subject: 'On its own',
    });
    const apart = (await ana.get(`/dashboard/tickets/${split.body.data.ticket.tid}`)).body.data.ticket;
    expect(names(apart)).toEqual(['one.txt']);
    const { bytes } = await download(
      `/dashboard/tickets/attachments/${apart.replies[0].attachments[0].id}`,
      ana,
    );
    expect(bytes.toString()).toBe('one.txt');
  });
});

describe('while the storage is away for ten minutes', () => {
  it('files are refused in words, texts are not, staff is told, and all goes on after it', async () => {
    const attachments = [{ name: 'a.txt', content_base64: base64('kept') }];
    const before = (await ana.post('/dashboard/tickets/create', { ...opening, attachments })).body.data
      .ticket;
    const file = `/dashboard/tickets/attachments/${before.replies[0].attachments[0].id}`;
    const tickets = async () => (await ana.get('/dashboard/tickets')).body.data.total;
    const [count, kept] = [await tickets(), inFolder()];
    const concerns = async () =>
      (await product.staff.get('/staff/attention')).body.data.concerns.filter(
        ({ kind }: { kind: string }) => kind === 'ticket.attachments_lost',
      );
    isAway = true;
    for (let minute = 0; minute < 10; minute += 1) {
      const inJson = await ana.post('/dashboard/tickets/create', { ...opening, attachments });
      const inForm = await form(`/dashboard/tickets/${before.tid}`, ana, [
        ['message', 'And this'],
        ['attachments', { bytes: 'x', name: 'b.txt' }],
      ]);
      for (const { status, body, headers } of [inJson, inForm])
        expect([status, body.code, headers.get('retry-after')]).toEqual([
          503,
          'attachments_unavailable',
          '30',
        ]);
      expect(await download(file, ana)).toMatchObject({ response: { status: 503 } });
      product.clock.travel(60_000);
      await product.periodic('attention.tell');
      await product.periodic('tickets.forgetUnusedAttachments');
    }
    expect([await tickets(), inFolder()]).toEqual([count, kept]);
    expect((await ana.post(`/dashboard/tickets/${before.tid}`, { message: 'Without files' })).status).toBe(
      200,
    );
    expect(await concerns()).toMatchObject([{ message: expect.stringContaining('connect ECONNREFUSED') }]);
    const mails = await until(
      async () =>
        sql(
          product,
          `select 1 from mails where recipient = 'noc@example.com' and subject like '%iles of tickets%'`,
        ),
      (rows) => rows.length > 0,
    );
    expect(mails.length).toBe(1);
    isAway = false;
    expect((await ana.post(`/dashboard/tickets/${before.tid}`, { message: 'Now', attachments })).status).toBe(
      200,
    );
    expect((await download(file, ana)).bytes.toString()).toBe('kept');
    expect(await concerns()).toEqual([]);
    product.clock.travel(3_700_000);
    await product.periodic('tickets.forgetUnusedAttachments');
    await settled(product);
    expect([
      await sql(product, 'select 1 from ticket_attachments where message_id is null'),
      inFolder(),
    ]).toEqual([[], kept + 1]);
  });
});

describe('while the storage is full', () => {
  it('a file that it has begun with is refused in words, and taken once there is room', async () => {
    const attachments = [{ name: 'a.bin', content_base64: base64(Buffer.alloc(500_000, 7)) }];
    isFull = true;
    const refused = await ana.post('/dashboard/tickets/create', { ...opening, attachments });
    isFull = false;
    expect([refused.status, refused.body.code]).toEqual([503, 'attachments_unavailable']);
    expect((await ana.post('/dashboard/tickets/create', { ...opening, attachments })).status).toBe(200);
  });
});
