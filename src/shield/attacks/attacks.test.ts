import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { noRouters } from '../mitigation/driven.testbed.ts';
import { newTenant, packet, type ShieldedProduct, startShielded, type Tenant } from '../testbed.ts';
import { createWatcher } from '../watch/watcher.ts';
import { attacksOf, attackThat, datagram, flood, touchy, watched } from './flood.testbed.ts';

let product: ShieldedProduct;
let tenant: Tenant;
beforeAll(async () => {
  product = await startShielded();
  tenant = await newTenant(product);
  await watched(product, tenant.address);
  await touchy(tenant);
});
afterAll(() => product.stop());

const isOver = ({ ended_at }: Record<string, unknown>) => ended_at !== '';
const goesOn = ({ ended_at }: Record<string, unknown>) => ended_at === '';

/** Has it end: thirty seconds without a packet go by. */
async function over(who = tenant) {
  // The last of what was sent is read first: else it would be of the time that goes by.
  await new Promise((resolve) => setTimeout(resolve, 0));
  return until(async () => {
    product.clock.travel(31_000);
    return (await attacksOf(who))[0];
  }, isOver);
}

const overview = async () => {
  const { body } = await tenant.get(`/dashboard/service/${tenant.serviceId}/vps/overview`);
  const ip = body.data.vps.ips.find((each: { address: string }) => each.address === tenant.address);
  return ip.shield;
};

