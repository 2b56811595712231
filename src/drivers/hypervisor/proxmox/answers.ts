import { unreachable } from '../incus/failure.ts';

/** A JSON object, or the failure that the cluster does not answer as one. */
export function asRecord(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw notProxmox(`${what} is no object`);
}

export function asList(value: unknown, what: string): Record<string, unknown>[] {
  if (!Array.isArray(value)) throw notProxmox(`${what} are no list`);
  return value.map((each) => asRecord(each, what));
}

export function asText(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw notProxmox(`${what} is no text`);
}

/** Numbers come as numbers, and now and then as text. */
export function asNumber(value: unknown, what: string): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw notProxmox(`${what} is no number`);
}

export function notProxmox(what: string) {
  return unreachable(`what answers is no Proxmox VE, or not in order: ${what}`);
}

export function short(message: string): string {
  const line = message.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}
