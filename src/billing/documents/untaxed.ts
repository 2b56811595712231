import type { Paper, Untaxed } from './paper.ts';
import { plain } from './plain.ts';
import { texts } from './texts.ts';

/** Why there is no tax, as the law wants it said, in the language of the document. */
export function whyUntaxed({ language, exemptReason }: Paper, untaxed: Untaxed): string {
  const say = texts[language];
  if (untaxed === 'reverse_charge') return say.reverseCharge;
  if (untaxed === 'outside') return say.noTax;
  const reason = plain(exemptReason ?? '').replace(/\.$/, '');
  return say.exempt(reason === '' ? null : reason);
}
