import { describe, expect, it } from 'vitest';
import type { GuestIdentity, Nic, NicAddress } from '../contract.ts';
import { checkIdentity, identityLimits } from '../spec.ts';
import { rescueSeed, seed, seedBytes } from './seed.ts';

const { hostnameBytes, authorizedKeysBytes, userDataBytes } = identityLimits;

const address = (number: number): NicAddress => ({
  family: 6,
  address: `fd77:1111:2222:3333:4444:5555:6666:${number.toString(16)}`,
  prefix: 64,
  gateway: 'fd77:1111:2222:3333::1',
});
const nic: Nic = {
  mac: '52:54:00:00:00:01',
  portMbps: 100,
  addresses: Array.from({ length: 32 }, (_, number) => address(number)),
};
const former = Array.from({ length: 32 }, (_, number) => address(100 + number));

/** The most of everything: 100 keys, as many as an account holds. */
const largest: GuestIdentity = {
  hostname: 'h'.repeat(hostnameBytes),
  passwordHash: `$6$${'s'.repeat(16)}$${'h'.repeat(86)}`,
  authorizedKeys: Array.from({ length: 100 }, () => 'k'.repeat(Math.floor(authorizedKeysBytes / 100) - 1)),
  nameservers: Array.from({ length: 4 }, (_, number) => address(200 + number).address),
  userData: 'ü'.repeat(userDataBytes / 2),
};

describe('the limits of an identity', () => {
  it.each(['tiny', 'cloud-init'] as const)('let the largest into a seed: %s', (guest) => {
    checkIdentity(largest);
    const known = { ...largest, guest, nic, former };
    expect(seed('vps-1', known, largest)).toHaveLength(seedBytes);
    expect(rescueSeed(known, largest)).toHaveLength(seedBytes);
  });

  it.each<Partial<GuestIdentity>>([
    { hostname: `${largest.hostname}h` },
    { userData: `${largest.userData}u` },
    { authorizedKeys: [...largest.authorizedKeys, 'k'.repeat(100)] },
  ])('refuse what is over them: %#', (over) => {
    expect(() => checkIdentity({ ...largest, ...over })).toThrow(
      expect.objectContaining({ code: 'spec_invalid', permanent: true }),
    );
  });
});
