import { dictionary } from '@zxcvbn-ts/language-common';
import { fail } from '../../platform/index.ts';

export const shortestPassword = 10;
export const longestPassword = 256;

/** Longer ones are looked at so far: nobody guesses by a list what is longer. */
const lookedAt = 100;
const shortestName = 3;

/** Words that are worth nothing in a password because everybody tries them. */
const knownBad = new Set<string>(dictionary['passwords-common'].map(String));

interface About {
  email: string;
  firstName: string;
  lastName: string;
}

/**
 * Refuses a password that others try first: one of the lists of known ones, whatever is written before and after it,
 * one that repeats itself or runs along the keyboard, and what holds the person's name or address. There are no
 * classes of characters. `password_refused`.
 */
export function requireGoodPassword(password: string, about: About): void {
  const reason = whyBad(password.normalize('NFKC').toLowerCase().slice(0, lookedAt), about);
  if (reason === null) return;
  throw fail('password_refused', { details: [{ field: 'password', message: reason }] });
}

function whyBad(password: string, { email, firstName, lastName }: About): string | null {
  const own = [email.split('@')[0] ?? '', firstName, lastName].map((name) =>
    name.normalize('NFKC').toLowerCase(),
  );
  if (own.some((name) => name.length >= shortestName && password.includes(name)))
    return 'must not hold your name or your address';
  if (isRepeated(password))
    return 'repeats a few characters; choose several words that do not belong together';
  const readings = [password, withoutDisguise(password)];
  if (readings.some((reading) => isKnown(reading) || isRun(reading)))
    return 'is one that is guessed first; choose several words that do not belong together';
  return null;
}

/** Also when digits and signs stand before or after it: `password2026!`. */
function isKnown(password: string): boolean {
  const core = password.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  return (
    knownBad.has(password) || (core.length >= 4 && knownBad.has(core) && password.length - core.length < 10)
  );
}

const disguises: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};

function withoutDisguise(password: string): string {
  return [...password].map((character) => disguises[character] ?? character).join('');
}

/** A few characters over and over: `abcabcabc`. */
function isRepeated(password: string): boolean {
  return /^(.{1,8}?)\1+.{0,3}$/su.test(password) || new Set(password).size <= 3;
}

const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop',
  'qwertzuiop',
  'asdfghjkl',
  'zxcvbnm',
  'yxcvbnm',
];
const runs = rows.flatMap((row) => [row, [...row].reverse().join('')]);

/** Made of nothing but runs of four and more: `qwertyuiop1234`. */
function isRun(password: string): boolean {
  let rest = password;
  while (rest !== '') {
    const run = longestRun(rest);
    if (run < 4) return false;
    rest = rest.slice(run);
  }
  return true;
}

function longestRun(text: string): number {
  let length = 0;
  while (length < text.length && runs.some((row) => row.includes(text.slice(0, length + 1)))) length += 1;
  return length;
}
