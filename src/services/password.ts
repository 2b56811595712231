import { randomBytes } from 'node:crypto';
import { encrypt } from 'unixcrypt';

const shortest = 8;
const classesNeeded = 3;
const printable = /^[^\p{Cc}\p{Cs}]*$/u;
const classes = [/\p{Ll}/u, /\p{Lu}/u, /\p{Nd}/u, /[^\p{Ll}\p{Lu}\p{Nd}]/u];

/**
 * Whether a machine's password is strong enough (specification §2.1): at least 8 characters of 3 of the 4
 * classes lower case, upper case, digit and special. Control characters cannot be typed at a prompt.
 */
export function isStrongPassword(password: string): boolean {
  if ([...password].length < shortest || !printable.test(password)) return false;
  return classes.filter((characters) => characters.test(password)).length >= classesNeeded;
}

/** A password in the form that every system understands: SHA-512 crypt(3). Takes some 25 ms. */
export function hashServerPassword(password: string): string {
  return encrypt(password, `$6$${randomBytes(12).toString('base64').replaceAll('+', '.')}`);
}
