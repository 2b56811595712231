import { randomBytes } from 'node:crypto';
import { fail, wrongWithDomain } from '../../platform/index.ts';
import { isStrongPassword } from '../../services/index.ts';

const generatedBytes = 15;

/** A strong password: 20 characters of letters and digits, of all the classes that the rule counts. */
export function generatePassword(): string {
  for (;;) {
    const password = randomBytes(generatedBytes).toString('base64').replace(/[+/]/g, '-');
    if (isStrongPassword(password)) return password;
  }
}

/** Refuses a machine password that is not strong enough (specification §2.1). */
export function requireStrong(password: string): void {
  if (isStrongPassword(password)) return;
  throw fail('weak_password', {
    message:
      'The password needs at least 8 characters, of three of these kinds: lower case, upper case, digits, others',
    details: [{ field: 'password', message: 'is too weak' }],
  });
}

/** Refuses a hostname that is none, and says what is wrong with it: `invalid_domain`. */
export function requireHostname(hostname: string): void {
  const message = wrongWithDomain(hostname, { atLeast: 1 });
  if (message !== null) throw fail('invalid_domain', { details: [{ field: 'hostname', message }] });
}
