import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient } from '../../../test/client.ts';
import { signedIn } from '../../../test/people.ts';
import { startTestProduct } from '../../../test/product.ts';
import { contents, settled } from '../../../test/sql.ts';
import { type Edge, EdgeError, memoryEdge, type Packet } from '../../drivers/edge/index.ts';
import { datagram, watched } from '../attacks/flood.testbed.ts';
import {
  dropSsh,
  newTenant,
  packet,
  ruleInForce,
  rulesPath,
  type ShieldedProduct,
  startShielded,
  type Tenant,
} from '../testbed.ts';

const explainPath = `${rulesPath}/explain`;
const source = '198.51.100.9';

describe('packets that are traced', () => {
  let product: ShieldedProduct;
  let tenant: Tenant;
  beforeAll(async () => {
    product = await startShielded();
    tenant = await newTenant(product);
    await watched(product, tenant.address);
  });
  afterAll(() => product.stop());

  const ssh = () => ({ source, destination: tenant.address, protocol: 6, destination_port: 22, live: true });

  /** Sends these again and again until the answer is there. */
  async function traced(body: object, sent: Packet[], who = tenant) {
    const sending = setInterval(() => {
      for (const each of sent) product.edge.pass(each);
    }, 20);
    try {
      const { status, body: answer } = await who.post(explainPath, body);
      if (status !== 200) throw new Error(JSON.stringify(answer));
      return answer.data;
    } finally {
      clearInterval(sending);
    }
  }

  it('name the rule that took each as it came by, which is what the rules say', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    const others = [
      packet(tenant.address, { ports: { source: 40_000, destination: 80 } }),
      packet(tenant.address, { source: '198.51.100.10' }),
      datagram(tenant.address),
    ];
    const { live, ...told } = await traced({ ...ssh(), packets: 3, seconds: 10 }, [
      packet(tenant.address),
      ...others,
    ]);
    expect(told).toMatchObject({ action: 'deny', rule_id: id });
    const one = {
      ...{ source, protocol: 6, source_port: 40_000, destination_port: 22, flags: ['syn'] },
      ...{ dscp: 0, ecn: 0, ttl: 60, length: 60, fragment: false },
      ...{ action: 'deny', by: 'rule', rule_id: id },
    };
    expect(live).toEqual({ seconds: 10, packets: [one, one, one] });
    const open = await traced({ ...ssh(), destination_port: 80, packets: 1 }, others);
    expect(open.live.packets).toMatchObject([{ action: 'permit', by: 'unmatched', rule_id: null }]);
    // What is left out may be anything.
    const any = { source, destination: tenant.address, protocol: 6, live: true, packets: 20 };
    const ports = (await traced(any, [packet(tenant.address), ...others])).live.packets.map(
      ({ destination_port }: { destination_port: number }) => destination_port,
    );
    expect(new Set(ports)).toEqual(new Set([22, 80]));
    await tenant.delete(`${rulesPath}/${id}`);
    await settled(product);
  });

  it('are fewer where fewer come in the time that is asked for', async () => {
    const began = Date.now();
    const { live } = await traced({ ...ssh(), flags: ['ack'], seconds: 1 }, [packet(tenant.address)]);
    expect(live).toEqual({ seconds: 1, packets: [] });
    expect(Date.now() - began).toBeGreaterThanOrEqual(1_000);
    const { body } = await tenant.post(explainPath, { ...ssh(), live: false });
    expect(body.data.live).toBeNull();
  });

  it('are refused in words, and nothing changes', async () => {
    const stranger = await newTenant(product);
    await settled(product);
    const before = await contents(product);
    for (const [body, status] of [
      [{ ...ssh(), destination: stranger.address }, 403],
      [{ ...ssh(), packets: 21 }, 400],
      [{ ...ssh(), seconds: 11 }, 400],
      [{ ...ssh(), seconds: 0 }, 400],
      [{ ...ssh(), live: 'yes' }, 400],
      [{ ...ssh(), live: false, packets: 3 }, 400],
      [{ ...ssh(), protocol: 1 }, 400],
      [{ ...ssh(), source: '198.51.100.0/24' }, 400],
    ] as const) {
      const answer = await tenant.post(explainPath, body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    }
    expect(await contents(product)).toEqual(before);
  });

  it('are not waited for with a key for trying out, which would hold a transaction meanwhile', async () => {
    const wanted = { name: 'test', test: true, shield: true };
    const own = await signedIn(product, tenant);
    const { token } = (await own.post('/dashboard/account/api-keys', wanted)).body.data;
    const key = apiClient(`${product.url}/api`, { token });
    const ask = (change: object) => key.post(explainPath, { ...ssh(), ...change });
    const began = Date.now();
    const answer = await ask({});
    expect([answer.status, answer.body.code]).toEqual([403, 'permission_denied']);
    expect(Date.now() - began).toBeLessThan(5_000);
    expect((await ask({ live: false })).status).toBe(200);
  });

  it('are one kind at a time: who would wait too long is told so', { timeout: 60_000 }, async () => {
    const all = await Promise.all([1, 2, 3].map(() => tenant.post(explainPath, { ...ssh(), seconds: 8 })));
    const codes = all
      .map(({ status, body }) => (status === 200 ? 'traced' : `${status} ${body.code}`))
      .toSorted();
    expect(codes).toEqual(['503 unavailable', 'traced', 'traced']);
  });
});

