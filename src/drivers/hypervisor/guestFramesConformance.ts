import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DriverUnderTest } from './conformance.ts';
import type { Hypervisor, MachineSpec, NicAddress } from './contract.ts';
import { type Frame, framesOf, listenTo, type Place, senderFor } from './guestFrames.testbed.ts';
import { linkLocalAddress } from './qemu/guard.ts';

export interface FramesUnderTest extends DriverUnderTest {
  /** Where a frame arrives that got away from the guest. */
  places: Place[];
  network: number;
}

/** How much one command may be long. */
const mostLetters = 7_000;
const othersMac = '5254007700ee';

/**
 * That a guest, as root of its own machine, speaks from its own addresses and from no other, and plays nobody else's part. Real frames of a
 * real guest that has several addresses of each family, listened to wherever they would arrive.
 */
export function describeGuestFrames(
  name: string,
  make: () => Promise<FramesUnderTest>,
  skip: string | null = null,
): void {
  describe.skipIf(skip !== null)(`${name} holds a hostile guest to what is its own`, () => {
    let driver: FramesUnderTest;
    let hypervisor: Hypervisor;
    let spec: MachineSpec;
    /** Places where each frame was heard, by what it carries. */
    const heard = new Map<string, string[]>();
    let wrong: Record<Attack, Frame[]>;
    let right: Record<Use, Frame[]>;

    beforeAll(async () => {
      driver = await make();
      hypervisor = driver.hypervisor;
      await hypervisor.prepare(() => undefined);
      await hypervisor.ensureImage(driver.image, () => undefined);
      spec = severalAddresses(driver.spec(1), driver.network);
      await hypervisor.createDisk(spec);
      await hypervisor.writeIdentity(spec, driver.identity);
      await hypervisor.start(spec);
      await hypervisor.waitUntilReady(spec, { timeoutMs: driver.readyTimeoutMs });
      wrong = attacks(spec, driver.network);
      right = uses(spec, driver.network);
      const all = [...Object.values(wrong), ...Object.values(right)].flat();
      const listening = await Promise.all(driver.places.map(listenTo));
      await sendAll(all);
      for (const { where, end } of listening) {
        const seen = (await end()).join('\n');
        for (const { body } of all.filter((each) => seen.includes(each.body)))
          heard.set(body, [...(heard.get(body) ?? []), where]);
      }
    }, 900_000);

    afterAll(async () => {
      await hypervisor?.destroy(spec.id);
      await hypervisor?.close();
      driver?.remove();
    }, 60_000);

    /** As a guest of that kind would: by a program of its own on its own card. */
    async function sendAll(frames: Frame[]): Promise<void> {
      const { inGuest } = driver;
      if (inGuest === null) throw new Error('there is no guest');
      await inGuest(spec, await senderFor('/tmp/send'), 'key');
      for (let left = frames; left.length > 0; ) {
        const now: Frame[] = [];
        for (let letters = 0; left[now.length] && letters < mostLetters; ) {
          const next = left[now.length] as Frame;
          letters += next.bytes.length;
          now.push(next);
        }
        left = left.slice(now.length);
        const sent = await inGuest(spec, `/tmp/send ${now.map(({ bytes }) => bytes).join(' ')}`, 'key');
        expect(sent).toBe('sent\n');
      }
    }

    const arrivals = (frames: Frame[]) => frames.map(({ body }) => heard.get(body) ?? []);

    it.each(allUses)('it uses %s', (use) => {
      const everywhere = driver.places.map(({ where }) => where);
      expect(arrivals(right[use])).toEqual(right[use].map(() => everywhere));
    });

    it.each(allAttacks)('it cannot %s', (attack) => {
      expect(arrivals(wrong[attack])).toEqual(wrong[attack].map(() => []));
    });
  });
}

/** Three of IPv4 and three of IPv6. */
function severalAddresses(spec: MachineSpec, network: number): MachineSpec {
  const [first4, first6] = spec.nic.addresses as [NicAddress, NicAddress];
  const more = [121, 122].flatMap((last) => [
    { ...first4, address: `10.77.${network}.${last}` },
    { ...first6, address: `fd77:${network}::${last}` },
  ]);
  return { ...spec, nic: { ...spec.nic, addresses: [first4, first6, ...more] } };
}

const allUses = [
  'each of its IPv4 addresses',
  'each of its IPv6 addresses',
  'ARP for each of its addresses',
  'neighbour discovery for each of its addresses',
] as const;
type Use = (typeof allUses)[number];

