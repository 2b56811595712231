/** What the text of a setting means. Each parser names the setting and says what it takes. */
import { isIP, isIPv4, isIPv6 } from 'node:net';

/** A setting that cannot be understood; the message says which and what it takes. */
export class ConfigError extends Error {}

function refuse(name: string, text: string, takes: string): never {
  throw new ConfigError(`${name} is "${text}"; it takes ${takes}.`);
}

export function whole(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  return refuse(name, text, `a whole number from ${min} to ${max}`);
}

export function choice<T extends string>(name: string, text: string, allowed: readonly T[]): T {
  return allowed.find((value) => value === text) ?? refuse(name, text, `one of ${allowed.join(', ')}`);
}

export function onOff(name: string, text: string): boolean {
  return choice(name, text, ['on', 'off'] as const) === 'on';
}

/** A URL of one of some schemes; the example says how it looks. Its password is never repeated. */
export function url(name: string, text: string, schemes: readonly string[], example: string): string | null {
  if (text === '') return null;
  const parsed = URL.canParse(text) ? new URL(text) : null;
  const isSocket = /^postgres(ql)?:\/\/[^/]*@?\//.test(text); // pg reads a unix socket from an empty host
  if (parsed !== null && schemes.includes(parsed.protocol.slice(0, -1)) && (parsed.host || isSocket))
    return text;
  if (isSocket && schemes.includes('postgres')) return text;
  return refuse(name, text.replace(/\/\/[^@/]*@/, '//…@'), `a URL such as ${example}`);
}

/** Where people reach the product: an origin, since its paths are its own. */
export function origin(name: string, text: string): string {
  const trimmed = text.replace(/\/+$/, '');
  const parsed = URL.canParse(trimmed) ? new URL(trimmed) : null;
  const isOrigin =
    parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.origin === trimmed.toLowerCase();
  return isOrigin ? trimmed : refuse(name, text, 'a URL without a path, such as https://panel.example.com');
}

/** Thirty-two bytes in base64. */
export function secretKey(name: string, text: string): string | null {
  if (text === '') return null;
  if (Buffer.from(text, 'base64').length === 32) return text;
  throw new ConfigError(`${name} takes 32 bytes in base64; make one with: openssl rand -base64 32`);
}

/** A network such as 10.77.0.0/24, of one family. */
export function network(name: string, text: string, family: 4 | 6): string {
  const example = family === 4 ? '10.77.0.0/24' : 'fd77:0:0:77::/64';
  const [address = '', prefix = ''] = text.split('/');
  const isOfFamily = family === 4 ? isIPv4(address) : isIPv6(address);
  if (isOfFamily && isPrefix(prefix, family) && text.split('/').length === 2) return text;
  return refuse(name, text, `an IPv${family} network such as ${example}`);
}

/** The first and the last of some IPv4 addresses, such as 10.78.0.100-10.78.0.199; null where there are none. */
export function range4(name: string, text: string): { from: string; to: string } | null {
  if (text === '') return null;
  const [from = '', to = '', ...more] = text.split('-');
  if (isIPv4(from) && isIPv4(to) && more.length === 0 && numberOf(from) <= numberOf(to)) return { from, to };
  return refuse(name, text, 'the first and the last of some IPv4 addresses, such as 10.78.0.100-10.78.0.199');
}

function numberOf(address: string): number {
  return address.split('.').reduce((value, part) => value * 256 + Number(part), 0);
}

/** Addresses and networks of either family, by commas. */
export function addresses(name: string, text: string): string[] {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  for (const part of parts) {
    const [address = '', prefix, ...more] = part.split('/');
    const family = isIP(address);
    if (family === 0 || more.length > 0 || (prefix !== undefined && !isPrefix(prefix, family))) {
      refuse(name, part, 'addresses and networks by commas, such as 127.0.0.1,10.0.0.0/8');
    }
  }
  return parts;
}

/** Addresses of either family, by commas, at least one. */
export function hosts(name: string, text: string, most: number): string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length <= most && parts.every((part) => isIP(part) > 0 && !part.includes('%'))) return parts;
  return refuse(name, text, `1 to ${most} addresses by commas, such as 192.0.2.53,2001:db8::53`);
}

function isPrefix(text: string, family: number): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) <= (family === 4 ? 32 : 128);
}

/** Text of a certain form. */
export function matching(name: string, text: string, form: RegExp, takes: string): string {
  return form.test(text) ? text : refuse(name, text, takes);
}
