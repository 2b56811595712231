/**
 * Rules of the API on real packets, and what becomes of them when what they need fails: a product whose simulated machines have the kernel's
 * packet filter before them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cable, openCable } from '../../test/cable.ts';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';
import { settled, sql } from '../../test/sql.ts';
import { type Edge, nftablesEdge } from '../drivers/edge/index.ts';
import { type EdgeNetwork, edgeNetwork } from '../drivers/edge/suite/network.testbed.ts';
import { runAsRoot } from '../platform/host/program.ts';
import { reconcileEdge } from './enforce/reconcile.ts';
import { newTenant, packet, ruleInForce, rulesPath, type Tenant } from './testbed.ts';

/** Ways in which nft does not do what it is told, as what its argument vector begins with. */
const failures = {
  'not there': () => ['env', 'PATH=/nowhere'],
  'without the right to change anything': () => ['setpriv', '--bounding-set', '-net_admin'],
  'killed in its middle': () => ['timeout', '-s', 'KILL', (Math.random() * 0.04).toFixed(3)],
  'telling a full disk': () => ['sh', '-c', 'exec "$@" > /dev/full', 'sh'],
  'on a full disk': () => ['unshare', '-m', 'sh', '-c', onFullDisk, 'sh'],
};
/** Home, the working directory and what is temporary have no byte left. */
const onFullDisk = `
mount -t tmpfs -o size=64k,nr_inodes=8 none /mnt && cd /mnt && cat /dev/zero > full 2> /dev/null
mount --bind /mnt /tmp && cd /tmp && ! echo x > more 2> /dev/null || exit 70
HOME=/mnt TMPDIR=/mnt exec "$@"`;

const patienceMs = 120_000;

