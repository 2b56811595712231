import { checkVAT, countries } from 'jsvat';
import { euVatPrefix } from '../tax/union.ts';

const most = 30;

/**
 * A tax id as it is kept: capital letters and digits. Null when it cannot be one: within the European Union a VAT id of
 * that country, in its form and with its check digits; elsewhere up to 30 letters and digits. Whether anybody has it is
 * another question, which the register answers.
 */
export function plainTaxId(text: string, country: string): string | null {
  const plain = text
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[\s./-]/g, '');
  const prefix = euVatPrefix(country);
  if (prefix === null) return /^[A-Z0-9]+$/.test(plain) && plain.length <= most ? plain : null;
  if (!plain.startsWith(prefix)) return null;
  return checkVAT(plain, countries).isValid || isNewBelgian(plain) ? plain : null;
}

/** Belgium gives out numbers that begin with 1 since 2023, which jsvat does not know; the check digits are the old ones. */
function isNewBelgian(taxId: string): boolean {
  const match = /^BE(1\d{7})(\d{2})$/.exec(taxId);
  return match !== null && 97 - (Number(match[1]) % 97) === Number(match[2]);
}
