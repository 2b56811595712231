import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contents, settled } from '../../test/sql.ts';
import { ask, speak } from './rawClient.testbed.ts';
import {
  dropSsh,
  newTenant,
  ruleInForce,
  rulesPath,
  type ShieldedProduct,
  startShielded,
  type Tenant,
} from './testbed.ts';

/** What public clients send, to the letter; what they read stands in `wireAnswers.test.ts`. */
let product: ShieldedProduct;
let tenant: Tenant;
let stranger: Tenant;
beforeAll(async () => {
  product = await startShielded();
  [tenant, stranger] = [await newTenant(product, { option4: 2 }), await newTenant(product)];
});
afterAll(() => product.stop());

const presetsPath = `${rulesPath}/presets`;
const line = (method: string, path: string) => `${method} /api${path} HTTP/1.1`;
const get = (path: string) => ask(product.url, 'GET', path, { token: tenant.key });
const ruleOf = async (id: number) => (await tenant.get(`${rulesPath}/${id}`)).body.data.rule;
const drop = async (...ids: number[]) => {
  for (const id of ids) expect((await tenant.delete(`${rulesPath}/${id}`)).status).toBe(200);
};

describe('clients that were written for this API', () => {
  it('need neither an organization nor a User-Agent', async () => {
    const head = [line('GET', '/shield/v2/ips'), 'Host: x', `token: ${tenant.key}`];
    const { status, body } = await speak(product.url, head);
    expect(status).toBe(200);
    expect(body.data.ips.map((ip: { address: string }) => ip.address)).toContain(`${tenant.address}/32`);
  });

  it('may read every five seconds', async () => {
    const limited = await startShielded({ env: { RATE_LIMITS: 'on' } });
    const key = limited.demo.customer.api_key;
    const paths = ['/ips', '/rules', '/attacks', '/rules/presets', '/rate-limiters'];
    for (let round = 0; round < 36; round += 1) {
      const answers = await Promise.all(
        paths.map((path) => ask(limited.url, 'GET', `/shield/v2${path}`, { token: key })),
      );
      expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
      limited.clock.travel(5_000);
    }
    await limited.stop();
  });

  it.each([[[]], [['Content-Length: 0']]])(
    'may send a GET with Content-Type and no body (%j)',
    async (more: string[]) => {
      const head = [
        line('GET', rulesPath),
        'Host: x',
        `token: ${tenant.key}`,
        'Content-Type: application/json',
      ];
      expect((await speak(product.url, [...head, ...more])).status).toBe(200);
    },
  );

  it('may write `token:KEY` without a blank', async () => {
    const head = [line('GET', rulesPath), 'Host:x', `token:${tenant.key}`];
    expect((await speak(product.url, head)).status).toBe(200);
  });

  it('may expect 100-continue, and hear it before they send anything more', async () => {
    const body = JSON.stringify(dropSsh(tenant.address));
    const head = [
      ...[line('POST', rulesPath), 'Host: x', `token: ${tenant.key}`, 'Content-Type: application/json'],
      ...[`Content-Length: ${body.length}`, 'Expect: 100-continue'],
    ];
    const { status, body: made } = await speak(product.url, head, body);
    expect(status).toBe(200);
    await drop(made.data.rule_id);
  });

  it('may leave a slash in a query as it is', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    expect((await get(`${rulesPath}?filter=${tenant.address}/32`)).body.data).toMatchObject({
      ...{ total: 1, rules: [{ id }] },
    });
    expect((await get(`${rulesPath}?filter=192.0.2.1/32`)).body.data).toMatchObject({ total: 0, rules: [] });
    await drop(id);
  });

  it('may begin a further parameter with ?', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    const { body } = await get(`${rulesPath}?filter=${tenant.address}/32?limit=5?page=0`);
    expect(body.data).toMatchObject({ limit: 5, page: 0, total: 1, rules: [{ id }] });
    const unknown = await get(`${rulesPath}?page=0?color=red`);
    expect([unknown.status, unknown.body.details[0].field]).toEqual([400, 'color']);
    await drop(id);
  });

  it('get answers that are not compressed unless they ask for it', async () => {
    const plain = await get(presetsPath);
    expect(plain.headers['content-encoding']).toBeUndefined();
    const head = [line('GET', presetsPath), 'Host: x', `token: ${tenant.key}`, 'Accept-Encoding: gzip'];
    expect((await speak(product.url, head)).headers['content-encoding']).toBe('gzip');
  });

  it('count pages from zero, on /rules and /ips, and may call it Page', async () => {
    const ids = [
      await ruleInForce(tenant, dropSsh(tenant.address, { order: 1 })),
      await ruleInForce(tenant, dropSsh(tenant.address, { order: 2 })),
    ];
    const ips = (await get('/shield/v2/ips')).body.data;
    for (const name of ['page', 'Page']) {
      for (const page of [0, 1]) {
        const listed = (await get(`${rulesPath}?limit=1&${name}=${page}`)).body.data;
        expect(listed).toMatchObject({ page, limit: 1, total: 2, rules: [{ id: ids[page] }] });
        const { data } = (await get(`/shield/v2/ips?${name}=${page}&limit=1`)).body;
        expect(data).toMatchObject({ ips: [ips.ips[page]], count: ips.count, pages: ips.count });
      }
    }
    await drop(...ids);
  });

  it('may filter addresses, rules and attacks', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address, { note: 'Nobody logs in' }));
    for (const filter of [tenant.address, 'nobody', 'DENY'])
      expect((await get(`${rulesPath}?filter=${filter}`)).body.data.rules).toMatchObject([{ id }]);
    expect((await get(`${rulesPath}?filter=somebody`)).body.data.total).toBe(0);
    expect((await get(`/shield/v2/ips?filter=${tenant.address6}`)).body.data).toMatchObject({
      ...{ count: 1, ips: [{ address: `${tenant.address6}/128` }] },
    });
    expect((await get('/shield/v2/ips?filter=192.0.2.1')).body.data).toMatchObject({ ips: [], count: 0 });
    expect((await get('/shield/v2/attacks?chunk=0&limit=5&filter=192.0.2.1')).body.data.attacks).toEqual([]);
    await drop(id);
  });

  it('may send addresses with and without a length, and see them as networks', async () => {
    for (const [own, source, ip] of [
      [tenant.address, '198.51.100.7', '192.0.2.7'],
      [`${tenant.address}/32`, '198.51.100.7/32', '192.0.2.7/32'],
    ] as const) {
      const id = await ruleInForce(tenant, dropSsh(own, { source }));
      const shown = { destination: `${tenant.address}/32`, source: '198.51.100.7/32' };
      expect(await ruleOf(id)).toMatchObject(shown);
      expect((await tenant.patch(`${rulesPath}/${id}`, { destination: own, source })).status).toBe(200);
      expect(await ruleOf(id)).toMatchObject(shown);
      await drop(id);
      const asked = { destination: own, preset: 'block-ssh', ips: [ip] };
      const { group_id: group } = (await tenant.post(presetsPath, asked)).body.data;
      expect((await tenant.get(`${rulesPath}/group/${group}`)).body.data.group).toMatchObject({
        ...{ destination: `${tenant.address}/32`, ips: ['192.0.2.7/32'] },
      });
      await tenant.delete(`${rulesPath}/groups/${group}`);
      const sensitivity = (await tenant.get(`/shield/v2/sensitivity/${encodeURIComponent(own)}`)).body.data;
      expect(sensitivity.sensitivity.address).toBe(`${tenant.address}/32`);
      const answers = [
        await tenant.patch('/shield/v2/ips', { address: own, unmatched: 'permit' }),
        await tenant.post(`${rulesPath}/explain`, { source, destination: own, protocol: 17 }),
        await tenant.post(`${rulesPath}/apply`, { rules: [], destinations: [own] }),
        await get(`/shield/v2/analytics/traffic?ip=${own}`),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    }
  });

  it('may send ports as texts that hold JSON', async () => {
    const id = await ruleInForce(tenant, {
      ...dropSsh(tenant.address),
      destination_port: '{"match_type":"eq","match_value":[80,443]}',
      source_port: '{"match_type":"range","range":{"start":1024,"end":65535}}',
    });
    expect(await ruleOf(id)).toMatchObject({
      ...{ src_port_type: 'range', dst_port_type: 'eq' },
      source_port: { match_type: 'range', range: { start: 1024, end: 65_535 } },
      destination_port: { match_type: 'eq', match_value: [80, 443] },
    });
    await tenant.patch(`${rulesPath}/${id}`, { source_port: '', destination_port: 'null' });
    expect(await ruleOf(id)).toMatchObject({ src_port_type: null, dst_port_type: null });
    await drop(id);
  });

  it('may send items of matches as texts that hold JSON', async () => {
    const id = await ruleInForce(tenant, {
      ...dropSsh(tenant.address),
      matches: [
        '{"match":"syn","match_type":"eq","match_value":true}',
        { match: 'ttl', match_type: 'lt', match_value: 5 },
      ],
    });
    expect((await ruleOf(id)).matches).toEqual([
      { match: 'syn', match_type: 'eq', match_value: true },
      { match: 'ttl', match_type: 'lt', match_value: 5 },
    ]);
    await drop(id);
  });

  it('may call the range of a port MatchRange', async () => {
    const id = await ruleInForce(tenant, {
      ...dropSsh(tenant.address),
      destination_port: { match_type: 'range', MatchRange: { start: 1, end: 9 } },
      source_port: '{"match_type":"range","MatchRange":{"start":2,"end":8}}',
    });
    expect(await ruleOf(id)).toMatchObject({
      destination_port: { match_type: 'range', range: { start: 1, end: 9 } },
      source_port: { match_type: 'range', range: { start: 2, end: 8 } },
    });
    await drop(id);
  });

  it('may send an empty match_value beside a range', async () => {
    const range = { start: 1, end: 9 };
    const id = await ruleInForce(tenant, {
      ...dropSsh(tenant.address),
      destination_port: { match_type: 'range', match_value: '', range },
      matches: [{ match: 'ttl', match_type: 'range', match_value: '', range }],
    });
    expect(await ruleOf(id)).toMatchObject({
      destination_port: { match_type: 'range', range },
      matches: [{ match: 'ttl', match_type: 'range', range }],
    });
    await drop(id);
  });

  it('may send null for what is absent', async () => {
    const nothing = { source: null, note: null, source_port: null, destination_port: null, matches: null };
    const more = { rate_limiter_id: null, expires_at: null };
    const id = await ruleInForce(tenant, { ...dropSsh(tenant.address), ...nothing, ...more, id: null });
    expect(await ruleOf(id)).toMatchObject({ source: null, note: null, matches: [], expires_at: null });
    const change = { ...nothing, ...more, destination: null, action: null, protocol: null, order: null };
    expect((await tenant.patch(`${rulesPath}/${id}`, change)).status).toBe(200);
    expect(await ruleOf(id)).toMatchObject({ order: 100, action: 'deny', protocol: 6 });
    const port = { match_type: 'eq', match_value: [9], range: null, MatchRange: null };
    const match = { match: 'ttl', match_type: 'eq', match_value: 9, range: null };
    await tenant.patch(`${rulesPath}/${id}`, { source_port: port, matches: [match] });
    expect(await ruleOf(id)).toMatchObject({ src_port_type: 'eq', matches: [{ match: 'ttl' }] });
    await drop(id);
    const asked = { destination: tenant.address, preset: 'block-ssh', note: null, ips: null, id: null };
    const { status, body } = await tenant.post(presetsPath, asked);
    expect(status).toBe(200);
    await tenant.delete(`${rulesPath}/groups/${body.data.group_id}`);
  });

  it.each([
    ['syn', true, true],
    ['syn', 'True', true],
    ['ack', 'False', false],
    ['fin', 'TRUE', true],
    ['psh', 'fAlSe', false],
    ['rst', 0, false],
    ['urg', 1, true],
    ['fragments', 'false', false],
    ['ttl', '64', 64],
    ['dscp', 46, 46],
    ['ecn', '3', 3],
    ['proto', '6', 6],
    ['length', '1200', 1_200],
  ])('may send the value of %s as %j', async (match, sent, kept) => {
    const id = await ruleInForce(tenant, {
      ...dropSsh(tenant.address, { matches: [{ match, match_type: 'eq', match_value: sent }] }),
    });
    expect((await ruleOf(id)).matches).toEqual([{ match, match_type: 'eq', match_value: kept }]);
    await drop(id);
  });

  it('may replace a rule, and a group, by naming its id in a POST', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    const again = await tenant.post(rulesPath, { ...dropSsh(tenant.address, { order: 7 }), id });
    expect(again.body.data).toEqual({ rule_id: id });
    expect(await ruleOf(id)).toMatchObject({ order: 7 });
    await drop(id);
    const asked = { destination: tenant.address, preset: 'block-ssh' };
    const { group_id: group } = (await tenant.post(presetsPath, asked)).body.data;
    const anew = await tenant.post(presetsPath, { ...asked, preset: 'block-rdp', id: group });
    expect(anew.body.data.group_id).toBe(group);
    expect((await tenant.get(`${rulesPath}/group/${group}`)).body.data.group.preset).toBe('block-rdp');
    await tenant.delete(`${rulesPath}/groups/${group}`);
  });

  it('may delete `rules{id}`', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    const deleted = await ask(product.url, 'DELETE', `/shield/v2/rules${id}`, { token: tenant.key });
    expect([deleted.status, deleted.body.data]).toEqual([200, {}]);
    expect((await tenant.get(`${rulesPath}/${id}`)).status).toBe(404);
  });

  it('get a token for a key, with neither token nor organization', async () => {
    const key = tenant.key;
    const { body, status } = await ask(product.url, 'POST', '/shield/v2/auth/api', {}, { key });
    expect(status).toBe(200);
    expect((await ask(product.url, 'GET', rulesPath, { token: body.data.token })).status).toBe(200);
    for (const wrong of ['nonsense', `${key.slice(0, -1)}!`]) {
      const refused = await ask(product.url, 'POST', '/shield/v2/auth/api', {}, { key: wrong });
      expect([refused.status, refused.body.code]).toEqual([401, 'unauthorized']);
    }
  });

  it('get 403 for an id that is not theirs, and 404 for one that nothing has', async () => {
    const rule = await ruleInForce(stranger, dropSsh(stranger.address, { protocol: 17 }));
    const preset = { destination: stranger.address, preset: 'block-ssh' };
    const { group_id: group } = (await stranger.post(presetsPath, preset)).body.data;
    const rate = { name: 'Theirs', packets_per_second: 9, per: 'rule', burst: 9 };
    const limiter = (await stranger.post('/shield/v2/rate-limiters', rate)).body.data.rate_limiter.id;
    const tried = { rules: [dropSsh(stranger.address)], confirm_within_s: 600 };
    const apply = (await stranger.post(`${rulesPath}/apply`, tried)).body.data.apply_id;
    await settled(product);
    const before = await contents(product);
    const paths = (
      ids: Record<'rule' | 'group' | 'limiter' | 'apply', number>,
    ): [string, string, unknown?][] => [
      ...['GET', 'DELETE'].map((method): [string, string] => [method, `${rulesPath}/${ids.rule}`]),
      ['PATCH', `${rulesPath}/${ids.rule}`, { order: 1 }],
      ...['PATCH', 'POST'].flatMap((method) =>
        ['enable', 'disable'].map((word): [string, string] => [method, `${rulesPath}/${ids.rule}/${word}`]),
      ),
      ['DELETE', `/shield/v2/rules${ids.rule}`],
      ['POST', rulesPath, { ...dropSsh(tenant.address), id: ids.rule }],
      ['GET', `${rulesPath}/group/${ids.group}`],
      ['DELETE', `${rulesPath}/groups/${ids.group}`],
      ['POST', presetsPath, { destination: tenant.address, preset: 'block-ssh', id: ids.group }],
      ...['GET', 'DELETE'].map((method): [string, string] => [
        method,
        `/shield/v2/rate-limiters/${ids.limiter}`,
      ]),
      ['PATCH', `/shield/v2/rate-limiters/${ids.limiter}`, { burst: 1 }],
      ['POST', rulesPath, { ...dropSsh(tenant.address, { action: 'permit' }), rate_limiter_id: ids.limiter }],
      ['GET', `${rulesPath}/apply/${ids.apply}`],
      ...['confirm', 'cancel'].map((word): [string, string] => [
        'POST',
        `${rulesPath}/apply/${ids.apply}/${word}`,
      ]),
    ];
    const told = async (asked: ReturnType<typeof paths>) => {
      const answers: [string, string, number][] = [];
      for (const [method, path, body] of asked) {
        const { status } = await ask(product.url, method, path, { token: tenant.key }, body);
        answers.push([method, path, status]);
      }
      return answers;
    };
    const foreign = paths({ rule, group, limiter, apply });
    expect(await told(foreign)).toEqual(foreign.map(([method, path]) => [method, path, 403]));
    const absent = paths({ rule: 4242, group: 4242, limiter: 4242, apply: 4242 });
    expect(await told(absent)).toEqual(absent.map(([method, path]) => [method, path, 404]));
    expect(await contents(product)).toEqual(before);
  });

  it('are refused everything else that is unknown, and nothing changes', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    await settled(product);
    const before = await contents(product);
    const rule = dropSsh(tenant.address);
    const port = { match_type: 'eq', match_value: [22] };
    const ttl = { match: 'ttl', match_type: 'eq', match_value: 5 };
    const unknown: [method: string, path: string, body: unknown, field: string][] = [
      ...['/ips', '/rules', '/attacks', '/rate-limiters', `/analytics/traffic?ip=${tenant.address}`].map(
        (path): [string, string, undefined, string] => {
          return ['GET', `/shield/v2${path}${path.includes('?') ? '&' : '?'}color=red`, undefined, 'color'];
        },
      ),
      ['POST', rulesPath, { ...rule, color: 'red' }, 'color'],
      ['POST', rulesPath, { ...rule, source_port: { ...port, color: 1 } }, 'source_port.color'],
      [
        'POST',
        rulesPath,
        { ...rule, source_port: { match_type: 'range', range: { start: 1, end: 2, step: 1 } } },
        'source_port.range.step',
      ],
      [
        'POST',
        rulesPath,
        { ...rule, source_port: '{"match_type":"eq","match_value":[1],"color":1}' },
        'source_port.color',
      ],
      ['POST', rulesPath, { ...rule, source_port: 'ssh' }, 'source_port'],
      [
        'POST',
        rulesPath,
        { ...rule, source_port: { match_type: 'like', match_value: [1] } },
        'source_port.match_type',
      ],
      ['POST', rulesPath, { ...rule, matches: [{ ...ttl, color: 1 }] }, 'matches[0].color'],
      ['POST', rulesPath, { ...rule, matches: [{ ...ttl, match: 'vlan' }] }, 'matches[0].match'],
      [
        'POST',
        rulesPath,
        { ...rule, matches: [{ ...ttl, MatchRange: { start: 1, end: 2 } }] },
        'matches[0].MatchRange',
      ],
      ['POST', rulesPath, { ...rule, protocol: '6' }, 'protocol'],
      ['POST', rulesPath, { ...rule, order: '100' }, 'order'],
      ['PATCH', `${rulesPath}/${id}`, { color: 'red' }, 'color'],
      ['PATCH', '/shield/v2/ips', { address: tenant.address, color: 'red' }, 'color'],
      ['POST', presetsPath, { destination: tenant.address, preset: 'block-ssh', color: 'red' }, 'color'],
      ['POST', `${rulesPath}/apply`, { rules: [rule], color: 'red' }, 'color'],
      ['POST', `${rulesPath}/apply`, { rules: [{ ...rule, color: 'red' }] }, 'rules[0].color'],
      ['POST', '/shield/v2/auth/api', { key: tenant.key, color: 'red' }, 'color'],
      ['PATCH', `/shield/v2/sensitivity/${tenant.address}`, { color: 'red' }, 'color'],
    ];
    for (const [method, path, body, field] of unknown) {
      const answer = await ask(product.url, method, path, { token: tenant.key }, body);
      const told = answer.body?.details?.map((each: { field: string }) => each.field);
      expect([answer.status, told], `${method} ${path} ${JSON.stringify(body)}`).toEqual([400, [field]]);
    }
    expect(await contents(product)).toEqual(before);
    await drop(id);
  });
});