describe('rules on a real packet filter', { timeout: 300_000 }, () => {
  let network: EdgeNetwork;
  let cable: Cable;
  let edge: Edge;
  let product: TestProduct;
  let tenant: Tenant;
  let failure: (() => string[]) | null = null;
  beforeAll(async () => {
    network = await edgeNetwork();
    cable = await openCable();
    edge = nftablesEdge({
      bridged: true,
      inside: (argv) => network.inside([...(failure?.() ?? []), ...argv]),
    });
    product = await startTestProduct({ drivers: { edge }, cable });
    tenant = await newTenant(product);
  }, 120_000);
  afterAll(async () => {
    await product?.stop();
    await cable?.close();
    await network?.close();
  });

  const dropPorts = (...ports: number[]) => ({
    ...{ destination: tenant.address, action: 'deny', protocol: 17, order: 100 },
    destination_port: { match_type: 'eq', match_value: ports },
  });
  /** Which of these ports packets come through to. */
  const open = async (...ports: number[]) => {
    const to = (destination: number) =>
      packet(tenant.address, { protocol: 17, flags: null, ports: { source: 40_000, destination } });
    const arrived = await network.send(ports.map(to));
    return ports.filter((_, nth) => arrived[nth]);
  };
  const ruleOf = async (id: number) => (await tenant.get(`${rulesPath}/${id}`)).body.data.rule;
  const compare = async () => {
    const [node] = await sql<{ id: number }>(product, 'select id from nodes order by id limit 1');
    await reconcileEdge(product.ctx, Number(node?.id), () => edge).catch(() => undefined);
  };
  const clear = async () => {
    await tenant.post(`${rulesPath}/apply`, { rules: [], destinations: [tenant.address] });
    await settled(product);
  };

  it('decide in their order, of which those that come too late count nothing, and each counts what it met', async () => {
    const first = await ruleInForce(tenant, { ...dropPorts(9), order: 2 });
    const shadowed = await ruleInForce(tenant, { ...dropPorts(9), order: 3 });
    const permits = await ruleInForce(tenant, { ...dropPorts(10), action: 'permit', order: 1 });
    const all = await ruleInForce(tenant, { ...dropPorts(9), destination_port: null, order: 4 });
    expect(await open(9, 9, 9, 10, 10, 11)).toEqual([10, 10]);
    await tenant.patch(`${rulesPath}/${all}`, { order: 5 });
    await until(
      () => ruleOf(all),
      (rule) => rule.enforced.active,
    );
    expect(await open(9, 10, 11, 11)).toEqual([10]);
    const counted = await until(
      () => Promise.all([first, shadowed, permits, all].map(ruleOf)),
      (rules) => rules.reduce((sum, { counters }) => sum + counters.packets, 0) >= 10,
      patienceMs,
    );
    expect(counted.map(({ counters }) => [counters.packets, counters.bytes])).toEqual(
      [4, 0, 3, 3].map((packets) => [packets, packets * 60]),
    );
    await clear();
  });

  it('are over when their time is, and go with their group', async () => {
    const ends = new Date(product.clock.now().getTime() + 3_600_000).toISOString();
    const id = await ruleInForce(tenant, { ...dropPorts(9), expires_at: ends });
    const preset = { destination: tenant.address, preset: 'game-udp', ports: [10] };
    const { group_id, rule_ids } = (await tenant.post(`${rulesPath}/presets`, preset)).body.data;
    for (const each of rule_ids)
      await until(
        () => ruleOf(each),
        (rule) => rule.enforced.active,
      );
    // From a port that is misused to reflect.
    const reflected = packet(tenant.address, {
      ...{ protocol: 17, flags: null, ports: { source: 11_211, destination: 10 } },
    });
    expect(await network.send([reflected])).toEqual([false]);
    expect(await open(9, 10)).toEqual([10]);
    product.clock.travel(3_601_000);
    await product.periodic('shield.expireRules');
    await until(
      () => ruleOf(id),
      (rule) => !rule.enforced.active,
    );
    expect(await open(9)).toEqual([9]);
    expect(await network.send([reflected])).toEqual([false]);
    await tenant.delete(`${rulesPath}/groups/${group_id}`);
    await settled(product);
    expect(await network.send([reflected])).toEqual([true]);
    await clear();
  });

  it('hold packets to the rate of a limiter, within ten percent', async () => {
    const limiter = { name: 'Two hundred', packets_per_second: 200, per: 'source', burst: 100 };
    const { id: limiterId } = (await tenant.post('/shield/v2/rate-limiters', limiter)).body.data.rate_limiter;
    await ruleInForce(tenant, { ...dropPorts(9), action: 'permit', rate_limiter_id: limiterId });
    const one = packet(tenant.address, {
      ...{ protocol: 17, flags: null, ports: { source: 40_000, destination: 9 } },
    });
    const { arrived, atMs } = await network.sendPaced(
      Array.from({ length: 2_400 }, () => one),
      800,
    );
    const seconds = ((atMs.at(-1) ?? 0) - (atMs[0] ?? 0)) / 1_000;
    const through = arrived.filter(Boolean).length;
    const expected = 100 + 200 * seconds;
    expect(Math.abs(through - expected) / expected, `${through} of ${expected}`).toBeLessThan(0.1);
    await clear();
  });

  it.each(Object.keys(failures) as (keyof typeof failures)[])(
    'stay whole as they were or as they shall be while nft is %s, which is said, told to staff and put right',
    async (way) => {
      const id = await ruleInForce(tenant, dropPorts(9, 10));
      expect(await open(9, 10, 11, 12)).toEqual([11, 12]);
      const [before, after] = [
        [11, 12],
        [9, 10],
      ];
      failure = failures[way];
      try {
        expect((await tenant.patch(`${rulesPath}/${id}`, dropPorts(11, 12))).status).toBe(200);
        const rule = await until(
          () => ruleOf(id),
          ({ enforced }) => enforced.active || enforced.error !== null,
          patienceMs,
        );
        const found = await open(9, 10, 11, 12);
        expect([before, after]).toContainEqual(found);
        if (way === 'not there' || way === 'without the right to change anything') {
          expect([found, rule.enforced.active]).toEqual([before, false]);
        }
        if (way === 'on a full disk') expect([found, rule.enforced.active]).toEqual([after, true]);
        if (!rule.enforced.active) {
          expect(rule.enforced.error).toMatch(/it is tried again, and our staff has been told/);
          const { body } = await product.staff.get('/staff/attention');
          expect(JSON.stringify(body.data)).toContain('shield.not_enforced');
          // The comparison each minute is none the wiser, and does no harm.
          await compare();
          expect([before, after]).toContainEqual(await open(9, 10, 11, 12));
        }
      } finally {
        failure = null;
      }
      // Nobody has to say it again.
      const { enforced } = await until(
        () => ruleOf(id),
        (rule) => rule.enforced.active,
        patienceMs,
      );
      expect(enforced.error).toBeNull();
      expect(await open(9, 10, 11, 12)).toEqual(after);
      await clear();
    },
  );

  it('tell the filter numbers, and none of what people wrote', async () => {
    const id = await ruleInForce(tenant, { ...dropPorts(9), note: 'Sesame opens' });
    const limiter = { name: 'Sesame street', packets_per_second: 9, per: 'source', burst: 9 };
    const { id: limiterId } = (await tenant.post('/shield/v2/rate-limiters', limiter)).body.data.rate_limiter;
    await ruleInForce(tenant, { ...dropPorts(10), action: 'permit', rate_limiter_id: limiterId });
    const preset = { destination: tenant.address, preset: 'block-ssh', note: 'Sesame seeds' };
    await tenant.post(`${rulesPath}/presets`, preset);
    await settled(product);
    const shown = (await runAsRoot(network.inside(['nft', 'list', 'ruleset']))).stdout;
    expect(shown).toContain(`comment "${id}"`);
    expect(shown).not.toMatch(/sesame/i);
    await clear();
  });

  it('go on while the database is away: trials end, measures stand, and counting catches up', async () => {
    const id = await ruleInForce(tenant, dropPorts(9));
    const destination = `${tenant.address}/32`;
    const ntp = { id: 1, action: 'deny', match: { sourcePorts: [[123, 123]] }, limit: null } as const;
    await edge.mitigate({
      destination,
      generation: 1,
      measure: { kind: 'filter', rules: [ntp], exempt: [] },
    });
    const tried = { rules: [{ ...dropPorts(9), id }, dropPorts(10)], confirm_within_s: 20, force: true };
    const { apply_id } = (await tenant.post(`${rulesPath}/apply`, tried)).body.data;
    await until(
      () => tenant.get(`${rulesPath}/apply/${apply_id}`),
      ({ body }) => body.data.apply.enforced.active,
    );
    expect(await open(9, 10, 11)).toEqual([11]);
    await cable.cut();
    expect((await tenant.get(rulesPath)).status).toBe(503);
    const reflected = packet(tenant.address, {
      ...{ protocol: 17, flags: null, ports: { source: 123, destination: 11 } },
    });
    for (let round = 0; round < 20; round += 1) expect(await open(9, 9, 9, 9, 9, 11)).toEqual([11]);
    expect(await network.send([reflected])).toEqual([false]);
    await until(
      () => open(10),
      ({ length }) => length > 0,
      patienceMs,
    );
    await cable.mend();
    const { counters } = await until(
      async () => {
        const { status, body } = await tenant.get(`${rulesPath}/${id}`);
        return status === 200 ? body.data.rule : { counters: { packets: 0 } };
      },
      (rule) => rule.counters.packets >= 101,
      patienceMs,
    );
    expect(counters.packets).toBe(101);
    expect((await tenant.get(`${rulesPath}/apply/${apply_id}`)).body.data.apply.state).toBe('over');
    expect(await open(9, 10)).toEqual([10]);
    await edge.release([{ destination, generation: 1 }]);
    await clear();
  });
});
