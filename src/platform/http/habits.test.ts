/** What people try who know other APIs: each answer says what to do instead. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeApi } from './api.ts';
import { nearPath } from './nearPath.ts';
import { type CallOptions, type Demo, startDemo } from './testbed.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => closeApi(demo.app));

const notes = '/api/dashboard/notes';
const get = (path: string, options: CallOptions = {}) => demo.call('GET', path, options);
const post = (body: unknown) => demo.call('POST', notes, { body });
const detailsOf = async (reply: ReturnType<typeof get>) => (await reply).body.details;

describe('a key', () => {
  const cases: [string, Record<string, string>, string, string][] = [
    ['no key at all', {}, '', 'token'],
    ['X-API-Key', { 'x-api-key': 'ada' }, '', 'x-api-key'],
    ['?token=', {}, '?token=s3cret', 'token'],
    ['?api_key=', {}, '?api_key=s3cret', 'api_key'],
    ['Authorization without Bearer', { authorization: 's3cret' }, '', 'authorization'],
    ['Bearer in token', { token: 'Bearer s3cret' }, '', 'token'],
  ];
  it.each(cases)(
    '%s: the 401 names where it belongs, and repeats no key',
    async (_, headers, query, field) => {
      const { status, text, body } = await get(notes + query, { as: null, headers });
      expect([status, body.error, body.message]).toEqual([401, 'Unauthorized', 'Invalid or expired API key']);
      expect(body.details).toHaveLength(1);
      expect(body.details[0].field).toBe(field);
      expect(body.details[0].message).toMatch(/header token|this header|API key alone/);
      expect(text).not.toContain('s3cret');
    },
  );

  it('that is merely wrong gets no hint', async () => {
    expect(await detailsOf(get(notes, { as: 'nobody' }))).toBeUndefined();
  });
});

describe('a 403', () => {
  it('names the header, or the id, that it is about', async () => {
    const foreign = await detailsOf(get(notes, { organization: 2 }));
    expect(foreign).toEqual([
      { field: 'x-organization-id', message: 'names an organization that you are no member of' },
    ]);
    const lacking = await detailsOf(demo.call('POST', notes, { as: 'bob', body: { text: 'x' } }));
    expect(lacking).toEqual([
      { field: 'x-organization-id', message: 'names an organization in which you lack notes.write' },
    ]);
    const others = await detailsOf(get(`${notes}/403`));
    expect(others).toEqual([
      { field: 'id', message: 'is of another organization than the one that x-organization-id names' },
    ]);
  });
});

describe('a path', () => {
  it.each([
    ['/api/dashboard/notes/', '/api/dashboard/notes'],
    ['/dashboard/notes', '/api/dashboard/notes'],
    ['/api/notes/5', '/api/dashboard/notes/5'],
    ['/api/dashboard/note/5', '/api/dashboard/notes/5'],
    ['/API/Dashboard/Notes', '/api/dashboard/notes'],
    ['/api/v1/hello', '/api/hello'],
    ['/helo', '/api/hello'],
  ])('%s: the 404 suggests %s', async (sent, meant) => {
    const { status, body } = await get(sent);
    expect([status, body.code]).toEqual([404, 'route_not_found']);
    expect(body.message).toContain(`did you mean ${meant}`);
  });

  it('that is like none gets no suggestion', async () => {
    for (const sent of [
      '/wp-admin/setup.php',
      '/api/zebra',
      `/${'a/'.repeat(500)}`,
      '/api/dashboard/notes/%3Cscript%3E/x',
    ]) {
      expect((await get(sent)).body.message).not.toContain('did you mean');
    }
  });

  it('of a machine may be written in the plural', () => {
    const known = [
      '/api/dashboard/services/:id',
      '/api/dashboard/service/:id/vps/start',
      '/api/dashboard/service/:id/vps/stop',
    ];
    expect(nearPath('/services/5/vps/start', known)).toBe('/api/dashboard/service/5/vps/start');
    expect(nearPath('/api/dashboard/services/5/vps/stop', known)).toBe('/api/dashboard/service/5/vps/stop');
    expect(nearPath('/api/dashboard/service/5', known)).toBe('/api/dashboard/services/5');
  });

  it('with a key in it is told without the key', () => {
    const known = ['/api/dashboard/services/:id', '/api/staff/images/:slug'];
    for (const secret of ['ink_k1lMx-Qz', 'Canary-Pass-1', '12345678901234567'])
      expect(nearPath(`/dashboard/services/${secret}`, known)).toBe('/api/dashboard/services/{id}');
    expect(nearPath('/staff/images/debian', known)).toBe('/api/staff/images/{slug}');
  });
});

describe('a name', () => {
  it('that a query does not know: the answer names those it does', async () => {
    expect(await detailsOf(get(`${notes}?per_page=5`))).toEqual([
      { field: 'per_page', message: 'is not a field of this request; did you mean limit?' },
    ]);
    expect(await detailsOf(get(`${notes}?zebra=5`))).toEqual([
      { field: 'zebra', message: 'is not a field of this request; there are page, limit, cursor, mood' },
    ]);
    expect(await detailsOf(get('/api/hello?zebra=5'))).toEqual([
      { field: 'zebra', message: 'is not a field of this request; it takes no parameters' },
    ]);
  });

  it('misspelt in a body stands beside what is missing', async () => {
    expect(await detailsOf(post({ txet: 'x' }))).toEqual([
      { field: 'text', message: 'is missing; you sent txet' },
      { field: 'txet', message: 'is not a field of this request; did you mean text?' },
    ]);
    expect((await detailsOf(post({ zebra: 'x' })))[0].message).toBe('is missing');
  });
});

describe('a value', () => {
  it('in quotes is to be sent without', async () => {
    expect(await detailsOf(post({ text: 'x', tags: [{ id: '1' }] }))).toEqual([
      { field: 'tags[0].id', message: 'must be an integer, not a string: send 1 without quotes' },
    ]);
  });

  it('of another type in a path or a query is told what it must be, not that it is text', async () => {
    const wanted = { field: 'limit', message: 'must be an integer' };
    for (const sent of ['x', '', '1.5.', '%225%22'])
      expect(await detailsOf(get(`${notes}?limit=${sent}`))).toEqual([wanted]);
    expect(await detailsOf(get(`${notes}/abc`))).toEqual([{ ...wanted, field: 'id' }]);
  });

  it('too large is told how large it may be', async () => {
    const [inPath] = await detailsOf(get(`${notes}/123456789012345678901`));
    expect(inPath.message).toContain('at most 9007199254740991');
    const [inBody] = await detailsOf(post('{"text":"x","tags":[{"id":9007199254740993}]}'));
    expect(inBody.message).toContain('integers go up to 9007199254740991');
  });

  it('after a byte-order mark is not read, and that is said', async () => {
    const { status, body } = await post('\ufeff{"text":"x"}');
    expect([status, body.code, body.message]).toEqual([
      400,
      'invalid_json',
      'The body begins with a byte-order mark; send UTF-8 without one',
    ]);
  });
});
