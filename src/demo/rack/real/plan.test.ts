import { describe, expect, it } from 'vitest';
import { chooseThird, inTheWay, mostServers, placesIn, planOf, serverOf } from './plan.ts';

describe('the demonstration’s rack of QEMU', () => {
  it('has as many servers as the memory of its host leaves room for beside the product', () => {
    const gib = (count: number) => count * 1_024;
    expect([2, 2.7, 4, 8, 16].map((count) => mostServers(gib(count)))).toEqual([0, 0, 2, 8, 18]);
    expect(mostServers(gib(512))).toBe(20);
    expect(mostServers(512)).toBe(0);
  });

  it('takes networks that its host is not in, and others than an installation whose rack is down just now', () => {
    const by = 'eth0';
    const [one, other] = ['/srv/one', '/srv/other'].map((dir) => chooseThird(dir, []));
    expect(one).not.toBe(other);
    expect(chooseThird('/srv/one', [{ address: '10.77.0.1', by }])).toBe(one);
    const taken = [`10.78.${one}.64/27`, `10.78.${(Number(one) + 1) % 256}.1`].map((address) => ({
      address,
      by,
    }));
    expect(chooseThird('/srv/one', taken)).toBe((Number(one) + 2) % 256);
    const all = Array.from({ length: 256 }, (_, third) => ({ address: `10.78.${third}.1`, by }));
    expect(() => chooseThird('/srv/one', all)).toThrow(/none is left/);
  });

  it('knows what else on its host leads to its networks, beside its own cables', () => {
    const plan = planOf('/srv/one', 7);
    const own = [plan.cable, plan.management].map((by) => ({ address: '10.78.7.129', by }));
    expect(inTheWay(plan, [...own, { address: '10.78.70.1', by: 'eth0' }])).toBe(null);
    expect(inTheWay(plan, [...own, { address: '10.78.7.0/26', by: 'rack-other' }])).toBe('rack-other');
  });

  it('is told apart from that of another installation by names that interfaces can have', () => {
    const [one, other] = [planOf('/srv/one', 0), planOf('/srv/other', 1)];
    expect(one).not.toEqual(other);
    for (const { cable, management } of [one, other])
      for (const name of [cable, management]) expect(name).toMatch(/^[\w-]{1,15}$/);
    expect(planOf('/srv/one', 0)).toEqual(one);
  });

  it('gives no two servers anything that is the same, and none an address of us or of who rents them', () => {
    const plan = planOf('/srv/one', 3);
    const servers = Array.from({ length: 20 }, (_, at) => serverOf(at + 1, plan));
    const all = servers.flatMap(({ serial, mac, uuid, disks, bmc, port, ports }) => [
      ...[serial, mac, uuid, ...disks, bmc.address, bmc.mac, port, ...Object.values(ports).map(String)],
    ]);
    expect(new Set(all).size).toBe(all.length);
    const last = (address: string) => Number(address.split(/[./]/)[3]);
    const places = placesIn(plan);
    expect([last(places.own), last(places.range.from), last(places.range.to)]).toEqual([1, 10, 60]);
    expect([last(places.customers), last(places.gateway)]).toEqual([64, 65]);
    // Those of the management, apart from the others by its own mask.
    for (const { bmc } of servers) expect(last(bmc.address)).toBeGreaterThan(last(places.switch));
    expect(Math.max(...servers.map(({ bmc }) => last(bmc.address)))).toBeLessThan(191);
    for (const { port } of servers) expect(port).toMatch(/^[\w-]{1,15}$/);
  });
});
