import { isUtf8 } from 'node:buffer';
import { fail } from '../errors.ts';

const deepest = 32;
const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;

/**
 * Reads a JSON text as `JSON.parse` does, and refuses what it lets through: duplicate keys, more than 32
 * levels, `__proto__` as a key, numbers that lose digits, and text that PostgreSQL cannot store (NUL, half a
 * surrogate pair). Throws the error for the caller: `invalid_json`, `duplicate_key`, `nesting_too_deep`, or
 * `invalid_request` with the field.
 */
export function readJson(bytes: Uint8Array): unknown {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw fail('invalid_json', { message: 'The body begins with a byte-order mark; send UTF-8 without one' });
  }
  if (!isUtf8(bytes)) throw fail('invalid_json', { message: 'The body is not valid UTF-8' });
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const keysWritten = countKeys(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw fail('invalid_json', { message: `The body is not valid JSON: ${positionOf(error)}`, cause: error });
  }
  if (checkValue(value, '') !== keysWritten) throw fail('duplicate_key');
  return value;
}

/** Every colon outside a string belongs to one key. Counts them, and the depth on the way. */
function countKeys(text: string): number {
  let keys = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
    } else if (code === colon) {
      keys += 1;
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > deepest) throw fail('nesting_too_deep');
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    }
  }
  return keys;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    at += code === backslash ? 2 : 1;
  }
  return at;
}

/** Checks what was read and returns how many keys it kept: `JSON.parse` keeps the last of equal ones. */
function checkValue(value: unknown, field: string): number {
  if (typeof value === 'string') {
    checkText(value, field);
    return 0;
  }
  if (typeof value === 'number') {
    checkNumber(value, field);
    return 0;
  }
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) keys += checkValue(value[at], `${field}[${at}]`);
    return keys;
  }
  for (const key of Object.keys(value)) {
    const path = field === '' ? key : `${field}.${key}`;
    checkText(key, path);
    if (key === '__proto__') throw refuse(path, 'is not a name that a field can have');
    keys += 1 + checkValue((value as Record<string, unknown>)[key], path);
  }
  return keys;
}

function checkText(text: string, field: string): void {
  const problem = problemOfText(text);
  if (problem !== null) throw refuse(field, problem);
}

/** What keeps a text from being stored, in words; null when nothing does. */
export function problemOfText(text: string): string | null {
  if (text.includes('\u0000')) return 'must not contain the character NUL';
  if (!text.isWellFormed()) return 'contains half of a surrogate pair';
  return null;
}

function checkNumber(value: number, field: string): void {
  if (Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))) return;
  throw refuse(
    field,
    `is a number too large to be kept exactly; integers go up to ${Number.MAX_SAFE_INTEGER}`,
  );
}

function refuse(field: string, message: string) {
  return fail('invalid_request', {
    details: [{ field: field.toWellFormed().replaceAll('\u0000', '\uFFFD') || 'body', message }],
  });
}

function positionOf(error: unknown): string {
  const position = error instanceof Error ? /at position \d+|end of JSON input/.exec(error.message)?.[0] : '';
  return position ? `unexpected text ${position}`.replace('text end', 'end') : 'it cannot be read';
}
