import { describe, expect, it } from 'vitest';
import { runProgram } from '../../../platform/host/program.ts';
import type { Nic } from '../contract.ts';
import { type PublicIdentity, rescueSeed, secretsIn, seed, seedBytes } from './seed.ts';
import { wholeNameBootHook } from './wholeName.ts';

const gateway = '10.0.0.1';
const nic: Nic = {
  mac: '52:54:00:00:00:01',
  portMbps: 100,
  addresses: [{ family: 4, address: '10.0.0.2', prefix: 24, gateway }],
};
const former = [{ family: 4 as const, address: '10.0.0.3', prefix: 24, gateway }];
const rest = { nic, hostname: `a'b"c`, nameservers: [] };
const keys = ['ssh-ed25519 AAAA one ', 'ssh-ed25519 AAAA "two" ü'];

describe('a seed', () => {
  const kinds: PublicIdentity[] = [
    { ...rest, guest: 'tiny' },
    { ...rest, guest: 'cloud-init' },
    { ...rest, guest: 'cloud-init', former },
    { ...rest, guest: 'cloud-init', hostname: `it's.example.com` },
    { ...rest, guest: 'cloud-init', nameservers: ['192.0.2.9'], newNameservers: true },
  ];

  it.each(kinds)('gives back the secrets that are in it: $guest, $former', (known) => {
    const userData = known.guest === 'tiny' ? null : '#!/bin/sh\necho ü\n';
    for (const passwordHash of [null, '$6$salt$hash']) {
      const secrets = { passwordHash, authorizedKeys: keys, userData };
      const content = seed('vps-1', known, secrets);
      expect(content).toHaveLength(seedBytes);
      expect(secretsIn(known.guest, content)).toEqual(secrets);
    }
    const passwordOnly = { passwordHash: '$6$salt$hash', authorizedKeys: [], userData: null };
    expect(secretsIn(known.guest, seed('vps-1', known, passwordOnly))).toEqual(passwordOnly);
    expect(secretsIn('tiny', rescueSeed(known, passwordOnly))).toEqual(passwordOnly);
  });

  it.each(kinds)('without secrets gives none: $guest, $former', (known) => {
    expect(secretsIn(known.guest, seed('vps-1', known, null))).toBeNull();
  });

  it.each(kinds.slice(1))('has cloud-init keep the whole name at every boot: $former', (known) => {
    const secrets = { passwordHash: null, authorizedKeys: keys, userData: null };
    for (const each of [secrets, null]) {
      expect(seed('vps-1', known, each).toString('latin1')).toContain('prefer_fqdn_over_hostname');
    }
  });

  it('gives a guest at its boot the whole of a name that was cut, whatever is in it', async () => {
    const hook = wholeNameBootHook(`it's $(touch owned).example.com`);
    const script = hook.slice(hook.indexOf('set --'), hook.indexOf('\nset -e'));
    const { stdout } = await runProgram(['sh', '-c', `${script}\nprintf %s "$1"`]);
    expect(stdout).toBe(`it's $(touch owned).example.com`);
  });

  it('that somebody else has written ends the reading of it', () => {
    const tar = seed('vps-1', { ...rest, guest: 'tiny' }, null);
    tar.write('-0000001000', 124); // the next file would begin where this one does
    expect(() => secretsIn('tiny', tar)).toThrow('none of ours');
    tar.write('77777777777', 124);
    expect(() => secretsIn('tiny', tar)).toThrow('none of ours');

    const iso = seed('vps-1', { ...rest, guest: 'cloud-init' }, null);
    for (let at = 20 * 2048; at + 34 <= iso.length; at += 34) {
      iso.fill(0, at, at + 34);
      iso[at] = 34;
      iso.writeUInt32LE(iso.length, at + 10); // each of thousands of files is the whole volume
    }
    const began = performance.now();
    expect(() => secretsIn('cloud-init', iso)).toThrow('none of ours');
    expect(performance.now() - began).toBeLessThan(100);
  });
});
