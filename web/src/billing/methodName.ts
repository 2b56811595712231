import type { Schema } from '../../../client/index.ts';

/** A saved card or account in a few words: `Visa •••• 4242`. */
export function methodName({ type, brand, last4 }: Schema<'PaymentMethod'>): string {
  const kind = brand ?? type.replaceAll('_', ' ');
  const capital = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
  return [capital, last4 && `•••• ${last4}`].filter(Boolean).join(' ');
}
