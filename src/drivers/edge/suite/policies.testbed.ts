import { expect, it } from 'vitest';
import type { Policy } from '../contract.ts';
import { freshAddress, type Given, packet, policy, rule, whole } from './hands.testbed.ts';

/** What is held, replaced, let go of, and refused. */
export function describePolicies(given: Given): void {
  const { can, held, packetsOf, passes } = given;
  it('holds a network as well as one address, and a rule may name a part of it', async () => {
    for (const [network, part, inside, outside] of [
      ['10.200.0.16/28', '10.200.0.18/31', '10.200.0.19', '10.200.0.17'],
      ['2001:db8:7:f000::/60', '2001:db8:7:f008::/61', '2001:db8:7:f00f::1', '2001:db8:7:f007::1'],
    ] as const) {
      await given.edge.replace([policy(network, 1, [rule(1, 'deny', { destination: part })])]);
      expect(await given.send([packet(inside), packet(outside)])).toEqual([false, true]);
      expect(await held(network)).toEqual(['policy 1']);
      const overlaps = expect.objectContaining({ code: 'overlaps', permanent: true });
      await expect(given.edge.replace([policy(inside, 1, [])])).rejects.toEqual(overlaps);
      if (can('trials')) await expect(given.edge.try([policy(inside, 1, [])], 5)).rejects.toEqual(overlaps);
    }
    const two = [policy('10.201.0.0/24', 1, []), policy('10.201.0.0/25', 1, [])];
    await expect(given.edge.replace(two)).rejects.toMatchObject({ code: 'overlaps' });
    expect(await held('10.201.0.0/24')).toEqual([]);
  });

  it('replaces a policy, counts on, and an older generation changes nothing', async () => {
    const address = freshAddress(6);
    await given.edge.replace([policy(address, 5, [rule(3, 'deny')])]);
    expect(await passes(packet(address))).toBe(false);
    await given.edge.replace([policy(address, 4, [])]);
    expect(await passes(packet(address))).toBe(false);
    await given.edge.replace([policy(address, 5, [rule(3, 'deny')])]);
    if (can('counters'))
      expect((await given.edge.readRules([address])).filter(({ isOver }) => isOver)).toEqual([]);
    await given.edge.replace([policy(address, 6, [rule(2, 'permit'), rule(3, 'deny')])]);
    expect(await passes(packet(address))).toBe(true);
    expect(await held(whole(address))).toEqual(['policy 6']);
    if (!can('counters')) return;
    expect([await packetsOf(address, 3), await packetsOf(address, 2)]).toEqual([2, 1]);
    const over = (await given.edge.readRules([address])).filter(({ isOver }) => isOver);
    expect(
      over.filter(({ rule }) => rule === 3).map(({ packets, generation }) => [packets, generation]),
    ).toEqual([[2, 5]]);
    const running = (await given.edge.readRules([address])).find(({ isOver }) => !isOver)?.writing ?? '';
    await given.edge.forget([...over.map(({ writing }) => writing), running, 'unknown']);
    await given.edge.forget(over.map(({ writing }) => writing));
    expect([await packetsOf(address, 3), await packetsOf(address, 2)]).toEqual([0, 1]);
  });

  it('lets go of a destination, unless it holds a newer generation', async () => {
    const [one, other] = [freshAddress(4), freshAddress(4)];
    await given.edge.replace([one, other].map((address) => policy(address, 3, [rule(1, 'deny')])));
    await given.edge.remove([{ destination: one, generation: 2 }]);
    expect(await passes(packet(one))).toBe(false);
    await given.edge.remove([one, other].map((destination) => ({ destination, generation: 3 })));
    await given.edge.remove([{ destination: one, generation: 3 }]);
    expect(await given.send([packet(one), packet(other)])).toEqual([true, true]);
    expect([await held(whole(one)), await held(whole(other))]).toEqual([[], []]);
    // Forgotten is the generation as well; where it shall not be, a policy without rules holds it.
    await given.edge.replace([policy(one, 1, [rule(1, 'deny')])]);
    expect(await passes(packet(one))).toBe(false);
    await given.edge.replace([policy(one, 2, [])]);
    await given.edge.replace([policy(one, 1, [rule(1, 'deny')])]);
    expect(await passes(packet(one))).toBe(true);
    if (!can('trials')) return;
    await given.edge.try([policy(one, 4, [rule(1, 'deny')])], 60);
    await given.edge.remove([{ destination: one, generation: 3 }]);
    expect(await held(whole(one))).toEqual(['trial 4']);
    await given.edge.remove([{ destination: one, generation: 4 }]);
    await given.edge.try([policy(one, 1, [rule(1, 'deny')])], 60);
    expect(await held(whole(one))).toEqual(['trial 1']);
    await given.edge.takeBack([{ destination: one, generation: 1 }]);
    expect(await passes(packet(one))).toBe(true);
  });

  it('refuses what is no policy, and nothing changes', async () => {
    const address = freshAddress(4);
    await given.edge.replace([policy(address, 1, [rule(1, 'deny')])]);
    const good = policy(address, 2, []);
    const bad: Partial<Policy>[] = [
      { destination: '' },
      { destination: '10.9.9.9/24' },
      { destination: '10.9.9.9/33' },
      { destination: '10.9.9' },
      { destination: '0x0a.9.9.9' },
      { destination: 'fe80::1%eth0' },
      { destination: '10.9.9.9; flush ruleset' },
      { destination: '10.9.9.9\n' },
      { generation: -1 },
      { generation: 1.5 },
      { rules: [rule(0, 'deny')] },
      { rules: [rule(2 ** 31, 'deny')] },
      { rules: [rule(1, 'deny'), rule(1, 'deny')] },
      { rules: [rule(1, 'drop; flush ruleset' as 'deny')] },
      { rules: [rule(1, 'deny', { sources: [] })] },
      { rules: [rule(1, 'deny', { sources: ['2001:db8::/32'] })] },
      { rules: [rule(1, 'deny', { sources: ['198.18.0.1/24'] })] },
      { rules: [rule(1, 'deny', { sources: ['198.18.0.1 accept'] })] },
      { rules: [rule(1, 'deny', { destination: '10.0.0.0/8' })] },
      { rules: [rule(1, 'deny', { destinationPorts: [[80, 79]] })] },
      { rules: [rule(1, 'deny', { destinationPorts: [[0, 65_536]] })] },
      { rules: [rule(1, 'deny', { destinationPorts: [] })] },
      { rules: [rule(1, 'deny', { destinationPorts: [['80 accept' as unknown as number, 90]] })] },
      { rules: [rule(1, 'deny', { protocols: [[47, 47]], destinationPorts: [[80, 80]] })] },
      { rules: [rule(1, 'deny', { protocols: [[17, 17]], flags: { syn: true } })] },
      { rules: [rule(1, 'deny', { flags: {} })] },
      { rules: [rule(1, 'deny', { dscp: [[0, 64]] })] },
      { rules: [rule(1, 'deny', { ecn: [[4, 4]] })] },
      { rules: [rule(1, 'deny', { ttl: [[-1, 4]] })] },
      { rules: [rule(1, 'deny', {}, { packetsPerSecond: 5, per: 'rule', burst: 1 })] },
      { rules: [rule(1, 'permit', {}, { per: 'rule', burst: 1 })] },
      { rules: [rule(1, 'permit', {}, { packetsPerSecond: 0, per: 'rule', burst: 1 })] },
      { rules: [rule(1, 'permit', {}, { packetsPerSecond: 5, per: 'rule', burst: 0 })] },
    ];
    const invalid = expect.objectContaining({ code: 'policy_invalid', permanent: true });
    const others: string[] = [];
    for (const each of bad) {
      const wrong = { ...good, ...each };
      const other = policy(freshAddress(4), 1, [rule(1, 'deny')]);
      await expect(given.edge.replace([other, wrong]), JSON.stringify(each)).rejects.toEqual(invalid);
      if (can('trials'))
        await expect(given.edge.try([wrong], 10), JSON.stringify(each)).rejects.toEqual(invalid);
      others.push(whole(other.destination));
    }
    expect((await given.edge.list()).filter(({ destination }) => others.includes(destination))).toEqual([]);
    await expect(given.edge.replace([good, good])).rejects.toEqual(invalid);
    expect(await held(whole(address))).toEqual(['policy 1']);
    expect(await passes(packet(address))).toBe(false);
  });
}
