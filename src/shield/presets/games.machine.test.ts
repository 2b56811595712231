import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Edge, nftablesEdge } from '../../drivers/edge/index.ts';
import { type Ends, openEnds } from '../../drivers/edge/suite/ends.testbed.ts';
import { policyOf } from '../enforce/toEdge.ts';
import { single } from '../prefix.ts';
import { fits, traffic } from './games.testbed.ts';
import { presets } from './presets.ts';

const families = [4, 6] as const;
const withinMs = 5_000;
/** How long what does not come back is waited for. */
const silentMs = 1_500;

describe('a game profile on real packets', { timeout: 180_000 }, () => {
  let ends: Ends;
  let edge: Edge;
  let generation = 0;
  beforeAll(async () => {
    ends = await openEnds();
    edge = nftablesEdge({ bridged: false, inside: ends.inside });
    const ports = new Set(Object.values(traffic).flatMap((game) => [game.ports[4], game.ports[6]]));
    const datagramsTo = Object.values(ends.guest);
    await ends.tell('guest', { do: 'serve', ports: [...ports], datagramsTo });
  });
  afterAll(() => ends?.close());

  const use = async (name: string, ips: string[] = []) => {
    const preset = presets.find((each) => each.name === name);
    if (preset?.ports == null) throw new Error(`${name} is no game profile`);
    generation += 1;
    const policies = families.map((family) => {
      const own = preset.ports?.(family) ?? [];
      const ports = own.length > 0 ? own : [traffic[name]?.ports[family] ?? 0];
      const sources = ips.filter((ip) => ip.includes(':') === (family === 6));
      const { text: destination } = single(ends.guest[family]);
      const rules = preset.rules(family, sources, ports).map((rule, nth) => {
        return { ...rule, id: nth + 1, destination, limiter_id: null };
      });
      return policyOf(ends.guest[family], generation, 'permit', rules, new Map());
    });
    await edge.replace(policies);
  };
  const send = (
    family: 4 | 6,
    port: number,
    datagrams: Buffer[],
    more: { from?: number; withinMs?: number } = {},
  ) =>
    ends.tell<boolean[]>('client', {
      ...{ do: 'datagrams', host: ends.guest[family], port, withinMs },
      hex: datagrams.map((each) => each.toString('hex')),
      ...more,
    });

  it.each(Object.keys(traffic))(
    '%s lets in all that a client sends, and nothing that none does',
    async (name) => {
      const { ports, datagrams, greeting, never } = traffic[name] ?? {
        ...{ ports: { 4: 0, 6: 0 }, datagrams: {}, greeting: null, never: {} },
      };
      await use(name);
      const tried = async (family: 4 | 6) => {
        const port = ports[family];
        const own = Object.entries(datagrams).filter(([, each]) => fits(family, each));
        const sent = own.map(([, each]) => each);
        const back = await send(family, port, sent);
        expect(own.filter((_, nth) => !back[nth]).map(([says]) => says)).toEqual([]);
        const others = Object.values(never).filter((each) => fits(family, each));
        const first = sent[0] ?? Buffer.alloc(1);
        const [short] = await Promise.all([
          send(family, port, others, { withinMs: silentMs }),
          // The same from where servers answer that are made to reflect, and in parts.
          ...[53, 123, 389, 1_900, 11_211].map(async (from) =>
            expect(await send(family, port, [first], { from, withinMs: silentMs }), `${from}`).toEqual([
              false,
            ]),
          ),
          (async () =>
            expect(await send(family, port, [Buffer.alloc(4_000, 7)], { withinMs: silentMs })).toEqual([
              false,
            ]))(),
        ]);
        expect(short).toEqual(others.map(() => false));
        if (greeting === null) return;
        const host = ends.guest[family];
        const nth = await ends.tell<number>('client', { do: 'open', host, port, withinMs });
        const said = greeting.toString('latin1');
        expect(await ends.tell('client', { do: 'say', nth, text: said, withinMs })).toBe(said);
        await ends.tell('client', { do: 'close', nth });
      };
      await Promise.all(families.map(tried));
    },
  );

  it('holds one source to its rate, and leaves others and those that are named theirs', async () => {
    const port = traffic['game-teamspeak']?.ports[4] ?? 0;
    const flood = Array.from({ length: 6_000 }, (_, nth) => {
      const each = Buffer.alloc(100, 1);
      each.writeUInt32BE(nth);
      return each;
    });
    /** What the edge let through, as a receiver has no room for all of it at once. */
    const through = async () => {
      const began = performance.now();
      await send(4, port, flood, { withinMs: silentMs });
      const seconds = (performance.now() - began) / 1_000;
      const counts = (await edge.readRules([ends.guest[4]])).filter(({ isOver }) => !isOver);
      const sum = (of: 'packets' | 'droppedPackets') => counts.reduce((all, each) => all + each[of], 0);
      return { sent: sum('packets'), dropped: sum('droppedPackets'), seconds };
    };
    await use('game-teamspeak');
    const { sent, dropped, seconds } = await through();
    expect(sent).toBeGreaterThan(3_000);
    expect(sent - dropped).toBeGreaterThanOrEqual(1_000);
    expect(sent - dropped).toBeLessThanOrEqual(1_000 + 500 * (seconds + 1));
    expect((await send(6, port, flood.slice(0, 50))).filter(Boolean).length).toBe(50);
    await use('game-teamspeak', [`${ends.client[4]}/32`]);
    expect(await through()).toMatchObject({ dropped: 0 });
  });

  it('holds one source to so many new connections a second, and ends none that is there', async () => {
    const port = traffic['game-minecraft-java']?.ports[4] ?? 0;
    await use('game-minecraft-java');
    const opened = await Promise.all(
      Array.from({ length: 60 }, () =>
        ends
          .tell<number>('client', { do: 'open', host: ends.guest[4], port, withinMs: 700 })
          .catch(() => null),
      ),
    );
    const there = opened.filter((nth) => nth !== null);
    expect(there.length).toBeGreaterThanOrEqual(30);
    expect(there.length).toBeLessThan(55);
    for (const nth of there.slice(0, 5))
      expect(await ends.tell('client', { do: 'say', nth, text: 'still here', withinMs })).toBe('still here');
    for (const nth of there) await ends.tell('client', { do: 'close', nth });
  });
});
