import { fail, formatMoney, parseMoney } from '../platform/index.ts';

/** The amount that somebody asks for, in the minor unit and above zero: `invalid_amount`, with what it should look like. */
export function requireAmount(text: string, currency: string): number {
  const minor = parseMoney(text, currency);
  if (minor !== null && minor !== 0) return minor;
  const message = `must be an amount of ${currency} above zero, such as ${formatMoney(1250, currency)}`;
  throw fail('invalid_amount', { details: [{ field: 'amount', message }] });
}
