import { limits } from '../platform/http/index.ts';

const accountLimits = limits({
  'sign-in': { quota: 20, windowS: 60, per: 'ip' },
  /** Every page on which somebody signs in asks for one, for the browser to offer passkeys; nothing is guessed by it. */
  'passkey-offer': { quota: 60, windowS: 60, per: 'ip' },
  /** Wrong ones: by browser for who signed in there before, else by address and by account. */
  password: { quota: 10, windowS: 900, per: 'ip' },
  /** Wrong codes of an account, or of a browser in which its person signed in before. */
  'second-factor': { quota: 10, windowS: 900, per: 'ip' },
  registration: { quota: 10, windowS: 3_600, per: 'ip' },
  /** Each key that is added is a mail to its person. */
  'new-key': { quota: 240, windowS: 3_600, per: 'person' },
  export: { quota: 10, windowS: 3_600, per: 'person' },
  /** Each is a mail to somebody who may not have asked for it. */
  'mail-link': { quota: 10, windowS: 3_600, per: 'ip' },
});

type AccountLimits = typeof accountLimits;

declare module '../platform/http/limits.ts' {
  interface LimitCatalogue extends AccountLimits {}
}