describe('somebody who has many packets traced', () => {
  let product: ShieldedProduct;
  beforeAll(async () => {
    product = await startShielded();
  });
  afterAll(() => product.stop());

  it('keeps a neighbour on the same node waiting for one of them, and not for all', {
    timeout: 60_000,
  }, async () => {
    const [greedy, neighbour] = [await newTenant(product), await newTenant(product)];
    const ask = (who: Tenant, seconds: number) =>
      who.post(explainPath, { source, destination: who.address, protocol: 6, live: true, seconds });
    const many = Array.from({ length: 10 }, () => ask(greedy, 3));
    // Those are in line before it.
    await many[0];
    const began = Date.now();
    const { status, body } = await ask(neighbour, 1);
    expect([status, body.code]).toEqual([200, undefined]);
    expect(Date.now() - began).toBeLessThan(8_000);
    await Promise.all(many);
  });
});

describe('where an edge cannot trace', () => {
  const refused = async (edge: Edge) => {
    const product = await startTestProduct({ drivers: { edge } });
    const tenant = await newTenant(product);
    const body = { source, destination: tenant.address, protocol: 6, seconds: 1, live: true };
    const { status, body: answer } = await tenant.post(explainPath, body);
    const without = await tenant.post(explainPath, { ...body, live: false, seconds: null });
    await product.stop();
    return { status, code: answer.code, message: answer.message, without: without.status };
  };

  it('it says so, and explains all the same', { timeout: 60_000 }, async () => {
    const edge = memoryEdge();
    const capabilities = edge.capabilities.filter((each) => each !== 'trace');
    expect(await refused({ ...edge, capabilities })).toEqual({
      ...{ status: 409, code: 'not_supported', without: 200 },
      message: 'The edge of this address cannot trace packets; ask without live',
    });
    const broken = {
      ...edge,
      trace: () => Promise.reject(new EdgeError('edge_refused', 'secret words of nft')),
    };
    const told = await refused(broken);
    expect(told).toMatchObject({ status: 503, code: 'unavailable', without: 200 });
    expect(told.message).not.toContain('nft');
  });

  it('and where nothing filters, that', { timeout: 60_000 }, async () => {
    const product = await startTestProduct({ env: { EDGE: 'none' } });
    const tenant = await newTenant(product);
    const body = { source, destination: tenant.address, protocol: 6, live: true };
    const { status, body: answer } = await tenant.post(explainPath, body);
    expect([status, answer.code]).toEqual([409, 'not_supported']);
    await product.stop();
  });

  it('a process without a node looks up who asks, and for what, before it asks another', async () => {
    const product = await startTestProduct({ env: { ROLE: 'api' } });
    const body = { source, destination: '192.0.2.9', protocol: 6, live: true };
    for (const live of [true, false, null])
      expect((await product.customer.post(explainPath, { ...body, live })).status).toBe(403);
    expect((await product.nobody.post(explainPath, body)).status).toBe(401);
    await product.stop();
  });
});
