/** Attacks as people know them, of real packets through the kernel's packet filter, beside others that are none. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { type Edge, nftablesEdge } from '../../drivers/edge/index.ts';
import { type EdgeNetwork, edgeNetwork } from '../../drivers/edge/suite/network.testbed.ts';
import { receivers } from '../../webhooks/testbed.ts';
import { packet } from '../testbed.ts';
import { datagram } from './flood.testbed.ts';
import {
  attackPackets,
  nineAttacks,
  type Stream,
  senders,
  together,
  watchedAddresses,
} from './nine.testbed.ts';

const names = Object.keys(nineAttacks);
/** Of a round of packets, of which there are as many as it takes on a busy machine. */
const seconds = 2;
const roundsAtMost = 20;
const kinds = ['fragments', 'reflection', 'syn', 'ack', 'udp', 'icmp', 'other'];
/** Above what good requests are, of whom each sender may send a twentieth, and well below what floods are. */
const limit = { pps: 200, mbps: 1_000 };
const floodPps = 400;

/** Of what nobody has a use for nothing comes through, and of what anybody may send so much by each. SYNs are left to the machine's cookies. */
const [dropped, limited] = [/reflection|Fragment/, /UDP flood|ICMP flood/];

interface Attack {
  attack_id: string;
  dest: string;
  description: string;
  status: string;
  ended_at: string;
  mitigations: { in_force: boolean }[];
}

const isMet = ({ description, mitigations }: Attack) =>
  mitigations.some(({ in_force }) => in_force) || !(dropped.test(description) || limited.test(description));

function share(all: readonly { of: string }[], arrived: readonly boolean[], name: string): number {
  const those = arrived.filter((_, nth) => all[nth]?.of === name);
  return those.filter(Boolean).length / those.length;
}

