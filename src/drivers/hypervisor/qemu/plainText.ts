/**
 * Text that a guest or a file of a guest's has a say in, fit for messages, logs and the database: a string of at most
 * so many characters, on one line, without control characters and halves of characters. What is no string is empty.
 */
export function plainText(text: unknown, longest: number): string {
  if (typeof text !== 'string') return '';
  const plain = text
    .slice(0, 4 * longest)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  return plain.length > longest ? plain.slice(0, longest).toWellFormed() : plain;
}

/** A count that a guest or its machine's process gives: a whole number from zero on, or null when it is none. */
export function plainCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
