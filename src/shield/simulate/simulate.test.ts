import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { contents, sql } from '../../../test/sql.ts';
import type { Packet, Sample } from '../../drivers/edge/index.ts';
import { transaction } from '../../platform/index.ts';
import { datagram, watched } from '../attacks/flood.testbed.ts';
import { keepFlows, packMinute } from '../flows/keep.ts';
import { addSamples, type MinuteFlows } from '../flows/minute.ts';
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
import { look } from '../watch/samples.ts';

let product: ShieldedProduct;
let tenant: Tenant;
let stranger: Tenant;
beforeAll(async () => {
  product = await startShielded();
  [tenant, stranger] = [await newTenant(product), await newTenant(product)];
});
afterAll(() => product.stop());

const simulatePath = `${rulesPath}/simulate`;

async function simulated(body: object, who = tenant) {
  const { status, body: answer } = await who.post(simulatePath, body);
  if (status !== 200) throw new Error(JSON.stringify(answer));
  return answer.data;
}

/** Writes down what was sampled in a minute so long ago, as the watcher does. */
async function sampled(samples: readonly Sample[], minutesAgo = 5, organizationId = tenant.organizationId) {
  const minute: MinuteFlows = new Map();
  const addresses = samples.map((each) => each.packet.destination);
  addSamples(
    minute,
    samples.map(look),
    new Map(addresses.map((each) => [each, { organization_id: organizationId }])),
  );
  const now = product.clock.now().getTime();
  const time = new Date(Math.floor(now / 60_000 - minutesAgo) * 60_000);
  const packed = await packMinute(minute);
  await transaction(product.ctx, 'test.keepFlows', (tx) => keepFlows(tx, time, packed));
}

const each = (count: number, of: Packet, standsFor: number): Sample[] =>
  Array.from({ length: count }, () => ({ packet: of, standsFor }));
const forget = () => sql(product, 'delete from shield_flows');
const dropUdp = (destination: string, change: object = {}) => {
  return { destination, action: 'deny', protocol: 17, order: 5, ...change };
};

describe('a simulation that takes long', () => {
  it('lets others have their turn in between', { timeout: 120_000 }, async () => {
    await forget();
    // Each packet is another flow, and is held against each rule to the last.
    const flowsOf = (minute: number): Sample[] =>
      Array.from({ length: 1_000 }, (_, nth) => ({
        packet: datagram(tenant.address, { source: `10.${minute}.${nth >> 8}.${nth & 255}`, ttl: 60 }),
        standsFor: 10,
      }));
    for (let minute = 1; minute < 30; minute += 1) await sampled(flowsOf(minute), minute);
    const ports = Array.from({ length: 19 }, (_, nth) => 1_000 * nth + 2);
    const rules = Array.from({ length: 200 }, (_, nth) => ({
      ...dropUdp(tenant.address, { order: nth, source_port: { match_type: 'neq', match_value: ports } }),
      matches: [
        ...['dscp', 'ecn'].map((match) => ({ match, match_type: 'lt', match_value: 3 })),
        { match: 'ttl', match_type: 'neq', match_value: 60 },
      ],
    }));
    await tenant.post(`${rulesPath}/apply`, { rules });
    const began = performance.now();
    let tookMs = 0;
    const simulation = simulated({ rules }).then(() => {
      tookMs = performance.now() - began;
    });
    const waitedMs: number[] = [];
    while (tookMs === 0) {
      const asked = performance.now();
      expect((await stranger.get('/shield/v2/ips')).status).toBe(200);
      waitedMs.push(performance.now() - asked);
    }
    await simulation;
    // Held for some hundred flows at a time, and not for thousands: whoever asks does so many times meanwhile.
    expect(waitedMs.length).toBeGreaterThan(10);
    expect(Math.max(...waitedMs)).toBeLessThan(tookMs / 3);
    await tenant.post(`${rulesPath}/apply`, { rules: [], destinations: [tenant.address] });
    await forget();
  });
});