describe('an attack', () => {
  it('is noticed, told of and ended, and shown as it is meanwhile', { timeout: 60_000 }, async () => {
    expect(await overview()).toMatchObject({ under_attack: false });
    const sent = flood(product, datagram(tenant.address));
    const attack = await attackThat(tenant, goesOn);
    expect(await overview()).toMatchObject({ under_attack: true });
    const { body } = await tenant.get('/shield/v2/ips');
    expect(
      body.data.ips.find((ip: { address: string }) => ip.address === attack.dest).shield.under_attack,
    ).toBe(true);
    sent.stop();
    const ended = await over();
    expect(ended).toMatchObject({ attack_id: attack.attack_id, kind: 'udp', description: 'UDP flood' });
    const { packets, bytes } = ended.counters as { packets: number; bytes: number };
    expect(bytes).toBe(100 * packets);
    expect(await overview()).toMatchObject({ under_attack: false });
    await settled(product);
    const told = await sql<{ action: string; data: Record<string, unknown> }>(
      product,
      `select action, data from journal where action like 'shield.attack.%' and organization_id = $1 order by id`,
      tenant.organizationId,
    );
    expect(told.map(({ action }) => action).filter((name) => !name.endsWith('updated'))).toEqual([
      'shield.attack.started',
      'shield.attack.ended',
    ]);
    expect(told.at(-1)?.data).toMatchObject({ attack_id: attack.attack_id, ended_at: ended.ended_at });
    const mails = await sql<{ subject: string }>(
      product,
      `select m.subject from mails m join journal j on j.id = m.journal_id
       where m.organization_id = $1 and j.action like 'shield.attack.%' order by m.id`,
      tenant.organizationId,
    );
    expect(mails.map(({ subject }) => subject).toSorted()).toEqual([
      `Attack on ${tenant.address}/32: UDP flood`,
      `The attack on ${tenant.address}/32 is over`,
    ]);
  });

  it('has its name by what is sent, in both families', { timeout: 90_000 }, async () => {
    const named = async (who: string, ...packets: Parameters<typeof flood>[1][]) => {
      await touchy(tenant, who);
      await watched(product, who);
      const sent = flood(product, ...packets);
      const found = await attackThat(
        tenant,
        (each) => goesOn(each) && String(each.dest).startsWith(`${who}/`),
      );
      sent.stop();
      await over();
      return found.description;
    };
    const dns = { ports: { source: 53, destination: 9 }, length: 1_200 };
    expect(await named(tenant.address, datagram(tenant.address, dns))).toBe('DNS reflection');
    const syn6 = packet(tenant.address6);
    expect(await named(tenant.address6, syn6)).toBe('TCP SYN flood');
    const [newest, reflected] = await attacksOf(tenant);
    expect(newest.dest).toBe(`${tenant.address6}/128`);
    const { body } = await tenant.get(`/shield/v2/attacks/${reflected.attack_id}`);
    expect(body.data.attack).toMatchObject({ attack_id: reflected.attack_id, kind: 'reflection' });
    expect(body.data.info.sport).toMatchObject([{ name: '53', type: 'udp' }]);
    expect(Number.isInteger(body.data.info.sport[0].value)).toBe(true);
  });

  it('is gone on with by whoever looks after the node next: nothing lost, and not two of it', {
    timeout: 60_000,
  }, async () => {
    const sent = flood(product, datagram(tenant.address));
    const attack = await attackThat(tenant, goesOn);
    const [node] = await sql<{ id: number }>(product, 'select id from nodes order by id limit 1');
    const next = createWatcher(product.ctx, Number(node?.id), () => product.edge, noRouters);
    await next();
    sent.stop();
    await attackThat(tenant, goesOn);
    // Nobody but the next one has these in hand when they are told apart by what is written.
    await until(async () => {
      product.clock.travel(31_000);
      await next();
      return (await attacksOf(tenant))[0];
    }, isOver);
    const [newest, before] = await attacksOf(tenant);
    expect(newest.attack_id).toBe(attack.attack_id);
    expect(before?.attack_id).not.toBe(attack.attack_id);
    const ended = await sql(
      product,
      `select 1 from shield_attacks where address = $1::inet and ended_at is null`,
      tenant.address,
    );
    expect(ended).toEqual([]);
  });

  it('is followed while the database does not answer, and written down and told of once it does', {
    timeout: 60_000,
  }, async () => {
    const unwritten = await newTenant(product);
    await watched(product, unwritten.address);
    await touchy(unwritten);
    const holder = new pg.Client({ connectionString: product.databaseUrl });
    await holder.connect();
    await holder.query('begin; lock table shield_attacks in access exclusive mode');
    const reads = product.edge.readTraffic;
    let readings = 0;
    product.edge.readTraffic = () => {
      readings += 1;
      return reads();
    };
    const sent = flood(product, datagram(unwritten.address));
    await until(
      async () => readings,
      (count) => count >= 4,
    );
    sent.stop();
    await new Promise((resolve) => setTimeout(resolve, 0));
    product.clock.travel(31_000);
    const before = readings;
    await until(
      async () => readings,
      (count) => count >= before + 2,
    );
    product.edge.readTraffic = reads;
    const [last] = await sql<{ id: string }>(product, 'select coalesce(max(id), 0) as id from journal');
    await holder.query('rollback');
    await holder.end();
    const attack = await attackThat(unwritten, isOver);
    expect(attack).toMatchObject({ kind: 'udp' });
    const told = () =>
      sql<{ action: string; data: { attack_id: string } }>(
        product,
        `select action, data from journal where action like 'shield.attack.%' and organization_id = $1 and id > $2 order by id`,
        unwritten.organizationId,
        last?.id,
      );
    const of = (action: string) => ({
      action,
      data: expect.objectContaining({ attack_id: attack.attack_id }),
    });
    expect(await told()).toEqual([of('shield.attack.started'), of('shield.attack.ended')]);
  });

  it('is none where that is switched off, nor below what its owner says', async () => {
    const quiet = await newTenant(product);
    await quiet.patch(`/shield/v2/sensitivity/${quiet.address}`, { level: 'off' });
    const calm = await newTenant(product);
    for (const { address } of [quiet, calm]) await watched(product, address);
    await touchy(calm, calm.address, {});
    await calm.patch(`/shield/v2/sensitivity/${calm.address}`, {
      thresholds: { udp: { pps: 2_000_000, mbps: 1_000_000 } },
    });
    const loud = flood(product, ...[quiet, calm, tenant].map(({ address }) => datagram(address)));
    await attackThat(tenant, goesOn);
    loud.stop();
    expect([await attacksOf(quiet), await attacksOf(calm)]).toEqual([[], []]);
    await over();
  });

  it('is its owner’s alone, and ends when the address is given back', { timeout: 60_000 }, async () => {
    const leaving = await newTenant(product);
    await watched(product, leaving.address);
    await touchy(leaving);
    const sent = flood(product, datagram(leaving.address));
    const attack = await attackThat(leaving, goesOn);
    expect((await tenant.get(`/shield/v2/attacks/${attack.attack_id}`)).status).toBe(403);
    expect((await tenant.get('/shield/v2/attacks/4242')).status).toBe(404);
    await leaving.post(`/dashboard/services/${leaving.serviceId}/cancel`, { type: 'immediate' });
    await attackThat(leaving, isOver);
    sent.stop();
    await until(
      () => product.edge.list(),
      (held) => !held.some(({ destination }) => destination === `${leaving.address}/32`),
    );
  });
});

