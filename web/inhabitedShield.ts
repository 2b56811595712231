import type { TestProduct } from '../test/product.ts';
import { settled, sql } from '../test/sql.ts';

/** One of the addresses of a customer that have pages about all that Shield can show. */
export interface ShieldSamples {
  /** Without a length. */
  ip: string;
  rule: string;
  attack: string;
}

const minuteMs = 60_000;
const attackId = 4_611_686_018_427;

/** Rules of every kind, an hour of traffic, and attacks on the first address of the demonstration's customer. */
export async function inhabitShield(product: TestProduct, words: string): Promise<ShieldSamples> {
  const { customer } = product;
  const { body } = await customer.get('/shield/v2/ips');
  const ip = String(body.data.ips[0]?.address).replace(/\/\d+$/, '');
  const made = async (path: string, sent: object) => {
    const { status, body: answer } = await customer.post(`/shield/v2${path}`, sent);
    if (status !== 200) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer.data;
  };
  const { rate_limiter: limiter } = await made('/rate-limiters', {
    ...{ name: words.slice(0, 60), packets_per_second: 2_000, per: 'source', burst: 100 },
  });
  const port = (...of: number[]) => ({ match_type: 'eq', match_value: of });
  const rules = [
    { action: 'deny', protocol: 6, order: 100, destination_port: port(22), note: words },
    {
      action: 'permit',
      protocol: 17,
      order: 200,
      destination_port: port(27_015),
      rate_limiter_id: limiter.id,
    },
    {
      ...{ action: 'deny', protocol: 6, order: 300, source: '198.51.100.0/24' },
      source_port: { match_type: 'range', range: { start: 1, end: 1_023 } },
      matches: [
        { match: 'syn', match_type: 'eq', match_value: true },
        { match: 'ttl', match_type: 'lt', match_value: 12 },
      ],
    },
    { action: 'deny', protocol: 1, order: 9_000, expires_at: '2099-01-01T00:00:00Z' },
  ];
  const ids: number[] = [];
  for (const rule of rules) ids.push((await made('/rules', { destination: ip, ...rule })).rule_id);
  await customer.patch(`/shield/v2/rules/${ids[2]}/disable`);
  await made('/rules/presets', { destination: ip, preset: 'block-rdp', note: words });
  await traffic(product, ip);
  await attacks(product, ip);
  await inhabitRouters(product, ip);
  await settled(product);
  return { ip, rule: String(ids[0]), attack: String(attackId) };
}

async function traffic(product: TestProduct, ip: string): Promise<void> {
  const now = Math.floor(product.clock.now().getTime() / minuteMs) * minuteMs;
  await sql(
    product,
    `insert into shield_traffic_minutes (part, address, time, organization_id, packets, bytes, dropped_packets, dropped_bytes)
     select 0, a.address, $2::timestamptz - ago * interval '1 minute', a.organization_id, packets, packets * 420, packets / 5, packets * 84
     from addresses a, generate_series(1, 90) ago, lateral (select (60000 + 50000 * sin(ago / 7.0))::bigint as packets) p
     where a.address = $1 on conflict do nothing`,
    ip,
    new Date(now),
  );
}

