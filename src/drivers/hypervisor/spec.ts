import ipaddr from 'ipaddr.js';
import { type GuestIdentity, HypervisorError, type MachineSpec } from './contract.ts';

/**
 * How much an identity holds at most. 64 bytes are what Linux keeps of a hostname (`HOST_NAME_MAX`); what goes in lists
 * and text fits into a seed disk together.
 */
export const identityLimits = {
  hostnameBytes: 64,
  /** All keys together, a line each. */
  authorizedKeysBytes: 128 * 1024,
  userDataBytes: 64 * 1024,
} as const;

/**
 * Refuses values that have no meaning, before they become part of a command, a packet rule or a guest's file.
 * The product has checked what a customer may ask; this is the last line.
 */
export function checkSpec(spec: MachineSpec): void {
  checkMachineId(spec.id);
  const { nic } = spec;
  if (!/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(nic.mac)) refuse(`not a MAC address: ${nic.mac}`);
  if (Number.parseInt(nic.mac.slice(0, 2), 16) & 1) refuse(`a group's MAC address: ${nic.mac}`);
  if (nic.addresses.length === 0) refuse('a machine without an address');
  for (const each of nic.addresses) {
    const family = each.family === 4 ? ipaddr.IPv4 : ipaddr.IPv6;
    const fits = each.family === 4 ? ipaddr.IPv4.isValidFourPartDecimal : ipaddr.IPv6.isValid;
    if (!fits.call(family, each.address) || each.address.includes('%'))
      refuse(`not an address: ${each.address}`);
    if (!fits.call(family, each.gateway) || each.gateway.includes('%'))
      refuse(`not a gateway: ${each.gateway}`);
    positive('prefix', each.prefix, each.family === 4 ? 32 : 128);
  }
  positive('portMbps', nic.portMbps, 1_000_000);
  positive('cpuCores', spec.cpuCores, 1024);
  positive('memoryMib', spec.memoryMib, 2 ** 24);
  positive('diskGib', spec.diskGib, 2 ** 20);
}

export function checkMachineId(id: string): void {
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(id)) refuse(`not a machine id: ${JSON.stringify(id)}`);
}

export function checkIdentity(identity: GuestIdentity): void {
  const { hostname, passwordHash, authorizedKeys, nameservers, userData } = identity;
  checkHostname(hostname);
  if (passwordHash !== null) checkPasswordHash(passwordHash);
  checkAuthorizedKeys(authorizedKeys);
  if (!nameservers.every((server) => ipaddr.isValid(server))) refuse('a name server is not an address');
  if (keysBytes(authorizedKeys) > identityLimits.authorizedKeysBytes)
    refuse('the authorized keys are longer than 128 KiB');
  if (userData !== null && Buffer.byteLength(userData) > identityLimits.userDataBytes)
    refuse('the user data is longer than 64 KiB');
}

/** What keys take of {@link identityLimits}. */
export function keysBytes(keys: readonly string[]): number {
  return Buffer.byteLength(keys.map((key) => `${key}\n`).join(''));
}

export function checkHostname(hostname: string): void {
  const bytes = Buffer.byteLength(hostname);
  if (bytes < 1 || bytes > identityLimits.hostnameBytes || hasControlCharacters(hostname))
    refuse('the hostname is not one line of 1 to 64 bytes');
}

export function checkPasswordHash(hash: string): void {
  if (!/^\$[!-9;-~]+$/.test(hash)) refuse('the password hash is not in crypt(5) form');
}

export function checkAuthorizedKeys(keys: readonly string[]): void {
  if (keys.some(hasControlCharacters)) refuse('an authorized key is not one line');
}

/** The name of a snapshot or a backup: it becomes a file's name. */
export function checkCopyName(name: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
    refuse(`not a name to keep a disk under: ${JSON.stringify(name)}`);
}

function hasControlCharacters(text: string): boolean {
  return [...text].some((character) => character < ' ' || character === '\x7f');
}

function positive(name: string, value: number, most: number): void {
  if (!Number.isInteger(value) || value < 1 || value > most)
    refuse(`${name} is not from 1 to ${most}: ${value}`);
}

/** Messages about an identity say what is wanted and never repeat the value: it may be a secret. */
function refuse(message: string): never {
  throw new HypervisorError('spec_invalid', message, { permanent: true });
}
