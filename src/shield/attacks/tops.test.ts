import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DrivenProduct, newestAttack, startDriven } from '../mitigation/driven.testbed.ts';
import { loadSourceNames } from '../names/names.ts';
import { newTenant, packet, type Tenant } from '../testbed.ts';
import type { Top } from '../tops.ts';
import { look } from '../watch/samples.ts';
import { datagram, touchy } from './flood.testbed.ts';
import { addSamples, nameSources, noAttackTops, topsFrom, viewAttackTops, writtenOf } from './tops.ts';

let product: DrivenProduct;
let tenant: Tenant;
beforeAll(async () => {
  product = await startDriven();
  tenant = await newTenant(product);
  await touchy(tenant);
  await product.seconds(4);
});
afterAll(() => product.stop());

async function shown(who = tenant) {
  const { attack_id } = await newestAttack(who);
  const { body } = await who.get(`/shield/v2/attacks/${attack_id}`);
  const info = body.data.info as Record<string, Top[]>;
  const notices = body.notices as { url: string }[];
  return {
    info,
    notices,
    list: (name: string) => (info[name] ?? []).map((top) => `${top.type} ${top.name}`),
  };
}

it('an attack has its most frequent ports, lengths and senders by samples, and goes on with them after a restart', {
  timeout: 180_000,
}, async () => {
  const { address } = tenant;
  const ports = { source: 5_555, destination: 7_777 };
  const from = (source: string) => datagram(address, { source, ports, length: 333 });
  // Visitors meanwhile are no part of it.
  const visitor = packet(address, { source: '9.9.9.9', ports: { source: 4_444, destination: 443 } });
  const names = await loadSourceNames();
  const sent: Parameters<DrivenProduct['second']> = [
    [from('1.1.1.1'), 300],
    [from('8.8.8.8'), 100],
    [{ ...visitor, flags: ['ack'] }, 150],
  ];
  await product.seconds(3, ...sent);
  const first = await shown();
  expect(first.list('sip')).toEqual(['ipv4 1.1.1.1', 'ipv4 8.8.8.8']);
  expect(first.list('dport')).toEqual(['udp 7777']);
  expect(first.list('sport')).toEqual(['udp 5555']);
  expect(first.list('plen')).toEqual(['bytes 333']);
  const value = (info: Record<string, Top[]>, nth: number) => info.sip?.[nth]?.value ?? 0;
  // All that came while it was above its limit, as near as chance allows.
  expect(Math.abs(value(first.info, 0) - 900)).toBeLessThan(450);
  expect(Math.abs(value(first.info, 1) - 300)).toBeLessThan(250);
  for (const { name, type, value: count } of Object.values(first.info).flat()) {
    expect([typeof name, typeof type]).toEqual(['string', 'string']);
    expect(Number.isInteger(count) && count > 0 && count < 2 ** 31).toBe(true);
  }
  if (names.bytes > 0) {
    expect(first.list('src-asn')[0]).toMatch(/^asn AS13335 Cloudflare/);
    expect(first.list('src-country')).toContain('country US');
    expect(first.notices.map(({ url }) => url)).toContain('https://db-ip.com');
  } else expect([first.info['src-asn'], first.info['src-country'], first.notices]).toEqual([[], [], []]);

  // Whoever looks after the node next goes on from what is written.
  product.restart();
  await product.seconds(3, [from('8.8.8.8'), 900]);
  const after = await shown();
  expect(after.list('sip')).toEqual(['ipv4 8.8.8.8', 'ipv4 1.1.1.1']);
  expect(value(after.info, 1)).toBe(value(first.info, 0));
  expect(value(after.info, 0)).toBeGreaterThan(value(first.info, 1));
  product.clock.travel(31_000);
  await product.second();
  expect((await shown()).info).toEqual(after.info);
});

it('an attack of which no packet was looked at has empty lists, and of what is reflected the ports that were counted', () => {
  const empty = { dport: [], sport: [], plen: [], sip: [], 'src-asn': [], 'src-country': [] };
  expect(viewAttackTops({}, {})).toEqual(empty);
  expect(viewAttackTops({}, { 123: 5_000_000_000 })).toEqual({
    ...empty,
    sport: [{ name: '123', type: 'udp', value: 2_147_483_647 }],
  });
});

it('a flood of false senders takes no more room, and who sends most is still found', () => {
  const tops = noAttackTops();
  const address = '203.0.113.10';
  const source = (nth: number) => `${10 + (nth >> 16)}.${(nth >> 8) & 255}.${nth & 255}.7`;
  for (let nth = 0; nth < 20_000; nth += 1) {
    const samples = [datagram(address, { source: source(nth) })];
    if (nth % 20 === 0) samples.push(datagram(address, { source: '192.0.2.77' }));
    addSamples(
      tops,
      samples.map((each) => look({ packet: each, standsFor: 64 })),
      { kind: 'udp' },
      [],
    );
  }
  for (const counts of [tops.sip, tops.unnamed]) expect(counts.size).toBeLessThanOrEqual(2_000);
  const { sip } = viewAttackTops(writtenOf(tops), {});
  expect(sip[0]).toEqual({ name: '192.0.2.77', type: 'ipv4', value: 64_000 });
  expect(JSON.stringify(writtenOf(tops)).length).toBeLessThan(8_000);
});

it('senders that came before their names were there are named once they are; those whom the owner spares are no part', () => {
  const tops = noAttackTops();
  const samples = ['192.0.2.1', '192.0.2.1', '198.51.100.1', '2001:db8::1'].map((source) => {
    const destination = source.includes(':') ? '2001:db8:7::10' : '203.0.113.10';
    return look({ packet: datagram(destination, { source }), standsFor: 2 });
  });
  addSamples(tops, samples, { kind: 'udp' }, ['198.51.100.0/24']);
  nameSources(tops, null);
  expect(tops.asn.size).toBe(0);
  const names = {
    asnOf: () => 'AS64500',
    countryOf: (of: number | bigint) => (typeof of === 'bigint' ? null : 'DE'),
  };
  for (let again = 0; again < 2; again += 1) nameSources(tops, { ...names, bytes: 1 });
  expect([...tops.asn, ...tops.country]).toEqual([
    ['AS64500', 6],
    ['DE', 4],
  ]);
  expect(topsFrom(writtenOf(tops)).asn.get('AS64500')).toBe(6);
});