describe('rules that are simulated', () => {
  it('say how many packets of the last hour each would have taken, and who would be dropped', async () => {
    await forget();
    const { address } = tenant;
    await sampled([
      ...each(30, datagram(address, { source: '192.0.2.1', length: 500 }), 10),
      ...each(10, datagram(address, { source: '192.0.2.2', length: 500 }), 10),
      ...each(5, packet(address, { source: '192.0.2.3' }), 10),
      ...each(7, packet(address, { ports: { source: 1, destination: 443 } }), 10),
    ]);
    const data = await simulated({
      rules: [dropUdp(address, { source: '192.0.2.1' }), dropSsh(address)],
      force: true,
    });
    expect(data.total).toMatchObject({ packets: 520, samples: 52 });
    expect(data.rules).toMatchObject([
      { rule_id: null, action: 'deny', packets: 300, bytes: 150_000, samples: 30, limited: false },
      { rule_id: null, packets: 50, bytes: 50 * 60, samples: 5 },
    ]);
    expect(data.unmatched).toMatchObject({ packets: 170 });
    expect(data.newly_dropped).toMatchObject({ packets: 350, samples: 35 });
    expect(data.newly_dropped.tops.sip).toEqual([
      { name: '192.0.2.1', type: 'ipv4', value: 300 },
      { name: '192.0.2.3', type: 'ipv4', value: 50 },
    ]);
    expect(data.newly_dropped.tops.dport).toEqual([
      { name: '9', type: 'udp', value: 300 },
      { name: '22', type: 'tcp', value: 50 },
    ]);
    expect(data.newly_permitted).toMatchObject({ packets: 0, tops: { sip: [] } });
    // 35 of 350, each chosen with a chance of one in ten: two standard deviations of √(350 · 9).
    expect(data.newly_dropped.margin).toBe(Math.ceil(1.96 * Math.sqrt(350 * 9)));
    expect(data.certainty).toMatchObject({ level: 'low', samples: 52, one_in: 10 });
    expect(data.certainty.message).toContain('52 packets were looked at, about one in 10');
  });

  it('are held against what is wanted now: what they let in again is told as well', async () => {
    await forget();
    const { address, address6 } = tenant;
    const rule = await ruleInForce(tenant, dropSsh(address));
    const rule6 = await ruleInForce(tenant, dropSsh(address6));
    await sampled([
      ...each(4, packet(address), 1),
      ...each(6, packet(address6), 1),
      ...each(3, datagram(address6), 1),
    ]);
    const data = await simulated({
      rules: [{ ...dropSsh(address), id: rule }, dropUdp(address6)],
      destinations: [address6],
      force: true,
    });
    expect(data.rules).toMatchObject([
      { rule_id: rule, packets: 4 },
      { rule_id: null, packets: 3 },
    ]);
    expect(data.newly_dropped).toMatchObject({ packets: 3, margin: 0 });
    expect(data.newly_permitted).toMatchObject({ packets: 6 });
    expect(data.newly_permitted.tops.sip).toEqual([{ name: '2001:db8:9::9', type: 'ipv6', value: 6 }]);
    expect(data.in_force).toBe(true);
    expect(data.certainty).toMatchObject({ level: 'exact', one_in: 1, margin: 0 });
    // Nothing of it is so.
    const { body } = await tenant.get(rulesPath);
    expect(body.data.rules.map(({ id }: { id: number }) => id).toSorted()).toEqual([rule, rule6].toSorted());
    expect(product.edge.pass(packet(address6))).toBe(false);
    for (const id of [rule, rule6]) await tenant.delete(`${rulesPath}/${id}`);
  });

  it('say that nothing is known where there are no flows, and what is not known of rates', async () => {
    await forget();
    const { address } = tenant;
    const nothing = await simulated({ rules: [dropUdp(address)] });
    expect(nothing.certainty).toMatchObject({ level: 'none', samples: 0, one_in: null });
    expect(nothing.certainty.message).toContain('nobody can say');
    expect(nothing.rules).toMatchObject([{ packets: 0, margin: 0 }]);
    const minute = new Date(Math.floor(product.clock.now().getTime() / 60_000 - 3) * 60_000);
    await sql(
      product,
      'insert into shield_traffic_minutes values (0, $1::inet, $2::timestamptz, $3, 4321, 432100, 0, 0)',
      ...[address, minute, tenant.organizationId],
    );
    const unseen = await simulated({ rules: [dropUdp(address)] });
    expect(unseen.certainty).toMatchObject({ level: 'none' });
    expect(unseen.certainty.message).toContain('4,321 packets came');
    const limiter = { name: 'Simulated', packets_per_second: 5, per: 'source', burst: 10 };
    const { body } = await tenant.post('/shield/v2/rate-limiters', limiter);
    await sampled(each(20, datagram(address), 4));
    const permit = dropUdp(address, { action: 'permit', rate_limiter_id: body.data.rate_limiter.id });
    const limited = await simulated({ rules: [permit] });
    expect(limited.rules).toMatchObject([{ limited: true, packets: 80 }]);
    expect(limited.certainty.message).toContain('Rates are not applied');
    const rate = { packets_per_second: 5, per: 'source', burst: 10 };
    const own = await simulated({ rules: [dropUdp(address, { action: 'permit', rate })] });
    expect(own.rules).toMatchObject([{ limited: true, packets: 80 }]);
  });

  it('are judged by packets that came to the edge', { timeout: 60_000 }, async () => {
    const own = await newTenant(product);
    await watched(product, own.address);
    for (let nth = 0; nth < 12; nth += 1) product.edge.pass(datagram(own.address, { ttl: nth < 4 ? 9 : 64 }));
    const ttl = { match: 'ttl', match_type: 'lt', match_value: 10 };
    const data = await until(
      async () => {
        product.clock.travel(20_000);
        return simulated({ rules: [dropUdp(own.address, { matches: [ttl] })] }, own);
      },
      ({ total }) => total.packets >= 12,
    );
    expect(data).toMatchObject({
      certainty: { level: 'exact' },
      total: { packets: 12, bytes: 1_200 },
      newly_dropped: { packets: 4, tops: { sip: [{ name: '198.51.100.9', value: 4 }] } },
    });
    expect(data.certainty.message).toContain('12 packets were counted');
  });

  it('see only what was sent within the hour, and while the address was the caller’s', async () => {
    await forget();
    const { address } = tenant;
    await sampled(each(5, datagram(address, { source: '192.0.2.1' }), 1), 5, stranger.organizationId);
    await sampled(each(7, datagram(address, { source: '192.0.2.2' }), 1), 61);
    await sampled(each(3, datagram(address, { source: '192.0.2.3' }), 1), 58);
    const data = await simulated({ rules: [dropUdp(address)] });
    expect(data.newly_dropped).toMatchObject({ packets: 3, tops: { sip: [{ name: '192.0.2.3' }] } });
  });

  it('stand for all where there are more flows than are looked at', { timeout: 60_000 }, async () => {
    await forget();
    const { address } = tenant;
    for (let minutesAgo = 2; minutesAgo < 12; minutesAgo += 1) {
      const samples = Array.from({ length: 1_000 }, (_, nth): Sample => {
        const ports = { source: 1_024 + nth, destination: nth % 4 === 0 ? 53 : 9 };
        return { packet: datagram(address, { ports }), standsFor: 2 };
      });
      await sampled(samples, minutesAgo);
    }
    // As if each row had so many.
    await sql(product, 'update shield_flows set count = 30000');
    const to53 = { destination_port: { match_type: 'eq', match_value: [53] } };
    const data = await simulated({ rules: [dropUdp(address, to53)] });
    expect(data.total.packets).toBeGreaterThan(17_000);
    expect(data.total.packets).toBeLessThan(25_000);
    expect(data.rules[0].packets / data.total.packets).toBeCloseTo(0.25, 2);
    expect(data.total.samples).toBeLessThan(5_000);
    expect(data.certainty.message).toContain('one minute of an address in 3');
  });
});

