import { isIP } from 'node:net';
import type { BmcKind } from './contract.ts';
import { BmcError } from './failure.ts';

/** Where a BMC is and how it is signed in to. */
export interface BmcConnection {
  kind: BmcKind;
  /** An IP address. */
  address: string;
  /** Default: 623 of IPMI, 443 of Redfish. */
  port?: number;
  user: string;
  password: string;
  /** SHA-256 of the certificate that it presented when it was enrolled, in hexadecimal; Redfish speaks to nobody who presents another. */
  certificate?: string | null;
  /** The `uuid` by which it identified itself when it was enrolled; nothing is changed where another one answers. */
  uuid?: string | null;
}

export const defaultPorts: Record<BmcKind, number> = { ipmi: 623, redfish: 443, simulated: 623 };
/** What IPMI 1.5 holds; some that know 2.0 still cut what is longer, silently. */
export const longestPassword = 16;
export const shortestPassword = 8;

/** Refuses what could not be meant, in words and before anything is sent. */
export function checkConnection(connection: BmcConnection): void {
  const { kind, address, port = defaultPorts[kind], user, password, certificate = null } = connection;
  must(isIP(address) !== 0, `a BMC is at an IP address, and this is none: ${short(address)}`);
  must(Number.isInteger(port) && port >= 1 && port <= 65_535, `no port: ${port}`);
  checkUser(user);
  must(
    /^[\x21-\x7e]{1,20}$/.test(password),
    'a BMC’s password is 1 to 20 printable characters, and this is not',
  );
  if (kind !== 'redfish') return;
  must(
    certificate !== null && /^[0-9a-f]{64}$/.test(plainFingerprint(certificate)),
    'Redfish takes the SHA-256 of the certificate that the BMC presents',
  );
}

export function checkUser(user: string): void {
  must(/^[\x21-\x7e]{0,16}$/.test(user), 'a BMC’s user has at most 16 printable characters');
}

export function checkNewPassword(password: string): void {
  const length = new RegExp(`^[\\x21-\\x7e]{${shortestPassword},${longestPassword}}$`);
  must(
    length.test(password),
    `a BMC’s password gets ${shortestPassword} to ${longestPassword} printable characters`,
  );
}

export function plainFingerprint(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase();
}

function must(isSo: boolean, message: string): void {
  if (!isSo) throw new BmcError('spec_invalid', message);
}

function short(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
