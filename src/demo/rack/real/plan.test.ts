import { describe, expect, it } from 'vitest';
import { freeThird, mostServers, placesIn, planOf, serverOf } from './plan.ts';

describe('the demonstration’s rack of QEMU', () => {
  it('has as many servers as the memory of its host leaves room for beside the product', () => {
    const gib = (count: number) => count * 1_024;
    expect([2, 2.7, 4, 8, 16].map((count) => mostServers(gib(count)))).toEqual([0, 0, 2, 8, 18]);
    expect(mostServers(gib(512))).toBe(20);
    expect(mostServers(512)).toBe(0);
  });

  it('takes networks that its host is not in', () => {
    expect(freeThird(['127.0.0.1', '10.77.0.1', '10.78.10.1'])).toBe(0);
    expect(freeThird(['10.78.0.1', '10.78.1.65'])).toBe(2);
    const all = Array.from({ length: 256 }, (_, third) => `10.78.${third}.1`);
    expect(() => freeThird(all)).toThrow(/none is left/);
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