describe('a simulation is refused, and nothing changes,', () => {
  const wrong: [string, (own: Tenant) => object, number, string][] = [
    ['of another organization’s address', () => ({ rules: [dropSsh(stranger.address)] }), 403, 'forbidden'],
    [
      'that names one as a destination',
      () => ({ rules: [], destinations: [stranger.address] }),
      403,
      'forbidden',
    ],
    ['of an address that is nobody’s', () => ({ rules: [dropSsh('192.0.2.9')] }), 403, 'forbidden'],
    ['with host bits', (own) => ({ rules: [dropSsh(`${own.address}/24`)] }), 400, 'invalid_request'],
    ['without a rule and a destination', () => ({ rules: [] }), 400, 'invalid_request'],
    [
      'of a rule that is not theirs',
      (own) => ({ rules: [{ ...dropSsh(own.address), id: 1 }] }),
      400,
      'invalid_request',
    ],
    [
      'with ports of a protocol without',
      (own) => ({ rules: [dropSsh(own.address, { protocol: 47 })] }),
      400,
      'invalid_request',
    ],
    ['with an unknown field', (own) => ({ rules: [dropSsh(own.address)], since: 5 }), 400, 'invalid_request'],
    [
      'of too many rules',
      (own) => ({ rules: Array.from({ length: 201 }, () => dropUdp(own.address)) }),
      409,
      'too_many',
    ],
    [
      'with a limiter that is not there',
      (own) => ({ rules: [dropUdp(own.address, { action: 'permit', rate_limiter_id: 7 })] }),
      404,
      'not_found',
    ],
    [
      'of rules that shut out the caller',
      (own) => ({ rules: [dropSsh(own.address, { source: '127.0.0.0/8' })] }),
      409,
      'would_lock_out',
    ],
  ];
  it.each(wrong)(
    '%s, in the words in which it would be refused in earnest',
    async (_, bodyOf, status, code) => {
      const before = await contents(product);
      const [simulation, apply] = [
        await tenant.post(simulatePath, bodyOf(tenant)),
        await tenant.post(`${rulesPath}/apply`, bodyOf(tenant)),
      ];
      const said = ({ body, ...answer }: typeof apply) => ({
        ...{ status: answer.status, code: body.code, message: body.message, details: body.details },
      });
      expect(said(simulation)).toMatchObject({ status, code });
      expect(said(simulation)).toEqual(said(apply));
      expect(await contents(product)).toEqual(before);
    },
  );
});
