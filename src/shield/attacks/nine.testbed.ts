import type { Client } from '../../../test/client.ts';
import { runningVps } from '../../../test/orders.ts';
import { type TestProduct, until } from '../../../test/product.ts';
import type { Packet } from '../../drivers/edge/index.ts';
import { datagram } from './flood.testbed.ts';

const answer = (source: number, length: number): Partial<Packet> => {
  return { ports: { source, destination: 33_000 }, length };
};

/** Attacks as people know them, by name, and what a packet of each is like. */
export const nineAttacks: Readonly<Record<string, Partial<Packet>>> = {
  'UDP flood': {},
  'TCP SYN flood': {
    ...{ protocol: 6, ports: { source: 40_000, destination: 443 }, flags: ['syn'], length: 60 },
  },
  'ICMP flood': { protocol: 1, ports: null, length: 84 },
  'Fragment flood': { ports: null, fragment: true, length: 1_400 },
  'DNS reflection': answer(53, 1_200),
  'NTP reflection': answer(123, 468),
  'CLDAP reflection': answer(389, 1_400),
  'SSDP reflection': answer(1_900, 350),
  'memcached reflection': answer(11_211, 1_400),
};

/** A packet of such an attack from each of some senders. */
export function attackPackets(name: string, destination: string): Packet[] {
  return senders(8, (source) => datagram(destination, { source, ...nineAttacks[name] }));
}

export function senders(count: number, one: (source: string, nth: number) => Packet): Packet[] {
  return Array.from({ length: count }, (_, nth) => one(`198.18.77.${nth + 1}`, nth));
}

/** Packets that come in turn, so many a second. */
export interface Stream {
  name: string;
  packets: readonly Packet[];
  perSecond: number;
}

/** What comes at once in so many seconds, in the order in which it does, each with the stream it is of. */
export function together(streams: readonly Stream[], seconds: number): { packet: Packet; of: string }[] {
  return streams
    .flatMap(({ name, packets, perSecond }, stream) =>
      Array.from({ length: perSecond * seconds }, (_, nth) => {
        const at = (nth + stream / streams.length) / perSecond;
        return { at, of: name, packet: packets[nth % packets.length] as Packet };
      }),
    )
    .toSorted((one, other) => one.at - other.at);
}

/** Orders so many machines, and answers the IPv4 address of each once packets to it are counted. */
export async function watchedAddresses(
  product: Pick<TestProduct, 'demo'>,
  person: Client,
  count: number,
  held: () => Promise<readonly { destination: string }[]>,
): Promise<string[]> {
  for (let nth = 0; nth < count; nth += 1) await runningVps(product, person);
  const { body } = await person.get('/shield/v2/ips?limit=100');
  const ips = body.data.ips as { address: string; family: { value: number } }[];
  const all = ips.filter(({ family }) => family.value === 4).map(({ address }) => address);
  await until(held, (there) => all.every((each) => there.some(({ destination }) => destination === each)));
  return all.slice(0, count).map((each) => each.replace('/32', ''));
}
