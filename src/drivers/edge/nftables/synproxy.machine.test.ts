import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runAsRoot } from '../../../platform/host/program.ts';
import type { Edge } from '../contract.ts';
import type { Ending } from '../suite/end.testbed.ts';
import { type Ends, openEnds } from '../suite/ends.testbed.ts';
import { nftablesEdge } from './driver.ts';
import { kernel as openKernel } from './kernel.ts';
import { hasKernelSynproxy } from './usable.ts';

const families = [4, 6] as const;
const port = 80;
const withinMs = 10_000;
const endings: Ending[] = ['by server', 'by client', 'reset by client', 'reset by server'];

describe('a synproxy on real connections', { timeout: 180_000 }, () => {
  let ends: Ends;
  let edge: Edge;
  let generation = 0;
  let first: Ends;
  beforeAll(async () => {
    first = await openEnds();
    ends = first;
    edge = nftablesEdge({ bridged: false, inside: ends.inside });
    await ends.tell('guest', { do: 'serve', ports: [port, 81] });
  });
  afterAll(() => first?.close());

  const nft = async (...argv: string[]) => (await runAsRoot(ends.inside(['nft', ...argv]))).stdout;
  const both = () => families.map((family) => ends.guest[family]);
  const protect = async (exempt: Partial<Record<4 | 6, string>> = {}) => {
    generation += 1;
    for (const family of families) {
      const only = exempt[family];
      const measure = {
        kind: 'filter',
        rules: [],
        exempt: only === undefined ? [] : [only],
        synproxy: [[port, port]],
      } as const;
      await edge.mitigate({ destination: ends.guest[family], generation, measure });
    }
  };
  const release = () => edge.release(both().map((destination) => ({ destination, generation })));
  afterEach(release);
  const call = (change: { family?: 4 | 6; port?: number; from?: number; ends?: Ending } = {}) => {
    const { family = 4, ...more } = change;
    return ends.tell('client', {
      ...{ do: 'call', host: ends.guest[family], port, ends: 'by server', withinMs },
      ...more,
    });
  };
  const answered = async () => {
    const counts = (await edge.readRules(both())).filter((each) => each.of === 'mitigation' && !each.isOver);
    return counts.map(({ rule, packets }) => `${rule} ${packets}`);
  };
  const tracked = async () =>
    Number((await runAsRoot(ends.inside(['cat', '/proc/sys/net/netfilter/nf_conntrack_count']))).stdout);

  it('lets who was there to hear the answer through to the guest, and ends like any other', async () => {
    await protect();
    for (const family of families) for (const each of endings) await call({ family, ends: each });
    await call({ port: 81 });
    expect(await answered()).toEqual(['null 4', 'null 4']);
    await release();
    await call();
  });

  it('serves a client that comes back from the same port at once, however the connection before has ended', async () => {
    await protect();
    const again = async (family: 4 | 6, from: number, ways: readonly Ending[]) => {
      for (const each of ways) await call({ family, from, ends: each });
    };
    await Promise.all(
      families.flatMap((family, nth) => [
        ...endings.map((each, at) =>
          // Of a client that has ended a connection itself, its own system keeps the port for a minute.
          again(family, 20_000 + 100 * nth + at, each === 'by client' ? [each] : [each, each, each]),
        ),
        again(family, 20_900 + nth, ['by server', 'reset by server', 'reset by client', 'by server']),
      ]),
    );
    await release();
  });

  it('keeps a flood of SYNs from the guest, whose clients from few ports are all served', async () => {
    const flood = ends.floodSyns(port, 4_000);
    onTestFinished(async () => void (await flood.stop()));
    const isFull = async () => {
      for (let time = 0; time < 50; time += 1) {
        if ((await ends.overflows()) > 100) return true;
        await sleep(100);
      }
      return false;
    };
    // Without it the guest has no room: this flood is one.
    expect(await isFull()).toBe(true);
    await protect();
    // What it has half-open from before ends by itself.
    await until(() =>
      call().then(
        () => true,
        () => false,
      ),
    );
    const [before, followed] = [await ends.overflows(), await tracked()];
    const worker = async (nth: number) => {
      for (let time = 0; time < 25; time += 1) await call({ from: 21_000 + 5 * nth + (time % 5) });
    };
    await Promise.all([0, 1, 2, 3].map(worker));
    expect(await ends.overflows()).toBe(before);
    expect(await flood.stop()).toBeGreaterThan(2_000);
    // Nothing is kept of those who never answered.
    expect(await tracked()).toBeLessThan(followed + 500);
    await release();
  });

  it('cuts no connection when it begins, and none of its own when it is over', async () => {
    for (const family of families) {
      const open = () =>
        ends.tell<number>('client', { do: 'open', host: ends.guest[family], port, withinMs });
      const says = (nth: number, text: string) =>
        ends.tell<string>('client', { do: 'say', nth, text, withinMs });
      const old = await open();
      expect(await says(old, 'before')).toBe('before');
      await protect();
      expect(await says(old, 'meanwhile')).toBe('meanwhile');
      const own = await open();
      expect(await says(own, 'proven')).toBe('proven');
      await release();
      const over = (await edge.readRules()).filter(({ isOver }) => isOver).map(({ writing }) => writing);
      await edge.forget(over);
      await edge.list();
      for (const nth of [old, own]) expect(await says(nth, 'after')).toBe('after');
      // Also for whoever comes after a start.
      edge = nftablesEdge({ bridged: false, inside: ends.inside });
      await edge.list();
      for (const nth of [old, own]) expect(await says(nth, 'again')).toBe('again');
      for (const nth of [old, own]) await ends.tell('client', { do: 'close', nth });
    }
  });

  it('leaves exempt sources alone, and is found again after a start', async () => {
    await protect({ 4: `${ends.client[4]}/32` });
    await call();
    await call({ family: 6 });
    expect((await answered()).toSorted()).toEqual(['null 0', 'null 1']);
    edge = nftablesEdge({ bridged: false, inside: ends.inside });
    expect((await edge.list()).map(({ as, generation: held }) => `${as} ${held}`)).toEqual(
      both().map(() => `mitigation ${generation}`),
    );
    const before = await nft('list', 'table', 'inet', 'innkeeper_edge');
    const again = {
      kind: 'filter',
      rules: [],
      exempt: [`${ends.client[4]}/32`],
      synproxy: [[port, port]],
    } as const;
    await edge.mitigate({ destination: ends.guest[4], generation, measure: again });
    expect(withoutTimes(await nft('list', 'table', 'inet', 'innkeeper_edge'))).toBe(withoutTimes(before));
    await release();
  });

  it('is noticed when somebody has damaged it, and mended by the same call', async () => {
    for (const way of [
      ['flush', 'chain', 'inet', 'innkeeper_edge', 'handshakes'],
      ['flush', 'map', 'inet', 'innkeeper_edge', 'handshakes4'],
      ['flush', 'ruleset'],
    ]) {
      await protect();
      await nft(...way);
      const there = nftablesEdge({ bridged: false, inside: ends.inside });
      const isListed = (await there.list()).some(({ destination }) => destination === `${ends.guest[4]}/32`);
      expect(isListed, way.join(' ')).toBe(false);
      edge = there;
      generation -= 1;
      await protect();
      expect((await edge.list()).length).toBe(2);
      await call();
      expect((await answered()).some((each) => each !== 'null 0')).toBe(true);
      await release();
    }
  });

  it('follows the connections of no other address, unless others on this host do; and goes when nothing needs it', async () => {
    ends = await openEnds();
    onTestFinished(ends.close);
    await ends.tell('guest', { do: 'serve', ports: [port, 81], datagramsTo: Object.values(ends.other) });
    edge = nftablesEdge({ bridged: false, inside: ends.inside });
    const forgetOver = async () => {
      const over = (await edge.readRules()).filter(({ isOver }) => isOver).map(({ writing }) => writing);
      await edge.forget(over);
    };
    await protect();
    const others = { do: 'datagrams', port: 81, hex: ['01', '02'], withinMs } as const;
    for (const family of families)
      expect(await ends.tell('client', { ...others, host: ends.other[family] })).toEqual([true, true]);
    await ends.tell('client', { do: 'call', host: ends.other[4], port: 81, ends: 'by server', withinMs });
    expect(await tracked()).toBe(0);
    await call();
    expect(await tracked()).toBe(1);
    await release();
    await forgetOver();
    await edge.list();
    const shown = () => nft('list', 'table', 'inet', 'innkeeper_edge');
    // A connection was made by it, an hour of whose silence is to pass.
    expect(await shown()).toContain('chain handshakes');
    await nft('flush', 'set', 'inet', 'innkeeper_edge', 'adjusted4');
    await edge.list();
    expect(await shown()).not.toMatch(/handshakes|tracked|adjusted|proxied/);

    await nft('add', 'table', 'inet', 'others');
    await nft('add chain inet others seen { type filter hook forward priority 0; }');
    await nft('add', 'rule', 'inet', 'others', 'seen', 'ct', 'state', 'established', 'counter');
    await ends.tell('client', { ...others, host: ends.other[4] });
    await protect();
    expect(await shown()).not.toContain('chain tracked');
    const seen = await tracked();
    await ends.tell('client', { ...others, host: ends.other[4], from: 9_999 });
    expect(await tracked()).toBe(seen + 1);
    await call();
    await release();
  });
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let time = 0; time < 100 && !(await isSo()); time += 1) await sleep(100);
}