describe('clients that were written for this API', () => {
  const largest = 2_147_483_647;
  /** An attack as the watcher writes it, at a time. */
  const plant = async (
    id: string,
    startedAgoS: number,
    endedAgoS: number,
    change: Record<string, number> = {},
  ) => {
    const now = product.clock.now().getTime();
    const ago = (seconds: number) => new Date(now - seconds * 1_000);
    const { pps = 1, mbps = 1, bytes = 1 } = change;
    await sql(
      product,
      `insert into shield_attacks (id, organization_id, service_id, address, node_id, kind, ratio, readings, started_at,
         last_over_at, ended_at, peak_pps, peak_mbps, packets, bytes, ports, counted, created_at, updated_at, closed_at)
       select $1, a.organization_id, a.service_id, a.address, p.node_id, 'udp', 2, 2, w.began, w.ended, w.ended, $5, $6, 1, $7,
         '{}', '{}', w.began, w.ended, w.ended
       from addresses a join placements p on p.service_id = a.service_id,
         (values ($2::timestamptz, $3::timestamptz)) w(began, ended) where a.address = $4::inet`,
      ...[id, ago(startedAgoS), ago(endedAgoS), other.address, pps, mbps, bytes],
    );
  };
  let other: Tenant;
  beforeAll(async () => {
    other = await newTenant(product);
  });
  const find = async (id: string, query = '') =>
    (await attacksOf(other, query)).find((each: { attack_id: string }) => each.attack_id === id);

  it('read integers within 31 bits, ids of digits, and plain moments; nothing is absent or null', async () => {
    await plant('4503599627370999', 100_000, 5_000, { pps: 3e10, mbps: 4e9, bytes: 9e15 });
    const attack = await find('4503599627370999');
    expect(Object.keys(attack).toSorted()).toEqual(
      [
        ...['attack_id', 'dest', 'status', 'start_time', 'event_time', 'duration', 'mbps', 'pps', 'volume'],
        ...[
          'description',
          'kind',
          'service_id',
          'counters',
          'mitigations',
          'started_at',
          'updated_at',
          'ended_at',
        ],
      ].toSorted(),
    );
    expect(Object.values(attack)).not.toContain(null);
    expect(attack.attack_id).toMatch(/^[1-9]\d{0,18}$/);
    expect(BigInt(attack.attack_id) < 2n ** 63n).toBe(true);
    for (const field of ['duration', 'mbps', 'pps', 'volume']) {
      expect(Number.isInteger(attack[field]), field).toBe(true);
      expect(attack[field], field).toBeLessThanOrEqual(largest);
    }
    expect(attack).toMatchObject({ pps: largest, mbps: largest, volume: largest, duration: 95_000 });
    const moment = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
    expect([attack.start_time, attack.event_time]).toEqual([
      expect.stringMatching(moment),
      expect.stringMatching(moment),
    ]);
    expect(attack.start_time).toBe(attack.started_at.slice(0, 19).replace('T', ' '));
    expect(attack.event_time).toBe(attack.ended_at.slice(0, 19).replace('T', ' '));
    for (const field of ['dest', 'description', 'start_time']) expect(attack[field], field).not.toBe('');
    // As it is sent, not as it is read: no fraction and no exponent.
    const url = `${product.url}/api/shield/v2/attacks/4503599627370999`;
    const text = await (await fetch(url, { headers: { token: other.key } })).text();
    expect(text).toMatch(/"pps":2147483647,/);
    expect(text).not.toMatch(/":-?\d+(\.\d|e)/i);
    const { data } = JSON.parse(text);
    expect(Object.keys(data).toSorted()).toEqual(['attack', 'info']);
    expect(Object.keys(data.info).toSorted()).toEqual([
      'dport',
      'plen',
      'sip',
      'sport',
      'src-asn',
      'src-country',
    ]);
  });

  it('who ask once a minute see each start, going on and end, however short it was', async () => {
    await plant('4503599627370998', 1, 0);
    const states: string[] = [];
    const ask = async () => states.push((await find('4503599627370998'))?.status);
    await ask();
    for (let minute = 1; minute <= 3; minute += 1) {
      product.clock.travel(60_000);
      await ask();
    }
    expect(states).toEqual(['start', 'ongoing', 'end', 'end']);
  });

  it('have what ended in chunk 0 for ten minutes, and the rest in chunks', async () => {
    await plant('4503599627370990', 90_000, 20);
    for (let nth = 0; nth < 5; nth += 1) await plant(`45035996273709${80 + nth}`, 50_000 + nth, 40_000);
    const ids = async (query: string) =>
      (await attacksOf(other, query)).map(({ attack_id }: { attack_id: string }) => attack_id);
    expect(await ids('?chunk=0&limit=2')).toContain('4503599627370990');
    const all = await ids('');
    const chunks = await Promise.all(Array.from({ length: 6 }, (_, chunk) => ids(`?chunk=${chunk}&limit=2`)));
    expect(new Set(chunks.flat())).toEqual(new Set(all));
    expect(await ids('?chunk=400&limit=2')).toEqual([]);
    product.clock.travel(11 * 60_000);
    expect(await ids('?chunk=0&limit=2')).not.toContain('4503599627370990');
    expect(await ids(`?filter=${encodeURIComponent(other.address)}`)).toHaveLength(all.length);
    expect(await ids('?filter=192.0.2.1')).toEqual([]);
    expect((await other.get('/shield/v2/attacks?chunk=x')).status).toBe(400);
  });
});
