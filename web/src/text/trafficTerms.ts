import type { Schema } from '../../../client/index.ts';
import { decimal, money } from './formats.ts';
import type { useText } from './index.ts';

type Said = ReturnType<typeof useText>;

/** How traffic is billed beyond what a price includes, in a sentence. */
export function trafficTerms(
  { billing, included, price, currency, direction }: Schema<'TrafficTerms'>,
  t: Said['t'],
  language: Said['language'],
): string {
  const said = { included: decimal(included, language), price: money(price, currency, language) };
  return t(`bandwidth.terms_${billing === 'total' ? 'total' : (direction ?? 'greater')}`, said);
}
