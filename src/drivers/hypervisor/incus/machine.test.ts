import { expect, it } from 'vitest';
import { smallMachine } from '../simulator/testbed.ts';
import { nicOf, profileOf } from './machine.ts';
import type { IncusOptions } from './options.ts';

const options = { bridge: 'br0' } as IncusOptions;

it('holds a machine to its addresses, of which the engine takes one of a family and the others as routes', () => {
  const spec = smallMachine(1);
  const more = (family: 4 | 6, address: string, prefix: number) => ({
    family,
    address,
    prefix,
    gateway: address,
  });
  const addresses = [
    ...spec.nic.addresses,
    more(4, '192.0.2.7', 24),
    more(6, '2001:db8::7', 64),
    more(6, '2001:db8::8', 64),
  ];
  expect(nicOf(options, { ...spec, nic: { ...spec.nic, addresses } })).toMatchObject({
    hwaddr: spec.nic.mac,
    'security.mac_filtering': 'true',
    'security.ipv4_filtering': 'true',
    'ipv4.address': '10.0.0.1',
    'ipv4.routes': '192.0.2.7/32',
    'security.ipv6_filtering': 'true',
    'ipv6.address': '2001:db8::7',
    'ipv6.routes': '2001:db8::8/128',
    'limits.ingress': '100Mbit',
    'limits.egress': '100Mbit',
  });
});

it('lets nothing of a family out of which a machine has no address', () => {
  const { 'ipv6.address': address, 'security.ipv6_filtering': filtering } = nicOf(options, smallMachine(1));
  expect([address, filtering]).toEqual(['none', 'true']);
});

it('has what a machine uses counted by its host, never by what runs in its guest', () => {
  const image = { boot: null } as Parameters<typeof profileOf>[2];
  const notes = { image: 'tiny', isWhole: true, identity: null, seed: null };
  const { config } = profileOf(options, smallMachine(1), image, notes);
  expect(config['security.agent.metrics']).toBe('false');
});
