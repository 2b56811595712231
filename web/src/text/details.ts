import type { TFunction } from 'i18next';

/** What the API says of a field, in its own words, and which text of ours says the same. */
const known = [
  [/^is missing$/, 'missing'],
  [/^must not be (?:empty|blank)$|^must be more than blanks$/, 'empty'],
  [/^must have at least (?<bound>\d+) characters$/, 'short'],
  [/^must have at most (?<bound>\d+) characters$/, 'long'],
  [/^must have at least (?<bound>\d+) entries$/, 'few'],
  [/^must have at most (?<bound>\d+) entries$/, 'many'],
  [/^must be at least (?<bound>-?[\d.]+)$/, 'low'],
  [/^must be at most (?<bound>-?[\d.]+)$/, 'high'],
  [/^must be more than (?<bound>-?[\d.]+)$/, 'notAbove'],
  [/^must be less than (?<bound>-?[\d.]+)$/, 'notBelow'],
  [/^must be a multiple of (?<bound>[\d.]+)$/, 'multiple'],
  [/^must be one of (?<bound>.+)$/, 'choice'],
  [/^must not have equal entries$|^is there twice$/, 'twice'],
  [/^must be an e-mail address\b|^must be one address, /, 'email'],
  [/^must be an amount\b.* such as "?(?<bound>[\d.]+)/, 'amount'],
  [/^must be an (?:integer|amount)\b|^must be a number\b/, 'number'],
  [/^must be (?:a day|a date such)\b/, 'day'],
  [/^must lie in the future$/, 'future'],
  [/^must be a moment\b|^must be a date and time\b/, 'moment'],
  [/^must be a telephone number\b/, 'phone'],
  [/^must be a country\b/, 'country'],
  [/^must be a currency\b/, 'currency'],
  [/^must be a colour\b/, 'colour'],
  [/^must be the six digits\b/, 'sixDigits'],
  [/^must be an address such as \d/, 'range'],
  [/^must begin where its network does: (?<bound>\S+)$/, 'rangeBegin'],
  [/^must be an absolute URL$|^must be an address such as/, 'link'],
  [/^must be a language\b/, 'language'],
  [/^must be an IBAN or\b/, 'account'],
  [/^must be an IBAN\b/, 'iban'],
  [/^must be a BIC\b/, 'bic'],
  [/^must be at most 10 capital letters\b/, 'prefix'],
  [/^must be the number of an account\b/, 'ledgerAccount'],
  [/^must be (?:small letters|a department)\b/, 'slug'],
  [/^must be a time of the day\b/, 'time'],
  [/^must be the short code of a ticket\b/, 'ticketCode'],
  [/^must be 2 to 40 letters\b/, 'couponCode'],
  [/^must begin with a letter and\b/, 'fromLetter'],
  [/^must begin with a letter or digit\b/, 'fromSign'],
  [/^must begin with a small letter\b/, 'fromSmall'],
  [/^must be a (?:full )?hostname$|^must have an ending\b/, 'host'],
  [/^takes letters, digits, hyphens and dots\b/, 'hostSigns'],
  [/^must not begin or end with a dot\b/, 'hostDots'],
  [/^must not have a hyphen at its beginning\b/, 'hostHyphens'],
  [/^must have at most (?<bound>\d+) characters between two dots$/, 'hostPart'],
  [/^is the hostname of the machine and must have at most (?<bound>\d+) characters$/, 'long'],
  [/^needs at least 8 characters, of three\b|^is too weak$/, 'strong'],
  [/^must be a URL such as\b/, 'hook'],
  [/^must hold no user and no password\b/, 'hookUser'],
  [/^must be written as it is meant: (?<bound>\S+)$/, 'hookWritten'],
  [
    /^must name a host that the whole internet\b|^must not be (?:localhost|an address of a private)\b/,
    'hookHost',
  ],
  [/^must begin with https:|^must have the port 443\b/, 'hookSecure'],
  [/^must be an IPv4 address$/, 'ipv4'],
  [/^must be an IPv6 address$/, 'ipv6'],
  [/^must be one line\b/, 'line'],
  [/^has a form or characters that are not allowed here$/, 'form'],
  [/^must not hold your name or your address$/, 'passwordOwn'],
  [/^repeats a few characters\b/, 'passwordRepeats'],
  [/^is one that is guessed first\b/, 'passwordKnown'],
] as const;

/** The same in the language of whoever looks; null where we have no words for it, and the API's are shown. */
export function sayDetail(t: TFunction, message: string): string | null {
  for (const [pattern, name] of known) {
    const found = pattern.exec(message);
    if (found !== null) return t(`detail.${name}`, { bound: found.groups?.bound ?? '' });
  }
  return null;
}
