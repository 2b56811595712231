const mostCharacters = 253;
const mostPerLabel = 63;

interface Labels {
  atLeast: number;
}

/**
 * Whether a text is a host or domain name: letters, digits, hyphens and dots (specification §2.1), no empty
 * label, no label over 63 characters or with a hyphen at its ends, 253 in all (contract §2).
 */
export function isDomain(text: string, labels: Labels): boolean {
  return wrongWithDomain(text, labels) === null;
}

/** The same in words that follow the name of a field; null when it is one. */
export function wrongWithDomain(text: string, labels: Labels): string | null {
  if (!/^[A-Za-z0-9.-]+$/.test(text))
    return 'takes letters, digits, hyphens and dots, such as web1.example.com';
  if (text.length > mostCharacters) return `must have at most ${mostCharacters} characters`;
  const parts = text.split('.');
  if (parts.includes('')) return 'must not begin or end with a dot, nor have two dots in a row';
  if (parts.some((part) => part.startsWith('-') || part.endsWith('-')))
    return 'must not have a hyphen at its beginning, at its end or beside a dot';
  if (parts.some((part) => part.length > mostPerLabel))
    return `must have at most ${mostPerLabel} characters between two dots`;
  if (parts.length < labels.atLeast) return 'must have an ending, such as in web1.example.com';
  return null;
}