/** One that is over, with what was done against it, and one that goes on. */
async function attacks(product: TestProduct, ip: string): Promise<void> {
  const now = product.clock.now().getTime();
  const tops = {
    sport: [...[['udp 53', 800_000] as const], ['udp 123', 4_000]],
    dport: [['udp 9', 700_000]],
    plen: [['1228', 640_000]],
    sip: [['3325256713', 320_000]],
    asn: [['AS64500 A network with a rather long name of its own GmbH & Co. KG', 9_000]],
    country: [['DE', 5_000]],
  };
  const write = (id: number, kind: string, of: number | null, began: number, ended: number | null) =>
    sql(
      product,
      `insert into shield_attacks (id, organization_id, service_id, address, node_id, kind, of, ratio, readings, started_at, last_over_at,
         ended_at, peak_pps, peak_mbps, packets, bytes, ports, counted, tops, created_at, updated_at, closed_at)
       select $1, organization_id, service_id, address, (select min(id) from nodes), $3, $4, 9, 20, $5::timestamptz, coalesce($6, $5), $6::timestamptz,
         148000, 1420, 9300000, 11160000000, '{"53": 800000}', '{}', $7, $5, coalesce($6, $5), $6 from addresses where address = $2`,
      ...[id, ip, kind, of, new Date(began), ended === null ? null : new Date(ended), JSON.stringify(tops)],
    );
  await write(attackId, 'reflection', 53, now - 50 * minuteMs, now - 41 * minuteMs);
  await write(attackId + 1, 'syn', null, now - 2 * minuteMs, null);
  const why = JSON.stringify({
    arrived: { pps: 148_000, mbps: 1_420 },
    past: null,
    limit: { pps: 5_000, mbps: 100 },
  });
  await sql(
    product,
    `insert into shield_mitigations (id, attack_id, organization_id, service_id, address, kind, measure, ports, why, started_at, in_force_since,
       packets, bytes, released_at, because)
     select t.id + nth, t.id, t.organization_id, t.service_id, t.address, t.kind, m.measure, m.ports, $2::jsonb, t.started_at, t.started_at,
       8100000, 9720000000, t.ended_at, 'attack_over'
     from shield_attacks t, (values (1, 'drop_reflection', array[53, 123]), (2, 'limit_sources', array[]::integer[])) m (nth, measure, ports)
     where t.id = $1`,
    attackId,
    why,
  );
}

/** Routers in front, of which one is not reached, with what they are told of the first address of a customer; answers their edge. */
export async function inhabitRouters(product: TestProduct, ip: string): Promise<string> {
  const now = product.clock.now();
  const takes = (announced: number) =>
    (['flow', 'blackhole'] as const).map((kind) => ({ kind, family: 4, announced }));
  const peers = [
    { address: '192.0.2.254', asn: 64_500, state: 'established', refusals: 0, takes: takes(3) },
    {
      address: '2001:db8:ffff:ffff:ffff:ffff:ffff:fffe',
      asn: 4_200_000_000,
      state: 'connecting',
      refusals: 12,
      takes: [],
    },
  ];
  const [edge] = await sql<{ id: string }>(
    product,
    `insert into shield_edges (node_id, kind, name, engine, capabilities, served, created_at, seen_at, peers, peers_down_since, routes)
     select min(id), 'routers', min(name) || ' routers', 'bgp', '{}', true, $1, $1, $2, $1, 4 from nodes
     on conflict (node_id, (kind = 'routers')) do update set served = true returning id::text`,
    ...[now, JSON.stringify(peers)],
  );
  const id = edge?.id ?? '';
  await sql(
    product,
    `insert into shield_prefixes (edge_id, network, created_at) select $1, network, $2 from address_pools limit 1 on conflict do nothing`,
    ...[id, now],
  );
  await sql(
    product,
    `insert into shield_announcements (edge_id, address, organization_id, service_id, generation, measure, held, held_since, routes, error, updated_at)
     select $1, address, organization_id, service_id, 1, '{"kind": "blackhole"}', null, null, 0, $3, $2 from addresses where address = $4
     on conflict do nothing`,
    ...[id, now, 'gobgpd at unix:/run/innkeeper-bgp/api.sock: no more than 1000 routes', ip],
  );
  const left = [
    { rule: 1_873_920_411, why: 'rule 1873920411: FlowSpec does not look at the TTL' },
    { rule: null, why: 'it comes after rule 1873920411' },
  ];
  await sql(
    product,
    `insert into shield_announced_rules (edge_id, address, organization_id, generation, routes, left_out, updated_at)
     select $1, address, organization_id, 1, 1, $3, $2 from addresses where address = $4
     on conflict do nothing`,
    ...[id, now, JSON.stringify(left), ip],
  );
  return id;
}
