import { expect, it } from 'vitest';
import { families, freshAddress, type Given, packet, policy, rule, times } from './hands.testbed.ts';

/** What is seen of packets, whatever becomes of them. */
export function describeTraffic(given: Given): void {
  it('counts what is sent to an address by kind, whatever becomes of it', async () => {
    if (!given.can('traffic')) return;
    for (const family of families) {
      const address = freshAddress(family);
      await given.edge.replace([policy(address, 1, [rule(1, 'deny', { protocols: [[17, 17]] })])]);
      const syn = packet(address, { protocol: 6, flags: ['syn'] });
      await given.send([
        ...times(5, packet(address, { ports: { source: 123, destination: 9 }, length: 468 })),
        ...times(2, packet(address)),
        ...times(3, syn),
        { ...syn, flags: ['syn', 'ack'] },
        ...times(4, packet(address, { ports: null, fragment: true })),
        packet(address, { protocol: 47, ports: null }),
      ]);
      const seen = (await given.edge.readTraffic()).addresses.filter((each) => each.address === address);
      expect(
        seen.map(({ kind, of, packets, bytes }) => `${kind} ${of} ${packets} ${bytes}`).toSorted(),
      ).toEqual([
        'fragment null 4 480',
        'protocol 17 11 3060',
        'protocol 47 1 120',
        'protocol 6 4 480',
        'reflection 123 5 2340',
        'syn null 3 360',
      ]);
    }
  });

  it('counts protocols that nobody looks at together: who sends them all takes no room of others', async () => {
    if (!given.can('traffic')) return;
    for (const family of families) {
      const address = freshAddress(family);
      await given.edge.replace([policy(address, 1, [])]);
      const strange = Array.from({ length: 40 }, (_, nth) => 150 + nth);
      await given.send([
        ...strange.map((protocol) => packet(address, { protocol, ports: null })),
        ...times(2, packet(address)),
      ]);
      const seen = (await given.edge.readTraffic()).addresses.filter((each) => each.address === address);
      expect(seen.map(({ kind, of, packets }) => `${kind} ${of} ${packets}`).toSorted()).toEqual([
        'protocol 17 2',
        'protocol 255 40',
      ]);
    }
  });

  it('counts it also where only a trial or a measure is, and nowhere else', async () => {
    if (!given.can('traffic')) return;
    for (const family of families) {
      const [tried, measured, released, free] = families.concat(families).map(() => freshAddress(family));
      const addresses = [tried, measured, released, free] as [string, string, string, string];
      const measure = { kind: 'filter', rules: [rule(5, 'deny')], exempt: [] } as const;
      await given.edge.try([policy(addresses[0], 1, [])], 60);
      for (const destination of [addresses[1], addresses[2]]) {
        await given.edge.mitigate({ destination, generation: 1, measure });
        await given.edge.mitigate({ destination, generation: 2, measure });
      }
      await given.edge.release([{ destination: addresses[2], generation: 2 }]);
      const arrived = await given.send(addresses.flatMap((each) => times(3, packet(each))));
      expect(arrived.map(Number).join('')).toBe('111000111111');
      const seen = (await given.edge.readTraffic()).addresses.filter((each) =>
        addresses.includes(each.address),
      );
      expect(
        seen.map(({ address, kind, of, packets }) => `${address} ${kind} ${of} ${packets}`).toSorted(),
      ).toEqual([addresses[0], addresses[1]].map((each) => `${each} protocol 17 3`).toSorted());
      await given.edge.release([{ destination: addresses[1], generation: 2 }]);
    }
  });

  it('says that it has no samples where it does not claim to', async () => {
    if (given.edge.capabilities.includes('samples')) return;
    await expect(given.edge.readSamples()).rejects.toMatchObject({ code: 'not_supported', permanent: true });
  });
}
