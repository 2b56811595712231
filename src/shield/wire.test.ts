import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer } from '../../test/people.ts';
import {
  dropSsh,
  enforced,
  newTenant,
  ruleInForce,
  rulesPath,
  type ShieldedProduct,
  startShielded,
  type Tenant,
} from './testbed.ts';

let product: ShieldedProduct;
let tenant: Tenant;
beforeAll(async () => {
  product = await startShielded();
  tenant = await newTenant(product, { option4: 2 });
});
afterAll(() => product.stop());

interface Sent {
  method?: string;
  path: string;
  headers?: Record<string, string> | string[];
  body?: string;
}

/** Sends exactly this, as a client that has no library of ours. */
async function send({ method = 'GET', path, headers = {}, body }: Sent) {
  const url = new URL(product.url);
  const sent = request({ host: url.hostname, port: url.port, method, path: `/api${path}`, headers });
  const answered = new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject);
  });
  if (body !== undefined) sent.write(body);
  sent.end();
  const answer = await answered;
  const said = await text(answer);
  return { status: answer.statusCode, headers: answer.headers, body: said === '' ? null : JSON.parse(said) };
}

const json = 'application/json';

describe('clients that were written for this API', () => {
  it('need neither an organization nor a User-Agent', async () => {
    const { status, body } = await send({ path: '/shield/v2/ips', headers: { token: tenant.key } });
    expect(status).toBe(200);
    expect(body.data.ips.map((ip: { address: string }) => ip.address)).toContain(`${tenant.address}/32`);
  });

  it('get an object as data always: {} after PATCH and DELETE', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    expect((await tenant.patch(`${rulesPath}/${id}`, { order: 5 })).body.data).toEqual({});
    expect((await tenant.patch('/shield/v2/ips', { address: tenant.address })).body.data).toEqual({});
    expect((await tenant.delete(`${rulesPath}/${id}`)).body.data).toEqual({});
  });

  it('may send a GET with Content-Type and no body', async () => {
    const headers = { token: tenant.key, 'content-type': json };
    expect((await send({ path: rulesPath, headers })).status).toBe(200);
  });

  it('may write `token:KEY` without a blank', async () => {
    const { connect } = await import('node:net');
    const url = new URL(product.url);
    const socket = connect(Number(url.port), url.hostname);
    socket.write(
      `GET /api${rulesPath} HTTP/1.1\r\nHost:x\r\ntoken:${tenant.key}\r\nConnection:close\r\n\r\n`,
    );
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('may expect 100-continue', async () => {
    const body = JSON.stringify(dropSsh(tenant.address));
    const headers = { token: tenant.key, 'content-type': json, expect: '100-continue' };
    const { status, body: made } = await send({ method: 'POST', path: rulesPath, headers, body });
    expect(status).toBe(200);
    await tenant.delete(`${rulesPath}/${made.data.rule_id}`);
  });

  it('may leave a slash in a query as it is, and begin a further parameter with ?', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    const headers = { token: tenant.key };
    const found = await send({ path: `${rulesPath}?filter=${tenant.address}/32?limit=5?page=0`, headers });
    expect(found.body.data).toMatchObject({ limit: 5, page: 0, total: 1, rules: [{ id }] });
    const none = await send({ path: `${rulesPath}?filter=192.0.2.1/32`, headers });
    expect(none.body.data).toMatchObject({ total: 0, rules: [] });
    await tenant.delete(`${rulesPath}/${id}`);
  });

  it('get answers that are not compressed unless they ask for it', async () => {
    const { headers } = await send({ path: '/shield/v2/rules/presets', headers: { token: tenant.key } });
    expect(headers['content-encoding']).toBeUndefined();
  });

  it('count pages from zero, on /rules and /ips, and may call it Page', async () => {
    const ids = [
      await ruleInForce(tenant, dropSsh(tenant.address, { order: 1 })),
      await ruleInForce(tenant, dropSsh(tenant.address, { order: 2 })),
    ];
    for (const name of ['page', 'Page']) {
      const pages = [0, 1].map((page) => tenant.get(`${rulesPath}?limit=1&${name}=${page}`));
      const shown = (await Promise.all(pages)).map(({ body }) => body.data);
      expect(shown.map(({ rules }) => rules[0].id)).toEqual(ids);
      expect(shown.map(({ page, limit, total }) => [page, limit, total])).toEqual([
        [0, 1, 2],
        [1, 1, 2],
      ]);
    }
    const all = (await tenant.get('/shield/v2/ips')).body.data;
    const second = (await tenant.get('/shield/v2/ips?page=1&limit=1')).body.data;
    expect(second).toMatchObject({ ips: [all.ips[1]], count: all.count, pages: all.count });
    for (const id of ids) await tenant.delete(`${rulesPath}/${id}`);
  });

  it('see addresses as networks, and may send them with and without a length', async () => {
    const bare = await ruleInForce(tenant, dropSsh(tenant.address, { source: '198.51.100.7' }));
    const whole = await ruleInForce(tenant, dropSsh(`${tenant.address}/32`, { source: '198.51.100.7/32' }));
    for (const id of [bare, whole]) {
      const { rule } = (await tenant.get(`${rulesPath}/${id}`)).body.data;
      expect(rule).toMatchObject({ destination: `${tenant.address}/32`, source: '198.51.100.7/32' });
      await tenant.delete(`${rulesPath}/${id}`);
    }
    const path = (ip: string) => `/shield/v2/sensitivity/${encodeURIComponent(ip)}`;
    for (const ip of [tenant.address, `${tenant.address}/32`]) {
      const { body } = await tenant.get(path(ip));
      expect(body.data.sensitivity.address).toBe(`${tenant.address}/32`);
    }
  });

  it('may send ports and matches as texts that hold JSON', async () => {
    const id = await ruleInForce(tenant, {
      ...dropSsh(tenant.address),
      destination_port: '{"match_type":"eq","match_value":[80,443]}',
      source_port: '{"match_type":"range","range":{"start":1024,"end":65535}}',
      matches: [
        '{"match":"syn","match_type":"eq","match_value":true}',
        { match: 'ttl', match_type: 'lt', match_value: 5 },
      ],
    });
    const { rule } = (await tenant.get(`${rulesPath}/${id}`)).body.data;
    expect(rule).toMatchObject({
      ...{ src_port_type: 'range', dst_port_type: 'eq' },
      source_port: { match_type: 'range', range: { start: 1024, end: 65_535 } },
      destination_port: { match_type: 'eq', match_value: [80, 443] },
      matches: [
        { match: 'syn', match_type: 'eq', match_value: true },
        { match: 'ttl', match_type: 'lt', match_value: 5 },
      ],
    });
    await tenant.delete(`${rulesPath}/${id}`);
  });

  it('may call the range of a port MatchRange, beside an empty match_value', async () => {
    const id = await ruleInForce(tenant, {
      ...dropSsh(tenant.address),
      destination_port: { match_type: 'range', match_value: '', MatchRange: { start: 1, end: 9 } },
    });
    const { rule } = (await tenant.get(`${rulesPath}/${id}`)).body.data;
    expect(rule.destination_port).toEqual({ match_type: 'range', range: { start: 1, end: 9 } });
    await tenant.delete(`${rulesPath}/${id}`);
  });

  it('may send null for what is absent', async () => {
    const nothing = { source: null, note: null, source_port: null, matches: null, rate_limiter_id: null };
    const id = await ruleInForce(tenant, {
      ...dropSsh(tenant.address),
      ...nothing,
      expires_at: null,
      id: null,
    });
    expect((await tenant.get(`${rulesPath}/${id}`)).body.data.rule).toMatchObject({
      source: null,
      note: null,
    });
    await tenant.delete(`${rulesPath}/${id}`);
  });

  it.each([
    ['syn', true, true],
    ['syn', 'True', true],
    ['ack', 'False', false],
    ['fin', 'TRUE', true],
    ['rst', 0, false],
    ['fragments', 'false', false],
    ['ttl', '64', 64],
    ['dscp', 46, 46],
  ])('may send the value of %s as %j', async (match, sent, kept) => {
    const id = await ruleInForce(tenant, {
      ...dropSsh(tenant.address, { matches: [{ match, match_type: 'eq', match_value: sent }] }),
    });
    const { rule } = (await tenant.get(`${rulesPath}/${id}`)).body.data;
    expect(rule.matches).toEqual([{ match, match_type: 'eq', match_value: kept }]);
    await tenant.delete(`${rulesPath}/${id}`);
  });

  it('may delete `rules{id}`', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    const { status, body } = await tenant.delete(`/shield/v2/rules${id}`);
    expect({ status, body }).toMatchObject({ status: 200, body: { success: true, data: {} } });
    expect((await tenant.get(`${rulesPath}/${id}`)).status).toBe(404);
  });

  it('get a token for a key, with neither token nor organization', async () => {
    const { body, status } = await product.nobody.post('/shield/v2/auth/api', { key: tenant.key });
    expect(status).toBe(200);
    const listed = await product.nobody.get(rulesPath, { token: body.data.token });
    expect(listed.status).toBe(200);
    for (const key of ['nonsense', `${tenant.key.slice(0, -1)}!`]) {
      const refused = await product.nobody.post('/shield/v2/auth/api', { key });
      expect(refused).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
    }
  });

  it('find ids, counts and moments as they know them, and no field absent', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    const rule = await enforced(tenant, id);
    const fields = ['id', 'destination', 'source', 'action', 'protocol', 'order', 'note', 'disabled'];
    fields.push(
      'src_port_type',
      'dst_port_type',
      'matched_packets',
      'group_id',
      'last_rule_update',
      'updated_at',
    );
    for (const field of fields) expect(rule).toHaveProperty(field);
    for (const field of ['id', 'protocol', 'order', 'matched_packets', 'group_id'])
      expect(Number.isInteger(rule[field]) && rule[field] < 2 ** 31, field).toBe(true);
    expect([rule.disabled, rule.group_id, rule.source, rule.note]).toEqual([false, 0, null, null]);
    const listed = (await tenant.get(rulesPath)).body.data;
    expect(listed).toMatchObject({ page: 0, limit: 25, total: 1, rules: [{ id }] });
    await tenant.delete(`${rulesPath}/${id}`);
  });

  it('get 403 for an id that is not theirs, and 404 for one that nothing has', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    const stranger = await newCustomer(product);
    for (const method of ['GET', 'DELETE'])
      expect((await stranger.request(method, `${rulesPath}/${id}`)).status).toBe(403);
    expect((await stranger.patch(`${rulesPath}/${id}`, { order: 1 })).status).toBe(403);
    for (const path of [`${rulesPath}/4242`, `${rulesPath}/group/4242`, '/shield/v2/rate-limiters/4242'])
      expect((await tenant.get(path)).status).toBe(404);
    await tenant.delete(`${rulesPath}/${id}`);
  });
});