describe('nine attacks at once, a download and a game', { timeout: 180_000 }, () => {
  let network: EdgeNetwork;
  let edge: Edge;
  let product: TestProduct;
  let customer: Person;
  /** By the attack that is sent there. */
  let attacked: Map<string, string>;
  let downloading = '';
  let playing = '';
  const hosts = receivers();

  beforeAll(async () => {
    network = await edgeNetwork();
    edge = nftablesEdge({ bridged: false, inside: network.inside });
    product = await startTestProduct({ drivers: { edge }, env: { WEBHOOK_ALLOW: '127.0.0.0/29' } });
    customer = await newCustomer(product, { creditMinor: 500_000 });
    const addresses = await watchedAddresses(product, customer, names.length + 2, () => edge.list());
    attacked = new Map(names.map((name, nth) => [name, addresses[nth] ?? '']));
    [downloading = '', playing = ''] = addresses.slice(names.length);
    const thresholds = Object.fromEntries(kinds.map((kind) => [kind, limit]));
    for (const address of [...attacked.values(), downloading])
      await sensitivity(address, { mode: 'enabled', thresholds });
    await sensitivity(playing, { mode: 'enabled', level: 'high' });
  }, 180_000);
  afterAll(async () => {
    hosts.close();
    await product?.stop();
    await network?.close();
  });

  const sensitivity = async (address: string, change: object) => {
    const { status, body } = await customer.patch(`/shield/v2/sensitivity/${address}`, change);
    expect(status, JSON.stringify(body)).toBe(200);
  };
  const attacks = async (): Promise<Attack[]> =>
    (await customer.get('/shield/v2/attacks?limit=100')).body.data.attacks;
  const statuses = async () => [...new Set((await attacks()).map(({ status }) => status))];

  /** Visitors of a page, at each address that is attacked. */
  const good = (name: string, destination: string): Stream => {
    const packets = Array.from({ length: 50 }, (_, nth) =>
      packet(destination, {
        ...{ source: `203.0.113.${nth + 1}`, ports: { source: 51_000, destination: 443 } },
      }),
    );
    return { name: `good at ${name}`, packets, perSecond: 4 };
  };
  const download = (): Stream[] => {
    const ports = { source: 443, destination: 51_000 };
    const bySegments = senders(3, (source) =>
      packet(downloading, { source, ports, flags: ['ack'], length: 1_500 }),
    );
    const byQuic = senders(2, (source) => datagram(downloading, { source, ports, length: 1_250 }));
    return [
      { name: 'download', packets: bySegments, perSecond: 400 },
      { name: 'download by QUIC', packets: byQuic, perSecond: 300 },
    ];
  };
  const game = (): Stream => {
    const players = senders(20, (source, nth) =>
      datagram(playing, {
        ...{ source, ports: { source: 50_000 + nth, destination: 27_015 }, length: 80 + 5 * nth },
      }),
    );
    return { name: 'game', packets: players, perSecond: 600 };
  };

  it('are called by their names, while good requests come through, and the others are none', async () => {
    const { got, url } = await hosts.open();
    const events = ['shield.attack.started', 'shield.attack.ended'];
    expect((await customer.post('/dashboard/webhooks', { url, events })).status).toBe(200);
    const floods = [...attacked].map(([name, address]): Stream => {
      return { name, packets: attackPackets(name, address), perSecond: floodPps };
    });
    const goods = [...attacked].map(([name, address]) => good(name, address));
    const streams = [...floods, ...goods, ...download(), game()];
    const round = async () => {
      const all = together(streams, seconds);
      const packets = all.map((each) => each.packet);
      const { arrived } = await network.sendPaced(packets, packets.length / seconds);
      for (const { name } of [...goods, ...download(), game()])
        expect(share(all, arrived, name), name).toBe(1);
      return (name: string) => share(all, arrived, name);
    };
    const sendUntil = async (isSo: () => Promise<boolean>) => {
      for (let nth = 0; !(await isSo()); nth += 1) {
        if (nth === roundsAtMost) throw new Error(`still not so: ${JSON.stringify(await attacks())}`);
        await round();
      }
    };

    await sendUntil(async () => (await attacks()).length >= names.length);
    const found = await attacks();
    const called = (list: Attack[]) =>
      Object.fromEntries(list.map(({ dest, description }) => [dest, description]));
    const wanted = Object.fromEntries([...attacked].map(([name, address]) => [`${address}/32`, name]));
    expect(called(found)).toEqual(wanted);
    const polledAt = product.clock.now().getTime();
    expect(await statuses()).toEqual(['start']);

    await sendUntil(async () => (await attacks()).every(isMet));
    const through = await round();
    for (const name of names.filter((each) => dropped.test(each))) expect(through(name), name).toBe(0);
    for (const name of names.filter((each) => limited.test(each)))
      expect(through(name), name).toBeLessThan(0.5);

    // A minute after it was asked for first, and another one after: nobody who asks so seldom misses what they were.
    product.clock.set(new Date(polledAt + 60_000));
    expect(await statuses()).toEqual(['ongoing']);
    const ended = await until(attacks, (list) => list.every(({ ended_at }) => ended_at !== ''));
    product.clock.set(new Date(polledAt + 120_000));
    expect(await statuses()).toEqual(['end']);
    // Neither another one meanwhile, nor another name.
    expect(called(ended)).toEqual(wanted);
    expect(ended.map(({ attack_id }) => attack_id).toSorted()).toEqual(
      found.map(({ attack_id }) => attack_id).toSorted(),
    );
    const told = await until(
      async () => got.map(({ body }) => JSON.parse(body)),
      ({ length }) => length >= 2 * names.length,
    );
    const of = (type: string) =>
      told
        .filter((each) => each.type === type)
        .map(({ data }) => `${data.attack_id} ${data.address} ${data.description}`)
        .toSorted();
    const listed = ended.map((each) => `${each.attack_id} ${each.dest} ${each.description}`).toSorted();
    for (const type of events) expect(of(type), type).toEqual(listed);
  });
});
