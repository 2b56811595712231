import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAsRoot } from '../../../platform/host/program.ts';
import type { Edge, Packet, Policy, Rule } from '../contract.ts';
import { type EdgeNetwork, edgeNetwork } from '../suite/network.testbed.ts';
import { nftablesEdge } from './driver.ts';
import { denyAll, replacedUnderLoad } from './underLoad.testbed.ts';

const packet = (destination: string, other: Partial<Packet> = {}): Packet => ({
  ...{ source: '198.18.2.5', destination, protocol: 17, ports: { source: 40_000, destination: 9_999 } },
  ...{ flags: null, dscp: 0, ecn: 0, ttl: 64, length: 60, fragment: false },
  ...other,
});

describe('the packet filter of this host', { timeout: 180_000 }, () => {
  let network: EdgeNetwork;
  let edge: Edge;
  /** Kills nft after so many seconds. */
  let killAfterS: (() => number) | null = null;
  let last = 0;
  const freshAddress = () => `10.100.0.${++last}`;
  const nft = (...argv: string[]) => runAsRoot(network.inside(['nft', ...argv]));
  const inside = (argv: readonly string[]) => [
    ...(killAfterS === null ? [] : ['timeout', '-s', 'KILL', killAfterS().toFixed(3)]),
    ...network.inside(argv),
  ];
  beforeAll(async () => {
    network = await edgeNetwork();
    edge = nftablesEdge({ bridged: true, inside });
  });
  afterAll(() => network?.close());

  const passes = async (one: Packet) => (await network.send([one]))[0];
  const held = async (destination: string) =>
    (await edge.list())
      .filter((each) => each.destination === `${destination}/32`)
      .map(({ generation }) => generation);

  it('replaces a policy again and again under load, lets nothing through, and counts each packet once', async () => {
    // For fifteen seconds and more than that: `driver.long.test.ts`.
    const load = await replacedUnderLoad(network, edge, packet(freshAddress()), {
      ...{ seconds: 4, replacements: 10 },
    });
    expect([load.arrived, load.counted]).toEqual([0, load.sent]);
    expect(load.sent).toBeGreaterThan(10_000);
  });

  it('is left with the old policies or the new ones, whole and all of them, when nft is killed', async () => {
    const [one, other] = [freshAddress(), freshAddress()];
    const even = [1, 2, 3, 4, 5].map((nth): Rule => {
      return {
        id: nth,
        action: 'deny',
        match: { protocols: [[17, 17]], destinationPorts: [[nth, nth]] },
        limit: null,
      };
    });
    const limit = { packetsPerSecond: 1_000, per: 'source', burst: 1_000 } as const;
    const odd: Rule[] = [
      { id: 1, action: 'deny', match: { destinationPorts: [[6, 10]], lengths: [[50, 100]] }, limit: null },
      { id: 2, action: 'permit', match: {}, limit },
    ];
    const generation = (nth: number): Policy[] =>
      [one, other].map((destination) => {
        return { destination, generation: nth, rules: nth % 2 === 0 ? even : odd, unmatched: 'permit' };
      });
    const ports = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    const open = async (address: string) => {
      const to = (destination: number) => packet(address, { ports: { source: 40_000, destination } });
      const arrived = await network.send(ports.map(to));
      return ports.filter((_, nth) => arrived[nth]);
    };
    await edge.replace(generation(0));
    let failures = 0;
    for (let nth = 1; nth <= 12; nth += 1) {
      killAfterS = () => Math.random() * 0.05;
      await edge.replace(generation(nth)).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'edge_refused', permanent: false });
        failures += 1;
      });
      killAfterS = null;
      const [now = -1] = await held(one);
      expect(await held(other)).toEqual([now]);
      expect(now <= nth, `${now} of ${nth}`).toBe(true);
      for (const address of [one, other])
        expect(await open(address)).toEqual(now % 2 === 0 ? ports.slice(5) : ports.slice(0, 5));
    }
    expect(failures).toBeGreaterThan(0);
    await edge.replace(generation(14));
    expect([await held(one), await open(one)]).toEqual([[14], ports.slice(5)]);
  });

  it('notices what somebody flushed, deleted or changed, and writes it anew', async () => {
    const [one, other] = [freshAddress(), freshAddress()];
    const both = [denyAll(one, 4), denyAll(other, 4)];
    const ways = [
      ['flush', 'table', 'inet', 'innkeeper_edge'],
      ['delete', 'table', 'inet', 'innkeeper_edge'],
      ['flush', 'ruleset'],
    ];
    for (const way of ways) {
      await edge.replace(both);
      expect(await network.send([packet(one), packet(other)])).toEqual([false, false]);
      await nft(...way);
      expect([await held(one), await held(other)], way.join(' ')).toEqual([[], []]);
      await edge.replace([denyAll(one, 3)]);
      await edge.replace(both);
      expect([await held(one), await held(other)]).toEqual([[4], [4]]);
      expect(await network.send([packet(one), packet(other)]), way.join(' ')).toEqual([false, false]);
    }
    const [writing] = (await edge.readRules([one]))
      .filter(({ isOver }) => !isOver)
      .map((each) => each.writing);
    await nft('flush', 'chain', 'inet', 'innkeeper_edge', writing ?? '');
    expect(await passes(packet(one))).toBe(true);
    await edge.replace(both);
    expect(await passes(packet(one))).toBe(false);
  });

  /** As many rules as an address may have, each with rates for each source, and ports as long as they may be. */
  const longest = (): Rule[] => {
    const ports = Array.from({ length: 65 }, (_, nth): [number, number] => [nth * 1_000, nth * 1_000 + 900]);
    const limit = { packetsPerSecond: 1, bitsPerSecond: 8_000, per: 'source', burst: 1_000_000 } as const;
    return Array.from({ length: 200 }, (_, nth): Rule => {
      const match = { sources: [`10.0.${nth}.0/24`], sourcePorts: ports, destinationPorts: ports };
      return { id: nth + 1, action: 'permit', match, limit };
    });
  };

  it('is asked for a policy of two hundred limits at once, and keeps nobody else waiting for it', async () => {
    const address = freshAddress();
    await edge.replace([
      { destination: `${address}/32`, generation: 1, rules: longest(), unmatched: 'deny' },
    ]);
    const begun = Date.now();
    const counts = await edge.readRules([`${address}/32`]);
    expect(counts.length).toBe(201);
    // Where each of their chains was asked for it took 36 s, and the next time more than nft was given.
    expect(Date.now() - begun).toBeLessThan(10_000);
    await edge.remove([{ destination: `${address}/32`, generation: 1 }]);
    await edge.forget(counts.map(({ writing }) => writing));
  });

  it('forgets what the kernel still holds, as it does a trial that ran out until it collects it', async () => {
    const address = freshAddress();
    await edge.replace([denyAll(address, 1)]);
    await edge.replace([denyAll(address, 2)]);
    const [over] = (await edge.readRules([address])).filter(({ isOver }) => isOver);
    const at = 'inet innkeeper_edge';
    // Whoever holds the chain, the kernel says the same.
    await nft(`add map ${at} held { type ipv4_addr : verdict; }`);
    await nft(`add element ${at} held { ${address} : goto ${over?.writing} }`);
    const forgotten = edge.forget([over?.writing ?? '']);
    await pause(700);
    await nft(`delete map ${at} held`);
    await forgotten;
    expect((await edge.readRules([address])).filter(({ isOver }) => isOver)).toEqual([]);
    expect(await passes(packet(address))).toBe(false);
  });

  it('has room for so many sources of one policy, however many limits it has', async () => {
    const address = freshAddress();
    await edge.replace([
      { destination: `${address}/32`, generation: 1, rules: longest(), unmatched: 'deny' },
    ]);
    const { stdout } = await nft('-t', 'list', 'sets', 'inet');
    const sizes = [...stdout.matchAll(/set (policy_\S+_l\d+[pb]) \{[^}]*?size (\d+)/g)].map(([, , size]) =>
      Number(size),
    );
    expect(sizes.length).toBe(400);
    const most = 65_536;
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(most);
    await edge.remove([{ destination: `${address}/32`, generation: 1 }]);
  });

  it('keeps filtering by one table when the other is taken away, and writes only what is missing', async () => {
    for (const [gone, left] of [
      ['bridge', 'inet'],
      ['inet', 'bridge'],
    ] as const) {
      const [address, tried] = [freshAddress(), freshAddress()];
      await edge.replace([denyAll(address, 4)]);
      await edge.try([denyAll(tried, 1)], 600);
      await edge.mitigate({ destination: tried, generation: 1, measure: { kind: 'blackhole' } });
      const bridged = left === 'bridge';
      const send = async (to: string, between: boolean) =>
        (await network.send([packet(to)], { bridged: between }))[0];
      expect([await send(address, false), await send(address, true)]).toEqual([false, false]);
      await nft('delete', 'table', gone, 'innkeeper_edge');
      for (const each of [edge, nftablesEdge({ bridged: true, inside })]) {
        expect((await each.list()).filter(({ destination }) => destination.startsWith(address))).toEqual([]);
        expect([await send(address, bridged), await send(address, !bridged)]).toEqual([false, true]);
      }
      // An older one is none, also now.
      await edge.replace([{ ...denyAll(address, 3), rules: [] }]);
      expect(await send(address, bridged)).toBe(false);
      await edge.replace([denyAll(address, 4)]);
      await edge.try([denyAll(tried, 1)], 600);
      expect([await send(address, false), await send(address, true)]).toEqual([false, false]);
      expect([await send(tried, false), await send(tried, true)]).toEqual([false, false]);
      expect(await held(address)).toEqual([4]);
      await edge.confirm([{ destination: tried, generation: 1 }]);
      await edge.release([{ destination: tried, generation: 1 }]);
      expect([await send(tried, false), await send(tried, true)]).toEqual([false, false]);
      const counts = (await edge.readRules([address])).filter(({ rule }) => rule === 1);
      // What the table counted that is gone is gone with it: one packet.
      expect(counts.reduce((sum, { packets }) => sum + packets, 0)).toBe(1 + 2 + 1 + 2);
      await edge.forget(
        (await edge.readRules()).filter(({ isOver }) => isOver).map(({ writing }) => writing),
      );
      expect((await edge.readRules()).filter(({ isOver }) => isOver)).toEqual([]);
    }
  });

  it('understands nft on a host of any language', async () => {
    // Programs of such a host: they answer in its language unless they are asked in English.
    const german = (argv: readonly string[]) => [
      ...[
        'sh',
        '-c',
        'test "$LC_ALL" = C && test -z "$LANGUAGE" || { echo "Datei nicht gefunden" >&2; exit 1; }; exec "$@"',
      ],
      ...['sh', ...network.inside(argv)],
    ];
    const before = process.env.LC_ALL;
    process.env.LC_ALL = 'de_DE.UTF-8';
    try {
      await nft('flush', 'ruleset');
      const address = freshAddress();
      const there = nftablesEdge({ bridged: true, inside: german });
      await there.replace([denyAll(address, 1)]);
      expect((await there.list()).map(({ destination }) => destination)).toEqual([`${address}/32`]);
    } finally {
      if (before === undefined) delete process.env.LC_ALL;
      else process.env.LC_ALL = before;
    }
  });

  it('finds everything again after a start, and changes nothing that is right', async () => {
    const address = freshAddress();
    await edge.replace([denyAll(address, 1)]);
    await edge.try([{ ...denyAll(address, 2), rules: [] }], 60);
    await edge.mitigate({ destination: address, generation: 1, measure: { kind: 'blackhole' } });
    const limit = { packetsPerSecond: 5, per: 'source', burst: 5 } as const;
    const limited = freshAddress();
    const rules = [{ id: 3, action: 'permit', match: {}, limit }] as const;
    await edge.replace([{ destination: limited, generation: 1, rules, unmatched: 'deny' }]);
    await edge.replace([denyAll(limited, 2)]);
    await network.send([packet(address)]);
    const before = await edge.readRules([address, limited]);
    const again = nftablesEdge({ bridged: true, inside });
    await again.replace([denyAll(address, 1)]);
    expect(await again.readRules([address, limited])).toEqual(before);
    const listed = (await again.list()).filter(({ destination }) => destination === `${address}/32`);
    expect(listed.map(({ as, generation }) => `${as} ${generation}`)).toEqual([
      'policy 1',
      'trial 2',
      'mitigation 1',
    ]);
    // What is over goes, with all that belonged to it.
    await again.forget(before.filter(({ isOver }) => isOver).map(({ writing }) => writing));
    const shown = await nft('list', 'table', 'inet', 'innkeeper_edge');
    expect(before.filter(({ isOver, writing }) => isOver && shown.stdout.includes(writing))).toEqual([]);
    await again.release([{ destination: address, generation: 1 }]);
    await again.takeBack([{ destination: address, generation: 2 }]);
    expect(await passes(packet(address))).toBe(false);
    edge = again;
  });

  it('touches no table of others, and sees parts of packets that connection tracking would put together', async () => {
    const address = freshAddress();
    await nft('add', 'table', 'inet', 'others');
    await nft('add chain inet others seen { type filter hook forward priority 0; }');
    await nft('add', 'rule', 'inet', 'others', 'seen', 'ct', 'state', 'established', 'counter');
    await edge.replace([
      { ...denyAll(address, 1), rules: [{ id: 1, action: 'deny', match: { fragment: true }, limit: null }] },
    ]);
    const [first, later] = [
      packet(address, { fragment: true, length: 1_500 }),
      packet(address, { fragment: true, ports: null }),
    ];
    expect(await network.send([first, later, packet(address)])).toEqual([false, false, true]);
    const counts = await edge.readRules([address]);
    expect(counts.map(({ rule, packets }) => [rule, packets])).toEqual([
      [1, 2],
      [null, 1],
    ]);
    expect((await nft('list', 'tables')).stdout.trim().split('\n').toSorted()).toEqual([
      'table bridge innkeeper_edge',
      'table inet innkeeper_edge',
      'table inet others',
    ]);
  });

  it('answers in the place of a guest what is routed to it, and nothing of its neighbours', async () => {
    const address = freshAddress();
    const measure = { kind: 'filter', rules: [], exempt: [], synproxy: [[80, 80]] } as const;
    await edge.mitigate({ destination: address, generation: 1, measure });
    const syn = packet(address, { protocol: 6, flags: ['syn'], ports: { source: 9, destination: 80 } });
    expect(await network.send([syn])).toEqual([false]);
    expect(await network.send([syn], { bridged: true })).toEqual([true]);
    await edge.release([{ destination: address, generation: 1 }]);
    expect(await network.send([syn])).toEqual([true]);
  });

  it('judges what guests of one bridge send each other once, whichever families the kernel shows to routed tables', async () => {
    await runAsRoot(['modprobe', 'br_netfilter']).catch(() => undefined);
    const bridge = await edgeNetwork();
    const set = (which: string, value: number) =>
      runAsRoot(bridge.inside(['sysctl', '-qw', `net.bridge.bridge-nf-call-${which}=${value}`]));
    try {
      const edge = nftablesEdge({ bridged: true, inside: bridge.inside });
      const [denied, permitted] = ['10.100.1.1', '2001:db8:7:100::1'];
      const both = [denyAll(denied, 1), { ...denyAll(permitted, 1), rules: [] }];
      const six = packet(permitted, { source: '2001:db8:2::5', length: 80 });
      const sent = [packet(denied), six, six];
      let times = 0;
      for (const [four, six, tables] of [
        [1, 1, 1],
        [0, 0, 2],
        [1, 0, 2],
        [0, 1, 2],
      ] as const) {
        await set('iptables', four);
        await set('ip6tables', six);
        // Who looks notices what was changed meanwhile, and a repetition writes what that leaves out.
        await edge.list();
        await edge.replace(both);
        expect((await edge.list()).length).toBe(2);
        expect(await bridge.send(sent, { bridged: true })).toEqual([false, true, true]);
        times += 1;
        const sums = new Map<string, number>();
        for (const { destination, rule, packets } of await edge.readRules())
          sums.set(`${destination} ${rule}`, (sums.get(`${destination} ${rule}`) ?? 0) + packets);
        expect(Object.fromEntries(sums), `${four} ${six}`).toEqual({
          '10.100.1.1/32 1': times,
          '10.100.1.1/32 null': 0,
          '2001:db8:7:100::1/128 null': 2 * times,
        });
        const shown = await runAsRoot(bridge.inside(['nft', 'list', 'tables']));
        expect(shown.stdout.trim().split('\n').length).toBe(tables);
      }
    } finally {
      await bridge.close();
    }
  });
});