function uses({ nic }: MachineSpec, network: number): Record<Use, Frame[]> {
  const frame = framesOf(nic.mac);
  const own = (family: 4 | 6) => nic.addresses.filter((each) => each.family === family);
  const gateway = { v4: `10.77.${network}.1`, v6: `fd77:${network}::1` };
  const ports = { from: 4000, to: 9 };
  return {
    'each of its IPv4 addresses': own(4).map(({ address }) => frame.udp4(address, gateway.v4, ports)),
    'each of its IPv6 addresses': own(6).map(({ address }) => frame.udp6(address, gateway.v6, ports)),
    'ARP for each of its addresses': own(4).flatMap(({ address }) => [
      frame.arp('asks', address),
      frame.arp('answers', address),
    ]),
    'neighbour discovery for each of its addresses': own(6).flatMap(({ address }) => [
      frame.advertises(address, address),
      frame.solicits(gateway.v6, address),
    ]),
  };
}

const allAttacks = [
  'send from another’s IPv4 address',
  'send from another’s IPv6 address',
  'claim another’s address by ARP',
  'claim another’s address by a neighbour advertisement',
  'claim another’s address by a neighbour advertisement behind other headers',
  'claim another’s address by a neighbour solicitation',
  'play a router',
  'play a router behind other headers',
  'play the router that sends on elsewhere',
  'answer as a DHCP server',
  'answer as a DHCPv6 server',
  'send from another’s MAC',
  'send with a VLAN tag',
  'send what is neither ARP nor IP',
] as const;
type Attack = (typeof allAttacks)[number];

function attacks({ nic }: MachineSpec, network: number): Record<Attack, Frame[]> {
  const frame = framesOf(nic.mac);
  const [own4, own6] = nic.addresses.map(({ address }) => address) as [string, string];
  const local = linkLocalAddress(nic.mac);
  const v4 = { gateway: `10.77.${network}.1`, free: `10.77.${network}.199`, far: '198.51.100.7' };
  const v6 = { gateway: `fd77:${network}::1`, free: `fd77:${network}::199`, router: 'fe80::1' };
  const others4 = [v4.gateway, v4.free, v4.far];
  const others6 = [v6.gateway, v6.free, v6.router, '2001:db8::7'];
  const ports = { from: 4000, to: 9 };
  const behind = frame.decoy(own6);
  const tags = { '802.1Q': '81000001', 'priority alone': '81006000', '802.1ad': '88a80001' };
  const twice = `${tags['802.1ad']}${tags['802.1Q']}`;
  return {
    'send from another’s IPv4 address': others4.map((from) => frame.udp4(from, v4.gateway, ports)),
    'send from another’s IPv6 address': others6.map((from) => frame.udp6(from, v6.gateway, ports)),
    'claim another’s address by ARP': [
      ...others4.flatMap((address) => [frame.arp('asks', address), frame.arp('answers', address)]),
      frame.arp('answers', own4, { sender: othersMac }),
      frame.arp('answers', v4.gateway, { to: '0180c2000000' }),
    ],
    'claim another’s address by a neighbour advertisement': others6.flatMap((address) =>
      [address, own6, local].map((from) => frame.advertises(address, from)),
    ),
    'claim another’s address by a neighbour advertisement behind other headers': [v6.gateway, v6.free].map(
      (address) => frame.advertises(address, own6, {}, behind),
    ),
    'claim another’s address by a neighbour solicitation': [
      frame.solicits(v6.free, '::'),
      frame.solicits(v6.free, v6.gateway),
    ],
    'play a router': [local, own6, v6.router].map((from) => frame.routes(from)),
    'play a router behind other headers': [local, own6].map((from) => frame.routes(from, {}, behind)),
    'play the router that sends on elsewhere': [v6.router, v6.gateway].map((from) =>
      frame.redirects('2001:db8::7', from, own6),
    ),
    'answer as a DHCP server': ['255.255.255.255', v4.free].map((to) =>
      frame.udp4(own4, to, { from: 67, to: 68 }),
    ),
    'answer as a DHCPv6 server': [
      ...[local, own6].map((from) => frame.udp6(from, 'ff02::1', { from: 547, to: 546 })),
      frame.udp6(own6, 'ff02::1', { from: 547, to: 546 }, {}, behind),
    ],
    'send from another’s MAC': [
      frame.udp4(own4, v4.gateway, ports, { from: othersMac }),
      frame.udp6(own6, v6.gateway, ports, { from: othersMac }),
      frame.arp('asks', own4, { from: othersMac }),
    ],
    'send with a VLAN tag': [...Object.values(tags), twice].flatMap((each) => [
      frame.udp4(own4, v4.gateway, ports, { tags: each }),
      frame.udp4(v4.free, v4.gateway, ports, { tags: each }),
      frame.arp('answers', v4.gateway, { tags: each }),
      frame.routes(local, { tags: each }),
    ]),
    'send what is neither ARP nor IP': ['8863', '8847', '88cc'].map((type) => frame.other(type)),
  };
}