function withoutTimes(text: string): string {
  return text.replaceAll(/(expires|packets|bytes) \S+/g, '$1');
}

it('asks a kernel that tells its hooks who follows connections', async () => {
  const told = (lines: string) => {
    const hooks = `family ip {\n\thook prerouting {\n${lines}\t}\n}`;
    return openKernel((argv) => (argv.includes('hooks') ? ['echo', hooks] : ['echo', '7']));
  };
  const ours = '\t\t-0000000450 chain inet innkeeper_edge edge [nf_tables]\n';
  expect(await told(ours).followsConnections()).toBe(false);
  expect(await told(`${ours}\t\t-0000000200 ipv4_conntrack_in [nf_conntrack]\n`).followsConnections()).toBe(
    true,
  );
  expect(await openKernel(() => ['echo', '7']).followsConnections()).toBe(true);
  expect(await openKernel(() => ['echo', '0']).followsConnections()).toBe(false);
});

it('is tried out before it is offered, which leaves nothing behind', async () => {
  expect(await hasKernelSynproxy()).toBe(true);
  expect(await hasKernelSynproxy((argv) => ['env', 'PATH=/nowhere', ...argv])).toBe(false);
  expect((await runAsRoot(['nft', 'list', 'tables'])).stdout).not.toContain('probe');
});

it('is refused where the kernel has none', async () => {
  const edge = nftablesEdge({ bridged: false, synproxy: false });
  expect(edge.capabilities).not.toContain('synproxy');
  const measure = { kind: 'filter', rules: [], exempt: [], synproxy: [[80, 80]] } as const;
  await expect(edge.mitigate({ destination: '203.0.113.10', generation: 1, measure })).rejects.toMatchObject({
    code: 'not_supported',
    permanent: true,
  });
});
