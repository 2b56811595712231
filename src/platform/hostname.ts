const mostCharacters = 253;
const mostPerLabel = 63;

/**
 * Whether a text is a host or domain name: letters, digits, hyphens and dots (specification §2.1), no empty
 * label, no label over 63 characters or with a hyphen at its ends, 253 in all (contract §2).
 */
export function isDomain(text: string, labels: { atLeast: number }): boolean {
  if (text.length === 0 || text.length > mostCharacters) return false;
  const parts = text.split('.');
  return parts.length >= labels.atLeast && parts.every(isLabel);
}

function isLabel(label: string): boolean {
  return label.length <= mostPerLabel && /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/.test(label);
}
