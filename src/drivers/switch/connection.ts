import { isIP } from 'node:net';
import type { SwitchKind } from './contract.ts';
import { SwitchError } from './failure.ts';

/** Where a switch is and how it is signed in to: SNMPv3 with authentication and privacy (AES-128), never less. */
export interface SwitchConnection {
  kind: SwitchKind;
  /** An IP address. */
  address: string;
  /** Default: 161. */
  port?: number;
  user: string;
  authProtocol: AuthProtocol;
  /** Passphrases of 8 to 64 printable characters. */
  authPassphrase: string;
  privacyPassphrase: string;
}

export const authProtocols = ['sha', 'sha256', 'sha512'] as const;

export type AuthProtocol = (typeof authProtocols)[number];

export const usualPort = 161;

/** Refuses what could not be meant, in words and before anything is sent. */
export function checkConnection({ address, port = usualPort, user, ...rest }: SwitchConnection): void {
  must(isIP(address) !== 0, 'a switch is at an IP address, and this is none');
  must(Number.isInteger(port) && port >= 1 && port <= 65_535, `no port: ${port}`);
  must(/^[\x21-\x7e]{1,32}$/.test(user), 'a user has 1 to 32 printable characters');
  for (const passphrase of [rest.authPassphrase, rest.privacyPassphrase])
    must(/^[\x20-\x7e]{8,64}$/.test(passphrase), 'a passphrase has 8 to 64 printable characters');
}

/** A MAC as it is compared: small digits and colons. */
export function plainMac(mac: string): string {
  const plain = mac.toLowerCase().replaceAll('-', ':');
  must(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(plain), 'this is no MAC');
  return plain;
}

export function checkVlan(vlan: number): void {
  must(Number.isInteger(vlan) && vlan >= 1 && vlan <= 4094, 'a VLAN is a number from 1 to 4094');
}

function must(isSo: boolean, message: string): void {
  if (!isSo) throw new SwitchError('spec_invalid', message);
}
